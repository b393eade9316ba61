#!/usr/bin/env python3
"""Tests the example char_lm on a small text. Usage: char_lm.py CHAR_LM FOLDER"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM, FOLDER = None, None


def char_lm(*arguments, status=0):
    """Output of a run on 30 KB of text with a small cell."""
    command = [PROGRAM, "--text", FOLDER / "text.txt", "-D", "H=24", "-D", "I=12", "--steps", "20", "--batch", "8",
               *arguments]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    if done.returncode != status:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def last_losses(output):
    """Validation loss and the bigram model's, of the last line that has them."""
    return [float(number) for number in re.findall(r"validation ([\d.]+).*bigram model ([\d.]+)", output)[-1]]


class CharLmTest(unittest.TestCase):
    def test_learns(self):
        output = char_lm("-D", "H=96", "--epochs", 12, "--rate", 0.01, "--sample", 50)
        loss, bigram = last_losses(output)
        self.assertLess(loss, bigram - 0.2, output)
        self.assertTrue(output.rstrip("\n").split("\n\n", 1)[1].startswith("And "), output)

    def test_resumes_exactly(self):
        results = []
        for name, pieces in (("whole", (150,)), ("pieces", (7, 90, 150))):
            checkpoint = FOLDER / name
            for index, updates in enumerate(pieces):
                more = ["--resume"] if index else []
                output = char_lm("--checkpoint", checkpoint, "--updates", updates, *more)
            results.append((checkpoint.read_bytes(), output.split("\n\n", 1)[1]))
        self.assertEqual(*results)

    def test_refuses_a_checkpoint_of_another_training(self):
        checkpoint = FOLDER / "refused"
        char_lm("--checkpoint", checkpoint, "--updates", 2)
        output = char_lm("--checkpoint", checkpoint, "--updates", 4, "--resume", "--rate", 0.1, status=1)
        self.assertRegex(output, "other settings(.|\n)*then: learning rate 0.004(.|\n)*now:  learning rate 0.1")
        checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
        output = char_lm("--checkpoint", checkpoint, "--updates", 4, "--resume", status=1)
        self.assertIn("cut off", output)

    def test_every_dtype(self):
        for dtype in ("float32", "float64", "bfloat16", "float16"):
            with self.subTest(dtype):
                output = char_lm("--dtype", dtype, "--updates", 150)
                self.assertLess(last_losses(output)[0], 4.2, output)

    def test_ready_cells(self):
        for cell in ("gru", "layer_norm_lstm", "sru", "slstm", "mingru"):
            with self.subTest(cell):
                output = char_lm("--cell", cell, "--updates", 150, "--memory", "small")
                self.assertLess(last_losses(output)[0], 4.2, output)

    def test_mistakes(self):
        broken = FOLDER / "broken.cell"
        broken.write_text("cell broken(I, H) {\n  input x[I]\n  output y = tanhh(x)\n}\n")
        self.assertIn("did you mean", char_lm("--cell", broken, status=1))
        self.assertIn("needs one input", char_lm("--cell", FOLDER / "two.cell", status=1))
        self.assertIn("NAME=VALUE", char_lm("-D", "H", status=1))
        self.assertIn("no '~' in the text", char_lm("--updates", 1, "--prompt", "~", status=1))


def main():
    global PROGRAM, FOLDER
    PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = (ROOT / "examples/data/king_james.txt").read_bytes()
    (FOLDER / "text.txt").write_bytes(text[:30_000])
    (FOLDER / "two.cell").write_text("cell two(I, H) {\n  input x[I], z[I]\n  output y = x + z\n}\n")
    unittest.main(argv=[sys.argv[0]])


if __name__ == "__main__":
    main()
