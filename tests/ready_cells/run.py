#!/usr/bin/env python3
"""Runs `cellfuse verify` on every ready cell of frontend/cells. Usage: run.py CELLFUSE FOLDER

The numbers are those of the same cells in tests/zoo, with their parameters put into the packing of the ready cells; the
cases are written to FOLDER.
"""

import dataclasses
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
IFGO = "ifgo"


@dataclasses.dataclass
class Packed:
    """Parameters of the zoo cell one below the other, or the equal parts of one of them in another order."""

    names: tuple
    order: tuple = (0,)
    zero: bool = False  # A second bias that the zoo cell does not have: 0, with the gradient of the first.

    def of(self, values):
        rows = [row for name in self.names for row in values[name]]
        size = len(rows) // len(self.order)
        return [row for part in self.order for row in rows[part * size:(part + 1) * size]]

    def value(self, params):
        return [0.0 for _ in self.of(params)] if self.zero else self.of(params)


def gates(prefix, letters, **more):
    return Packed(tuple(prefix + letter for letter in letters), **more)


def whole(name, **more):
    return Packed((name,), **more)


def igfo(name):
    """Gates i g f o in the zoo, i f g o in the ready cell."""
    return Packed((name,), order=(0, 2, 1, 3))


# Ready cell: (zoo cell, where each parameter comes from).
CASES = {
    "lstm": ("lstm", {"W_ih": gates("W", IFGO), "W_hh": gates("U", IFGO), "b_ih": gates("b", IFGO),
                      "b_hh": gates("r", IFGO)}),
    "gru": ("gru_cudnn", {"W_ih": gates("W", "rzn"), "W_hh": gates("U", "rzn"), "b_ih": gates("b", "rzn"),
                          "b_hh": gates("c", "rzn")}),
    "gru_reset_before": ("gru_reset_before", {"W_ih": gates("W", "rzn"), "W_hh": gates("U", "rzn"),
                                              "b": gates("b", "rzn")}),
    "rnn_tanh": ("rnn_tanh", {"W_ih": whole("W"), "W_hh": whole("U"), "b_ih": whole("b"),
                              "b_hh": whole("b", zero=True)}),
    "rnn_relu": ("rnn_relu", {"W_ih": whole("W"), "W_hh": whole("U"), "b_ih": whole("b"),
                              "b_hh": whole("b", zero=True)}),
    "lstm_peephole": ("lstm_peephole", {"W_ih": gates("W", IFGO), "W_hh": gates("U", IFGO), "b": gates("b", IFGO),
                                        "p_i": whole("pi"), "p_f": whole("pf"), "p_o": whole("po")}),
    "lstm_projection": ("lstm_proj", {"W_ih": gates("W", IFGO), "W_hh": gates("U", IFGO), "b_ih": gates("b", IFGO),
                                      "b_hh": gates("b", IFGO, zero=True), "W_hr": whole("R")}),
    "layer_norm_lstm": ("lnlstm_haste", {"W_ih": igfo("W"), "W_hh": igfo("U"), "b": igfo("b"), "gain_ih": igfo("g0"),
                                         "gain_hh": igfo("g1"), "gain_c": whole("gh"), "bias_c": whole("bh")}),
    "slstm": ("slstm", {"W_ih": whole("W"), "W_hh": whole("R"), "b": whole("b")}),
    "indrnn": ("indrnn", {"W_ih": whole("W"), "u": whole("u"), "b": whole("b")}),
    "sru": ("sru", {"W_ih": Packed(("W", "Wf", "Wr", "highway")), "v_f": whole("vf"), "v_r": whole("vr"),
                    "b_f": whole("bf"), "b_r": whole("br")}),
    "mingru": ("mingru", {"W_ih": Packed(("Wh", "Wz"))}),
    "lif": ("lif_snntorch", {"W_ih": whole("W"), "beta": whole("beta")}),
}


def sru_highway_gradient(case, variant):
    """Gradient of the highway matrix, which is the identity here and no parameter of the zoo cell: h = r * tanh(c') +
    (1 - r) * highway @ x."""
    params, size = case["params"], case["dims"]["H"]
    gradient = [[0.0] * size for _ in range(size)]
    sigmoid = lambda v: 1 / (1 + math.exp(-v))
    product = lambda matrix, x: [sum(a * b for a, b in zip(row, x)) for row in matrix]
    initial = variant.get("initial", case["initial"])["c"]
    steps = range(case["steps"])
    for sample in range(case["batch"]):
        c = initial[sample]
        for t in reversed(steps) if variant.get("reverse") else steps:
            if t >= variant.get("lengths", [case["steps"]] * case["batch"])[sample]:
                continue
            if "reset" in variant and variant["reset"][t][sample]:
                c = initial[sample]
            x = case["inputs"]["x"][t][sample]
            u, xf, xr = (product(params[name], x) for name in ("W", "Wf", "Wr"))
            f = [sigmoid(xf[k] + params["vf"][k] * c[k] + params["bf"][k]) for k in range(size)]
            r = [sigmoid(xr[k] + params["vr"][k] * c[k] + params["br"][k]) for k in range(size)]
            c = [u[k] + (c[k] - u[k]) * f[k] for k in range(size)]
            for k in range(size):
                incoming = math.cos(0.5 + k + 0.3 * t + 0.9 * sample) * (1 - r[k])
                gradient[k] = [old + incoming * value for old, value in zip(gradient[k], x)]
    return gradient


def packed_case(name):
    zoo_cell, parameters = CASES[name]
    case = json.loads((ROOT / f"tests/zoo/{zoo_cell}.json").read_text())
    runs = [case, *case["variants"].values()]
    if name == "sru":
        gradients = [sru_highway_gradient(case, run) for run in runs]
        for run, gradient in zip(runs, gradients):
            run["grads"]["params"]["highway"] = gradient
        size = case["dims"]["H"]
        case["params"]["highway"] = [[float(i == j) for j in range(size)] for i in range(size)]
    case["cell"] = name
    case["params"] = {new: packed.value(case["params"]) for new, packed in parameters.items()}
    for run in runs:
        run["grads"]["params"] = {new: packed.of(run["grads"]["params"]) for new, packed in parameters.items()}
        if name == "lstm_projection":  # The state r of the zoo cell is h here.
            for values in (run.get("initial"), run["outputs"], run["final"], run["grads"]["initial"]):
                if values:
                    values["h"] = values.pop("r")
    return case


def main():
    cellfuse, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for cell in sorted((ROOT / "frontend/cells").glob("*.cell")):
        if cell.stem not in CASES:
            failed.append(f"{cell.stem}: no numbers to test against")
            continue
        path = folder / f"{cell.stem}.json"
        path.write_text(json.dumps(packed_case(cell.stem)))
        done = subprocess.run([cellfuse, "verify", str(cell), str(path)], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            failed.append(f"{cell.stem}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    print("\n".join(failed) or f"ready cells: {len(CASES)} verified")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
