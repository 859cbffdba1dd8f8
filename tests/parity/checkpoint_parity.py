"""Checkpoints in both directions between MindSpore 2.10 and dist_ms. Run by hand:

    python tests/parity/checkpoint_parity.py --mindspore /path/to/mindspore/venv/bin/python
    ... --large       also a file above 2 GiB (10 GB of memory and disk)
    ... --fixtures    let MindSpore write tests/serial/train/checkpoint/fixtures anew

The Python that runs this has dist_ms; the other one MindSpore. Each side is this file again,
with the same code, as both have the same API: `write` trains a LeNet for some steps and saves it
and other things in every way; `check` loads what the other side wrote and compares values,
and the logits of the loaded LeNet to 1e-5.
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

FIXTURES = Path(__file__).parents[1] / "serial" / "train" / "checkpoint" / "fixtures"
TYPES = [
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]
KEY = b"0123456789abcdef"
NARROW = {"channels": (2, 4), "widths": (8, 8), "size": 16}  # the fixture's LeNet
MODES = ("AES-GCM", "AES-CBC", "SM4-CBC")
EXTRA = {
    "epoch": 7,
    "ratio": 0.5,
    "done": True,
    "note": "text: \u00e9\u4e2d\U0001f600",
    "empty": "",
}


def lenet(ms, channels=(6, 16), widths=(120, 84), size=32):
    """A LeNet; the fixture's is narrower."""
    nn = importlib.import_module(f"{ms.__name__}.nn")

    class LeNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, channels[0], 5, pad_mode="valid")
            self.bn1 = nn.BatchNorm2d(channels[0])
            self.conv2 = nn.Conv2d(channels[0], channels[1], 5, pad_mode="valid")
            side = ((size - 4) // 2 - 4) // 2
            self.fc1 = nn.Dense(channels[1] * side * side, widths[0])
            self.fc2 = nn.Dense(widths[0], widths[1])
            self.fc3 = nn.Dense(widths[1], 10)
            self.relu, self.flatten = nn.ReLU(), nn.Flatten()
            self.pool = nn.MaxPool2d(2, 2)

        def construct(self, x):
            x = self.pool(self.relu(self.bn1(self.conv1(x))))
            x = self.flatten(self.pool(self.relu(self.conv2(x))))
            return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))

    return LeNet()


def train(ms, net, size, steps=5):
    """Train with Momentum and return the optimizer."""
    nn = importlib.import_module(f"{ms.__name__}.nn")
    ms.set_seed(1)
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    data = np.random.default_rng(0)
    for _ in range(steps):
        images = ms.Tensor(data.normal(size=(8, 1, size, size)).astype(np.float32))
        step(images, ms.Tensor(data.integers(0, 10, 8).astype(np.int32)))
    net.set_train(False)
    return optimizer


def logits(ms, net, size):
    images = np.random.default_rng(5).normal(size=(4, 1, size, size)).astype(np.float32)
    return net(ms.Tensor(images)).asnumpy()


def kinds(ms):
    """A tensor of every type, and the shapes that are special."""
    values = np.array([[0, 1, 2], [3, 100, 1]])
    items = {name: ms.Tensor(values, getattr(ms, name)) for name in TYPES}
    items["scalar"] = ms.Tensor(np.float32(2.5))
    items["one"] = ms.Tensor(np.array([4.0], np.float32))
    items["transposed"] = ms.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3).T)
    items["\u00fcnicode.\u4e2d"] = ms.Tensor(np.array([1, 2], np.int32))
    return items


def as_list(items):
    return [{"name": name, "data": value} for name, value in items.items()]


def write(ms, narrow=False):
    """Save everything into the working folder."""
    shape = NARROW if narrow else {}
    size = shape.get("size", 32)
    net = lenet(ms, **shape)
    optimizer = train(ms, net, size)
    ms.save_checkpoint(net, "lenet.ckpt", append_dict={"step": 5})
    ms.save_checkpoint(optimizer, "optimizer.ckpt")
    ms.save_checkpoint(net, "lenet.safetensors", format="safetensors")
    np.save("logits.npy", logits(ms, net, size))
    items = as_list(kinds(ms))
    ms.save_checkpoint(items, "kinds.ckpt", append_dict=EXTRA)
    ms.save_checkpoint(items, "kinds_crc.ckpt", crc_check=True)
    # MindSpore cannot make a safetensors checksum over bfloat16.
    some = [item for item in items if item["name"] != "bfloat16"]
    numbers = {"epoch": 7, "ratio": 0.5, "done": True}
    ms.save_checkpoint(some, "kinds.safetensors", format="safetensors", crc_check=True, append_dict=numbers)
    for mode in MODES:
        ms.save_checkpoint(items, f"kinds_{mode}.ckpt", enc_key=KEY, enc_mode=mode)
    ms.save_checkpoint(items, "in_thread.ckpt", async_save="thread")
    ms.save_checkpoint(items, "in_process.ckpt", async_save="process")
    # The next save waits for the one before; this one ends the queue.
    ms.save_checkpoint(items, "last.ckpt")


def same(found, wanted, label):
    """Compare two tensors to the bit."""
    assert str(found.dtype) == str(wanted.dtype), (label, found.dtype, wanted.dtype)
    assert tuple(found.shape) == tuple(wanted.shape), (label, found.shape, wanted.shape)
    a, b = (np.ascontiguousarray(x.asnumpy()).tobytes() for x in (found, wanted))
    assert a == b, (label, found, wanted)


def check(ms, narrow=False):
    """Load what the other side saved into the working folder."""
    shape = NARROW if narrow else {}
    size = shape.get("size", 32)
    wanted = np.load("logits.npy")
    for file, file_format in (("lenet.ckpt", "ckpt"), ("lenet.safetensors", "safetensors")):
        net = lenet(ms, **shape)
        net.set_train(False)
        loaded = ms.load_checkpoint(file, format=file_format)
        missing, extra = ms.load_param_into_net(net, loaded, strict_load=True)
        assert (missing, extra) == ([], ["step"] if file_format == "ckpt" else []), (missing, extra)
        worst = float(np.abs(logits(ms, net, size) - wanted).max())
        assert worst < 1e-5, (file, worst)
        print(f"  {file}: logits differ by at most {worst:.1e}")
    check_optimizer(ms, lenet(ms, **shape))

    reference = kinds(ms)
    loaded = ms.load_checkpoint("kinds.ckpt")
    assert list(loaded) == [*reference, *EXTRA], list(loaded)
    for name, value in EXTRA.items():
        found = loaded[name] if isinstance(value, str) else loaded[name].asnumpy().item()
        assert found == value and type(found) is type(value), (name, found, value)
    sources = {
        "kinds.ckpt": {},
        "kinds_crc.ckpt": {"crc_check": True},
        "last.ckpt": {},
        "in_thread.ckpt": {},
        "in_process.ckpt": {},
        **{f"kinds_{mode}.ckpt": {"dec_key": KEY, "dec_mode": mode} for mode in MODES},
    }
    for file, options in sources.items():
        loaded = ms.load_checkpoint(file, **options)
        for name, value in reference.items():
            same(loaded[name], value, (file, name))
        print(f"  {file}: {len(loaded)} entries, equal")
    loaded = ms.load_checkpoint("kinds.safetensors", format="safetensors", crc_check=True)
    for name, value in reference.items():
        if name != "bfloat16":
            same(loaded[name], value, ("kinds.safetensors", name))
    assert int(loaded["epoch"].asnumpy()) == 7
    print(f"  kinds.safetensors: {len(loaded)} entries, equal")


def check_optimizer(ms, net):
    """The optimizer's state goes into an optimizer of the same network."""
    nn = importlib.import_module(f"{ms.__name__}.nn")
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    loaded = ms.load_checkpoint("optimizer.ckpt")
    missing, extra = ms.load_param_into_net(optimizer, loaded)
    assert (missing, extra) == ([], []), (missing, extra)
    assert int(optimizer.global_step.asnumpy()[0]) == 5
    print(f"  optimizer.ckpt: {len(loaded)} entries, the same names")


def write_large(ms):
    """A file above protobuf's 2 GiB with a tensor above the slice size."""
    rows = 160 << 10
    items = {f"w{i}": ms.Tensor(np.full((rows, 1024), i, np.float32)) for i in (1, 2)}
    items["w3"] = ms.Tensor(np.arange(rows << 11, dtype=np.uint32).reshape(rows, 2048))
    ms.save_checkpoint(as_list(items), "large.ckpt")


def check_large(ms):
    assert os.path.getsize("large.ckpt") > 2 << 30
    loaded = ms.load_checkpoint("large.ckpt")
    rows = 160 << 10
    for i in (1, 2):
        assert (loaded[f"w{i}"].asnumpy() == i).all() and loaded[f"w{i}"].shape == (rows, 1024)
    assert (loaded["w3"].asnumpy().ravel() == np.arange(rows << 11, dtype=np.uint32)).all()
    print(f"  large.ckpt: {os.path.getsize('large.ckpt')} bytes, equal")


ACTIONS = {"write": write, "check": check, "write_large": write_large, "check_large": check_large}


def run(python, package, action, folder, *options):
    """Run one side's action in its own process."""
    print(f"{package} {action}", flush=True)
    environment = dict(os.environ, OMP_NUM_THREADS="1", GLOG_v="4")
    command = [python, __file__, "--side", package, action, *options]
    subprocess.run(command, cwd=folder, env=environment, check=True)


def make_fixtures(python):
    """Let MindSpore write the small files that the serial tests read."""
    FIXTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run(python, "mindspore", "write", folder, "--narrow")
        for file in Path(folder).iterdir():
            if file.name.startswith(("in_", "last")):
                continue
            target = FIXTURES / file.name
            target.unlink(missing_ok=True)
            shutil.copyfile(file, target)
            print(f"  {target.name}: {target.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mindspore", help="the Python that has MindSpore 2.10")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--fixtures", action="store_true")
    parser.add_argument("--side", nargs=2, metavar=("PACKAGE", "ACTION"), help=argparse.SUPPRESS)
    parser.add_argument("--narrow", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        package, action = arguments.side
        options = {"narrow": True} if arguments.narrow else {}
        ACTIONS[action](importlib.import_module(package), **options)
        return
    if not arguments.mindspore:
        parser.error("--mindspore is needed")
    if arguments.fixtures:
        make_fixtures(arguments.mindspore)
        return
    sides = [(arguments.mindspore, "mindspore"), (sys.executable, "dist_ms")]
    for suffix in ("", "_large") if arguments.large else ("",):
        for writer, reader in (sides, sides[::-1]):
            with tempfile.TemporaryDirectory() as folder:
                run(*writer, f"write{suffix}", folder)
                run(*reader, f"check{suffix}", folder)
    print("MindSpore and dist_ms read each other's checkpoints.")


if __name__ == "__main__":
    main()
