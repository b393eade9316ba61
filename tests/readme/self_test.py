#!/usr/bin/env python3
"""Shows that the check of the README finds what it must find."""

import pathlib
import tempfile
import unittest

import run


def failures(markdown, example=""):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "examples").mkdir()
        (root / "examples/main.cpp").write_text(example)
        (root / "README.md").write_text(markdown)
        checker = run.Checker(root / "README.md", root)
        checker.check()
        return checker.failures


def block(language, text):
    return f"Text.\n```{language}\n{text}\n```\nMore.\n"


class ReadmeTest(unittest.TestCase):
    def test_commands(self):
        self.assertFalse(failures(block("sh", "true\ntest -d examples  # a comment")))
        self.assertIn("ended with 3", failures(block("sh", "exit 3"))[0])

    def test_output(self):
        self.assertFalse(failures(block("console", "$ echo a; echo b\na\nb\n$ echo c\nc")))
        self.assertFalse(failures(block("console", "$ seq 9\n1\n...\n9")))
        self.assertIn("does not print", failures(block("console", "$ echo ab\na"))[0])
        self.assertIn("does not print", failures(block("console", "$ echo ab"))[0])

    def test_code(self):
        self.assertFalse(failures(block("cpp", "int a;\nint b;"), "{\n  int a;\n  int b;\n}\n"))
        self.assertIn("in no file", failures(block("cpp", "int c;"), "int a;\n")[0])

    def test_languages(self):
        self.assertFalse(failures(block("text", "$ exit 3")))
        self.assertIn("unknown language", failures(block("", "exit 3"))[0])


if __name__ == "__main__":
    unittest.main()
