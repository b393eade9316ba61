#!/usr/bin/env python3
"""Checks that what README.md shows is true. Usage: run.py README FOLDER_OF_COMMANDS

By the language of a fenced block:
  sh       each command must succeed; run from the folder of the README with FOLDER_OF_COMMANDS on the PATH
  console  the same, and the text below `$ command` must be its output; `...` stands for any text
  cpp, cell  must be part of a file in examples/
  text     nothing is checked
Commands that other tests or people run (TOO_LONG) are left out.
"""

import os
import pathlib
import re
import subprocess
import sys
import textwrap

TOO_LONG = ("bash examples/demo.sh", "bash tests/run.sh", "bash tests/bench/run_cpu.sh")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(block):
    """Pairs of a command and the output shown below it, of a console block."""
    pairs = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        elif not pairs:
            raise ValueError("a console block begins with `$ command`")
        else:
            pairs[-1][1].append(line)
    return [(command, "\n".join(shown)) for command, shown in pairs]


def matches(shown, output):
    """True when `output` is `shown`, but for what `...` stands for and blanks at the ends of lines."""
    strip = lambda text: "\n".join(line.rstrip() for line in text.strip().splitlines())
    pattern = ".*".join(re.escape(part) for part in strip(shown).split("..."))
    return re.fullmatch(pattern, strip(output), re.DOTALL) is not None


def squeeze(text):
    return "\n".join(line.strip() for line in textwrap.dedent(text).strip().splitlines())


class Checker:
    def __init__(self, readme, folder):
        self.readme, self.root = readme, readme.parent
        self.environment = dict(os.environ, PATH=f"{folder.resolve()}{os.pathsep}{os.environ['PATH']}")
        self.failures, self.checked = [], 0

    def fail(self, what, detail):
        self.failures.append(f"{self.readme.name}: {what}\n{textwrap.indent(detail, '    ')}")

    def run(self, command, shown=None):
        if command in TOO_LONG:
            return
        self.checked += 1
        done = subprocess.run(["bash", "-c", command], cwd=self.root, env=self.environment, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            self.fail(f"`{command}` ended with {done.returncode}", done.stdout)
        elif shown is not None and not matches(shown, done.stdout):
            self.fail(f"`{command}` does not print what is shown, but", done.stdout)

    def find(self, block):
        self.checked += 1
        files = (path for path in (self.root / "examples").rglob("*") if path.suffix in (".cpp", ".h", ".cell"))
        if not any(squeeze(block) in squeeze(path.read_text()) for path in files):
            self.fail("in no file of examples/:", block)

    def check(self):
        for language, block in FENCE.findall(self.readme.read_text()):
            if language == "console":
                for command, shown in commands(block):
                    self.run(command, shown)
            elif language == "sh":
                for line in block.replace("\\\n", " ").splitlines():
                    self.run(line.split(" #")[0].strip())
            elif language in ("cpp", "cell"):
                self.find(block)
            elif language != "text":
                self.fail(f"a block in an unknown language: '{language}'", block)


def main():
    checker = Checker(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
    checker.check()
    if not checker.checked:
        checker.fail("nothing to check", "no fenced block that is checked")
    print("\n".join(checker.failures) or f"{checker.readme.name}: {checker.checked} blocks and commands hold")
    sys.exit(1 if checker.failures else 0)


if __name__ == "__main__":
    main()
