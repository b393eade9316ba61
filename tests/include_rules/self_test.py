#!/usr/bin/env python3
"""Proves that check.py accepts what is allowed and refuses each kind of offence."""

import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).resolve().parent / "check.py"

ALLOWED = {
    "ir/a.cpp": '#include "ir/a.h"\n#include <vector>\n#include <fmt/format.h>\n// getenv("HOME")\n',
    "passes/a.cpp": '#include "ir/a.h"\n',
    "frontend/builder/a.cpp": '#include "frontend/language/a.h"\n',
    "frontend/cli/a.cpp": '#include "runtime/cpu/a.h"\n#include <CLI/CLI.hpp>\n',
    "codegen/cpu/a.cpp": "#include <llvm/IR/Module.h>\n",
    "runtime/cpu/a.cpp": '#include "codegen/cpu/a.h"\n#include <llvm/IR/Module.h>\n#include <cblas.h>\n',
    "runtime/cuda/a.cpp": "#include <cuda_runtime.h>\n#include <nvrtc.h>\n",
    "runtime/options.cpp": 'auto* home = getenv("HOME");\n',
    "tests/unit/a.cpp": "#include <doctest/doctest.h>\n",
}
FORBIDDEN = {
    "ir/a.cpp": '#include "passes/a.h"\n',
    "ir/b.cpp": "#include <llvm/IR/Module.h>\n",
    "ir/c.cpp": "#include <unistd.h>\n",
    "ir/d.h": "  #  include <unheard/of.h>\n",
    "ir/e.cpp": '#include "e.h"\n',
    "passes/a.cpp": '#include "runtime/compile.h"\n',
    "frontend/language/a.cpp": '#include "frontend/builder/a.h"\n',
    "frontend/cells/a.cpp": '#include "ir/a.h"\n',
    "codegen/cuda/a.cpp": "#include <cuda_runtime.h>\n",
    "codegen/cpu/a.cpp": '#include "codegen/cuda/a.h"\n',
    "runtime/a.cpp": '#include "frontend/language/a.h"\n',
    "runtime/b.cpp": "#include <llvm/IR/Module.h>\n",
    "runtime/c.cpp": 'auto* home = std::getenv("HOME");\n',
    "runtime/cpu/a.cpp": "#include <cuda.h>\n",
    "examples/x/a.cpp": '#include "passes/a.h"\n',
}


def problems_in(files):
    """The exit code, and the names of the files that check.py complains about."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True)
    return done.returncode, {line.split(":")[0] for line in done.stdout.splitlines()[:-1]}


def main():
    code, wrongly = problems_in(ALLOWED)
    refused, found = problems_in(FORBIDDEN)
    missed = set(FORBIDDEN) - found
    if code or wrongly:
        print("refused, but allowed:", *sorted(wrongly))
    if not refused or missed:
        print("accepted, but forbidden:", *sorted(missed))
    if problems_in({})[0] == 0:
        print("accepted a folder without files")
        sys.exit(1)
    if code or wrongly or not refused or missed:
        sys.exit(1)
    print(f"include rules self-test: {len(ALLOWED)} allowed, {len(FORBIDDEN)} refused")


if __name__ == "__main__":
    main()
