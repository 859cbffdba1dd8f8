"""What MindSpore obfuscates gives the clear outputs in dist_ms, and what dist_ms does the clear weights there.

    python tests/parity/obfuscated_checkpoints.py --mindspore /path/to/mindspore/venv/bin/python [--fixtures]

MindSpore 2.10 has no network that computes with obfuscated weights, as `load_obf_params_into_net` returns what it is
given. So this file undoes them there. `--fixtures` keeps MindSpore's files for the serial tests.
"""

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FIXTURES = Path(__file__).parents[1] / "serial" / "train" / "obfuscation" / "fixtures"
TARGETS = ["head", "first|last"]
MATRICES = {
    "obf_metadata_config": [
        {"name": "obf_metadata_n", "shape": [4, 1], "type": "random", "save_metadata": True, "metadata_op": "invert"},
        {"name": "obf_metadata_p", "shape": [4], "type": "rearrange", "save_metadata": True},
        {"name": "obf_metadata_q", "shape": [3, 3], "type": "rearrange", "save_metadata": True},
    ],
    "weight_obf_config": [
        {
            "target": "head/first/weight",
            "weight_obf_ops": [
                {"name": "permuate", "input_x": "obf_metadata_p", "input_y": "weight"},
                {"name": "matmul", "input_x": "weight", "input_y": "obf_metadata_q", "transpose_b": True},
                {"name": "mul", "input_x": "weight", "input_y": "obf_metadata_n"},
            ],
        },
    ],
    "network_obf_config": [],
}
WAYS = {"modules": {"target_modules": TARGETS}, "matrices": {"obf_config": MATRICES}}


def network(package):
    """The same small network in either package."""
    nn = importlib.import_module(f"{package.__name__}.nn")

    class Head(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.Dense(3, 4, activation="relu")
            self.last = nn.Dense(4, 2, has_bias=False)

        def construct(self, x):
            return self.last(self.first(x))

    class Network(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 3, 2)
            self.head = Head()

        def construct(self, x):
            return self.head(self.conv(x).max((2, 3)))

    return Network()


def inputs():
    return np.random.default_rng(0).standard_normal((5, 1, 4, 4)).astype(np.float32)


def write(package, folder):
    os.mkdir(f"{folder}/clear")
    net = network(package)
    package.save_checkpoint(net, f"{folder}/clear/net.ckpt")
    np.save(f"{folder}/logits.npy", net(package.Tensor(inputs())).asnumpy())
    for way, options in WAYS.items():
        os.mkdir(f"{folder}/{way}")
        ratios = package.obfuscate_ckpt(net, f"{folder}/clear", saved_path=f"{folder}/{way}", **options)
        np.savez(f"{folder}/{way}.npz", **ratios)


def check(package, folder):
    for way, options in WAYS.items():
        with np.load(f"{folder}/{way}.npz") as ratios:
            ratios = dict(ratios)
        loaded = package.load_checkpoint(f"{folder}/{way}/net_obf.ckpt")
        clear = package.load_checkpoint(f"{folder}/clear/net.ckpt")
        if package.__name__ == "mindspore":
            for name in clear:
                changed = loaded[name].asnumpy()
                if way == "modules" and name.startswith("head."):
                    changed = changed * ratios["obf_metadata"].astype(np.float32)
                elif way == "matrices" and name == "head.first.weight":
                    changed = changed * ratios["obf_metadata_n"].astype(np.float32) @ ratios["obf_metadata_q"]
                    changed = changed[np.argsort(ratios["obf_metadata_p"])]
                np.testing.assert_allclose(changed, clear[name].asnumpy(), rtol=1e-3)  # ratios are float16
            continue
        net = network(package)
        package.load_param_into_net(net, loaded)
        x = package.Tensor(inputs())
        expected = np.load(f"{folder}/logits.npy")
        assert not np.allclose(net(x).asnumpy(), expected, rtol=1e-2)
        net = package.load_obf_params_into_net(net, obf_ratios=ratios, **options)
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5, atol=1e-6)


def run(python, package, action, folder):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]) if package == "dist_ms" else ""}
    subprocess.run([python, __file__, "--side", package, action, folder], cwd=folder, env=environment, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mindspore", help="the Python that has MindSpore 2.10")
    parser.add_argument("--fixtures", action="store_true")
    parser.add_argument("--side", nargs=3, metavar=("PACKAGE", "ACTION", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        package, action, folder = arguments.side
        {"write": write, "check": check}[action](importlib.import_module(package), folder)
        return
    if not arguments.mindspore:
        parser.error("--mindspore is needed")
    sides = [(arguments.mindspore, "mindspore"), (sys.executable, "dist_ms")]
    for writer, reader in (sides, sides[::-1]):
        with tempfile.TemporaryDirectory() as folder:
            run(*writer, "write", folder)
            run(*reader, "check", folder)
            if arguments.fixtures and writer[1] == "mindspore":
                shutil.rmtree(FIXTURES, ignore_errors=True)
                shutil.copytree(folder, FIXTURES)
    print("MindSpore and dist_ms undo each other's obfuscation.")


if __name__ == "__main__":
    main()
