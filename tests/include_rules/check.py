#!/usr/bin/env python3
"""Checks which room includes what. Usage: check.py ROOT

Every #include of every C++ and CUDA file in the rooms must be allowed by the tables below; a header that no table
knows is an error too. The environment is read in runtime/options.* only.
"""

import pathlib
import re
import sys

EVERYTHING = ("ir", "frontend", "passes", "codegen", "runtime")

# Room (the longest prefix of a file's path counts): the folders of the project it may include besides its own.
ROOMS = {
    "ir": (),
    "frontend": EVERYTHING,
    "frontend/language": ("ir",),
    "frontend/builder": ("ir", "frontend/language"),
    "frontend/cells": (),
    "frontend/cli": EVERYTHING,
    "frontend/python": EVERYTHING,
    "passes": ("ir",),
    "codegen": ("ir",),
    "codegen/common": ("ir",),
    "codegen/cpu": ("ir", "codegen/common"),
    "codegen/cuda": ("ir", "codegen/common"),
    "runtime": ("ir", "passes", "codegen"),
    "runtime/cpu": ("ir", "passes", "codegen", "runtime"),
    "runtime/cuda": ("ir", "passes", "codegen", "runtime"),
    "tests": EVERYTHING,
    "examples": ("ir", "frontend", "runtime"),
}

# Header outside the project (a regular expression for the whole name): the rooms that may include it.
SYSTEM_ROOMS = ("runtime", "frontend/cli", "frontend/python", "tests", "examples")
EXTERNAL = (
    (r"[a-z_]+", ("",)),  # the C++ standard library
    (r"fmt/.+", ("",)),
    (r"(unistd|fcntl|dlfcn|pthread|sched|poll|termios|signal|ucontext)\.h|sys/\w+\.h|linux/\w+\.h|cpuid\.h|(imm|x86)intrin\.h",
     SYSTEM_ROOMS),
    (r"(llvm|llvm-c)/.+", ("codegen/cpu", "runtime/cpu", "tests")),
    (r"cblas\.h|openblas_config\.h", ("runtime/cpu", "tests")),
    (r"(cuda|nvrtc|nvJitLink|cublas|cublasLt|nvml|nvtx3)[\w/]*\.(h|hpp)", ("runtime/cuda",)),
    (r"cellfuse/cellfuse\.h", ("tests", "examples")),
    (r"CLI/.+", ("frontend/cli", "tests", "examples")),
    (r"nlohmann/.+", ("frontend/cli", "tests", "examples")),
    (r"doctest/.+", ("tests",)),
    (r"nanobind/.+|Python\.h", ("frontend/python",)),
)

# Names that only some files may use: pattern, path prefixes, what to do instead.
NAMES = (
    (r"\b(secure_)?getenv\b|\bsetenv\b|\benviron\b", ("runtime/options.", "tests/"),
     "reads the environment: only runtime/options.* may"),
)

SUFFIXES = {".h", ".cpp", ".cuh", ".cu", ".hpp", ".inc", ".def"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT_OR_STRING = re.compile(r'//.*|"(\\.|[^"\\])*"')


def within(path, prefix):
    return prefix == "" or path == prefix or path.startswith(prefix + "/")


def room_of(path):
    rooms = [room for room in ROOMS if within(path, room)]
    return max(rooms, key=len) if rooms else None


def check_include(room, quote, header):
    """What is wrong with this include, or None."""
    if quote == '"':
        target = room_of(header)
        if target is None:
            return f'"{header}" is not a path from the root of the repository'
        if any(within(header, allowed) for allowed in (room, *ROOMS[room])):
            return None
        return f'{room} may not include "{header}"'
    for pattern, rooms in EXTERNAL:
        if re.fullmatch(pattern, header):
            if any(within(room, allowed) for allowed in rooms):
                return None
            return f"{room} may not include <{header}>"
    return f"<{header}> is in no table of tests/include_rules/check.py"


def check_file(root, path):
    name = path.relative_to(root).as_posix()
    room = room_of(name)
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if match := INCLUDE.match(line):
            if problem := check_include(room, *match.groups()):
                yield f"{name}:{number}: {problem}"
            continue
        code = COMMENT_OR_STRING.sub("", line)
        for pattern, prefixes, problem in NAMES:
            if re.search(pattern, code) and not name.startswith(prefixes):
                yield f"{name}:{number}: {problem}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    tops = sorted({room.split("/")[0] for room in ROOMS})
    files = [path for top in tops for path in sorted((root / top).rglob("*")) if path.suffix in SUFFIXES]
    problems = [problem for path in files for problem in check_file(root, path)]
    print("\n".join([*problems, f"include rules: {len(files)} files, {len(problems)} problems"]))
    sys.exit(1 if problems or not files else 0)


if __name__ == "__main__":
    main()
