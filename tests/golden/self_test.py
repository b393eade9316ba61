#!/usr/bin/env python3
"""Proves that run.py notices each kind of failure, with a stand-in for the command."""

import pathlib
import subprocess
import sys
import tempfile
import textwrap

RUNNER = pathlib.Path(__file__).resolve().parent / "run.py"
STAND_IN = """\
#!/usr/bin/env python3
import os, sys, time
if "hang" in sys.argv: time.sleep(60)
if "crash" in sys.argv: os.abort()
print("arguments:", *sys.argv[1:])
print("to stderr", file=sys.stderr)
sys.exit(3)
"""


def main():
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        command = folder / "stand_in.py"
        command.write_text(STAND_IN)
        command.chmod(0o755)
        cases = folder / "cases"
        cases.mkdir()

        def run(*arguments):
            return subprocess.run([sys.executable, RUNNER, "--cellfuse", command, "--cases", cases, "--limit", "2",
                                   *arguments], capture_output=True, text=True)

        def expect(what, code, text, *arguments):
            done = run(*arguments)
            if (done.returncode != 0) != code or text not in done.stdout + done.stderr:
                failed.append(f"{what}: exit {done.returncode}\n{done.stdout}{done.stderr}")

        case = cases / "one.cell"
        expected = case.with_suffix(".expected")
        expect("no case", True, "no case found")
        case.write_text("# RUN: show --flag\n")
        expect("missing expected file", True, "one.expected is missing")
        expect("update", False, "updated one.expected", "--update")
        want = "arguments: show --flag one.cell\nto stderr\nexit 3\n"
        if sorted(expected.read_text().splitlines()) != sorted(want.splitlines()):
            failed.append(f"content of the expected file:\n{expected.read_text()}")
        expect("pass", False, "1 cases, 0 failed")
        expected.write_text(expected.read_text().replace("exit 3", "exit 0"))
        expect("another exit code", True, "+exit 3")
        case.write_text("# RUN: first %s\n# RUN: second %none\n")
        expect("several lines", True, "--- second %none")
        case.write_text("cell c(H) {}\n# RUN: show\n")
        expect("no RUN line at the top", True, "no '# RUN:' line")
        case.write_text("# RUN: hang\n")
        expect("hang", True, "timeout after 2 s", "--update")
        case.write_text("# RUN: crash\n")
        expect("crash", True, "signal 6", "--update")
        case.write_text("# RUN: show\n")
        (cases / "left_over.expected").write_text("")
        expect("expected file without a case", True, "there is no case of this name")
    print(textwrap.indent("\n".join(failed), "  ") or "golden self-test: all failures are noticed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
