#!/usr/bin/env python3
"""Times training steps (forward and backward, all gradients, float32) of PyTorch on the CPU and of `cellfuse bench`.

The two take turns, and a ratio is that of two neighbouring measurements; the median of the ratios is printed with the
smallest and the largest one. Needs PyTorch, for instance Debian's python3-torch.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

SHAPES = ((256, 32, 64), (64, 1, 512))  # hidden size (and input size), batch, steps


def lstm(torch, hidden, batch, steps):
    """One training step of PyTorch's own LSTM."""
    layer = torch.nn.LSTM(hidden, hidden)
    x = torch.randn(steps, batch, hidden, requires_grad=True)
    h, c = (torch.randn(1, batch, hidden, requires_grad=True) for _ in "hc")
    incoming = torch.randn(steps, batch, hidden)
    wanted = [x, h, c, *layer.parameters()]
    return lambda: torch.autograd.grad(layer(x, (h, c))[0], wanted, incoming)


def layer_norm_lstm(torch, hidden, batch, steps):
    """One training step of the cell written as a loop over steps."""
    from torch.nn.functional import layer_norm

    def parameter(*shape):
        return torch.empty(shape).uniform_(-hidden**-0.5, hidden**-0.5).requires_grad_()

    w_ih, w_hh, b = parameter(4 * hidden, hidden), parameter(4 * hidden, hidden), parameter(4 * hidden)
    gain_ih, gain_hh, gain_c, bias_c = (parameter(size * hidden) for size in (4, 4, 1, 1))
    x = torch.randn(steps, batch, hidden, requires_grad=True)
    h0, c0 = (torch.randn(batch, hidden, requires_grad=True) for _ in "hc")
    incoming = torch.randn(steps, batch, hidden)
    wanted = [x, h0, c0, w_ih, w_hh, b, gain_ih, gain_hh, gain_c, bias_c]

    def train():
        h, c, outputs = h0, c0, []
        for step in x:
            gates = (layer_norm(step @ w_ih.T, (4 * hidden,), gain_ih)
                     + layer_norm(h @ w_hh.T, (4 * hidden,), gain_hh) + b)
            i, f, g, o = gates.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(layer_norm(c, (hidden,), gain_c, bias_c))
            outputs.append(h)
        return torch.autograd.grad(torch.stack(outputs), wanted, incoming)

    return train


CELLS = (("lstm", lstm, "nn.LSTM"), ("layer_norm_lstm", layer_norm_lstm, "loop over steps"))


def torch_ms(train, seconds):
    """Median time of a call, from at least 5 and about `seconds` of them."""
    train()
    times = []
    while len(times) < 5 or sum(times) < seconds:
        start = time.perf_counter()
        train()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def cellfuse_ms(command, cell, shape, threads):
    hidden, batch, steps = shape
    arguments = [command, "bench", cell, "-D", f"H={hidden}", "-D", f"I={hidden}", "--batch", str(batch),
                 "--steps", str(steps), "--train", "--threads", str(threads), "--json"]
    return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)["runs"][0]["median_s"] * 1e3


def measure(options, torch, cell, make, shape):
    train = make(torch, *shape)
    pairs = []
    for _ in range(options.rounds):
        pairs.append((torch_ms(train, options.seconds), cellfuse_ms(options.cellfuse, cell, shape, options.threads)))
    ratios = [theirs / ours for theirs, ours in pairs]
    theirs, ours = (statistics.median(times) for times in zip(*pairs))
    return theirs, ours, statistics.median(ratios), min(ratios), max(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cellfuse", default="build/bin/cellfuse")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2, help="of PyTorch in a round")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("torch_cpu.py: no PyTorch for this Python (Debian: apt-get install python3-torch, /usr/bin/python3)")
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)

    print(f"PyTorch {torch.__version__}, {options.threads} threads, float32, training, {options.rounds} rounds\n")
    print("| cell | H, batch, steps | PyTorch | ms | cellfuse ms | ratio (smallest, largest) |")
    print("|---|---|---|---|---|---|")
    for cell, make, kind in CELLS:
        for shape in SHAPES:
            theirs, ours, ratio, low, high = measure(options, torch, cell, make, shape)
            print(f"| {cell} | {', '.join(map(str, shape))} | {kind} | {theirs:.2f} | {ours:.2f} | "
                  f"{ratio:.2f} ({low:.2f}, {high:.2f}) |", flush=True)


if __name__ == "__main__":
    main()
