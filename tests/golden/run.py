#!/usr/bin/env python3
"""Golden tests of the command `cellfuse`.

A case is a `.cell` file below this folder whose leading comment lines say what to run:

    # RUN: show --stage sequence -D H=4 -D I=3

`%s` stands for the file, `%S` for its folder, `%zoo` for tests/zoo, `%cells` for frontend/cells; a line without any of
them, and without `%none`, gets the file appended. NAME.expected next to NAME.cell holds stdout and stderr as they
came, paths cut to their base names, and the exit code; with several RUN lines each part starts with a line that names
it. A missing expected file is a failure; --update writes what came.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUN = re.compile(r"#\s*RUN:\s*(.*\S)\s*$")
PATH = re.compile(r"(?<![\w.])(?:\.{0,2}/)(?:[\w.+-]+/)*([\w.+-]+\.[A-Za-z]\w*)")


def run_lines(text):
    """The RUN lines among the comments at the top of a case."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if match := RUN.match(line):
            lines.append(match.group(1))
    return lines


def arguments(line, path):
    substitutions = {"%zoo": ROOT / "tests/zoo", "%cells": ROOT / "frontend/cells", "%none": "",
                     "%S": path.parent, "%s": path}
    if not any(key in line for key in substitutions):
        line += " %s"
    for key, value in substitutions.items():
        line = line.replace(key, str(value))
    return shlex.split(line)


def run_one(command, limit):
    """Output with normalised paths, and the exit code: a number, a signal or a timeout."""
    environment = dict(os.environ, LC_ALL="C", TERM="dumb", NO_COLOR="1", COLUMNS="120")
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=limit, env=environment)
        output, code = done.stdout, str(done.returncode)
        if done.returncode < 0:
            code = f"signal {-done.returncode}"
    except subprocess.TimeoutExpired as expired:
        output, code = expired.stdout or b"", f"timeout after {limit:g} s"
    text = PATH.sub(r"\1", output.decode("utf-8", "replace"))
    if text and not text.endswith("\n"):
        text += "\n"
    return text, code


def run_case(cellfuse, path, limit):
    """What the expected file should hold, and why the case must fail whatever it holds (or None)."""
    lines = run_lines(path.read_text(encoding="utf-8", errors="replace"))
    parts, broken = [], None
    if not lines:
        return "", "no '# RUN:' line at its top"
    for line in lines:
        text, code = run_one([cellfuse, *arguments(line, path)], limit)
        if not code.isdigit():
            broken = f"{code}: cellfuse {line}"
        header = f"--- {line}\n" if len(lines) > 1 else ""
        parts.append(f"{header}{text}exit {code}\n")
    return "".join(parts), broken


def check(cellfuse, path, limit, update):
    """None when the case passes, otherwise the report of its failure."""
    got, broken = run_case(cellfuse, path, limit)
    expected = path.with_suffix(".expected")
    if broken:
        return f"{broken}\n{got}"
    if update:
        if not expected.exists() or expected.read_text(encoding="utf-8") != got:
            expected.write_text(got, encoding="utf-8")
            print(f"updated {expected.name}")
        return None
    if not expected.exists():
        return f"{expected.name} is missing (--update writes it); the command printed:\n{got}"
    want = expected.read_text(encoding="utf-8")
    if want == got:
        return None
    return "".join(difflib.unified_diff(want.splitlines(True), got.splitlines(True), f"{expected.name}", "got"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="*", help="run only cases whose path contains one of these")
    parser.add_argument("--cellfuse", default=ROOT / "build/bin/cellfuse", type=pathlib.Path)
    parser.add_argument("--cases", default=HERE, type=pathlib.Path, help="folder with the cases")
    parser.add_argument("--limit", default=5.0, type=float, help="seconds for one command")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int)
    parser.add_argument("--update", action="store_true", help="accept what the command prints")
    options = parser.parse_args()

    cases = sorted(options.cases.rglob("*.cell"))
    orphans = [path for path in sorted(options.cases.rglob("*.expected")) if not path.with_suffix(".cell").exists()]
    if options.filter:
        cases = [path for path in cases if any(word in str(path) for word in options.filter)]
        orphans = []
    if not cases:
        sys.exit("golden: no case found")

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        reports = list(pool.map(lambda path: check(options.cellfuse, path, options.limit, options.update), cases))
    failures = [(path, report) for path, report in zip(cases, reports) if report]
    failures += [(path, "there is no case of this name") for path in orphans]
    for path, report in failures:
        print(f"FAILED {path.relative_to(options.cases)}\n{report}")
    print(f"golden: {len(cases)} cases, {len(failures)} failed, {time.monotonic() - start:.1f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
