"""What an eager operation costs above its kernel, with and without a gradient recording.

For each operation on small float32 tensors three calls are timed in turns: dist_ms's, the bare
kernel with the making of its output, and the primitive's `forward` called directly on arrays.
The table shows medians in microseconds, with a gradient recording and without: what the call costs
above its kernel (the limit is 4 recorded), and how much of that lies outside the functions that do
the operation's own work, which is the call less `forward` (gate: the tape; the limit is 1.5). From
transpose on the kernel is what `forward` does; that of batch_norm makes the arrays of the batch's
statistics and moves the moving ones, too. The last rows are calls of layers.
With --torch PYTHON the same operations are timed in that interpreter's PyTorch for comparison.

    python benchmarks/bench_overhead.py [--repeat 2000] [--torch PYTHON] [--png FILE]
"""

import argparse
import json
import statistics
import subprocess
import time

import numpy as np

TORCH = """
import json, statistics, sys, time, torch
import torch.nn.functional as F
torch.set_num_threads(1)
x, y, b = torch.randn(4, 4), torch.randn(4, 4), torch.randn(4)
ids, k, c = torch.tensor([0, 3, 1, 2]), torch.randn(2, 1, 3, 3), torch.ones(1)
mean, var = torch.zeros(1), torch.ones(1)
r = int(sys.argv[1])
ops = {"add": lambda a: torch.add(a, y), "mul": lambda a: torch.mul(a, y), "matmul": lambda a: torch.matmul(a, y),
       "relu": torch.relu, "softmax": lambda a: torch.softmax(a, -1), "reshape": lambda a: torch.reshape(a, (2, 8)),
       "sum": torch.sum, "layer_norm": lambda a: F.layer_norm(a, (4,), b, b), "linear": lambda a: F.linear(a, y, b),
       "transpose": lambda a: torch.permute(a, (1, 0)), "concat": lambda a: torch.cat((a, y), 1), "gelu": F.gelu,
       "embedding": lambda a: F.embedding(ids, a), "cross_entropy": lambda a: F.cross_entropy(a, ids),
       "dropout": lambda a: F.dropout(a, 0.5, True)}
layers = {"conv2d": lambda a: F.conv2d(a, k), "batch_norm": lambda a: F.batch_norm(a, mean, var, c, c, True),
          "max_pool": lambda a: F.max_pool2d(a, 2)}
found = {}
for mode in (False, True):
    a = x.clone().requires_grad_(mode)
    image = x.clone().reshape(1, 1, 4, 4).requires_grad_(mode)
    for name, op in [*ops.items(), *layers.items()]:
        given = image if name in layers else a
        times = []
        for _ in range(r):
            t = time.perf_counter(); op(given); times.append(time.perf_counter() - t)
        found[name + (" recorded" if mode else "")] = 1e6 * statistics.median(times)
print(json.dumps(found))
"""


# Operations on images, and the shape of theirs.
IMAGES = ("conv2d", "batch_norm", "max_pool", "nn.Conv2d", "nn.BatchNorm2d", "nn.MaxPool2d")
IMAGE = (1, 1, 4, 4)


def medians(calls, repeat):
    """Medians in microseconds of some calls, timed in turns."""
    times = [[] for _ in calls]
    clock = time.perf_counter
    for _ in range(repeat):
        for call, found in zip(calls, times):
            start = clock()
            call()
            found.append(clock() - start)
    return [1e6 * statistics.median(found) for found in times]


def operations(ms):
    """By name: (call on a tensor, kernel on arrays, forward on arrays)."""
    from dist_ms._ext import activation, layer_norm, softmax
    from dist_ms._ext.tape import Kept

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((4, 4)).astype(np.float32) for _ in range(2))
    v = rng.standard_normal(4).astype(np.float32)
    y, w = ms.Tensor(b), ms.Tensor(v)
    ops = ms.ops
    mean, rstd = np.empty(4, np.float32), np.empty(4, np.float32)
    from dist_ms.ops.layers.layer_norm import RowNorm

    norm = RowNorm(1e-5)

    def linear_kernel():
        product = np.matmul(a, b.T)
        return np.add(product, v, out=product)

    def relu_kernel():
        activation.relu_forward(a, np.empty_like(a))

    def softmax_kernel():
        softmax.softmax_forward(a, np.empty_like(a))

    def norm_kernel():
        layer_norm.forward(a, v, v, 1e-5, np.empty_like(a), np.empty_like(mean), np.empty_like(rstd))

    def norm_forward():
        norm.forward(a, v, v, Kept())

    return a, {
        "add": (lambda t: ops.add(t, y), lambda: np.add(a, b), _forward(ops.Add(), a, b)),
        "mul": (lambda t: ops.mul(t, y), lambda: np.multiply(a, b), _forward(ops.Mul(), a, b)),
        "matmul": (lambda t: ops.matmul(t, y), lambda: np.matmul(a, b), _forward(ops.MatMul(), a, b)),
        "relu": (lambda t: ops.relu(t), relu_kernel, _forward(ops.ReLU(), a)),
        "softmax": (lambda t: ops.softmax(t, -1), softmax_kernel, _forward(ops.Softmax(-1), a)),
        "reshape": (lambda t: ops.reshape(t, (2, 8)), lambda: a.reshape(2, 8), _forward(ops.Reshape(), a, (2, 8))),
        "sum": (lambda t: ops.sum(t), lambda: np.add.reduce(a, None), _forward(ops.ReduceSum(), a)),
        "layer_norm": (lambda t: ops.layer_norm(t, (4,), w, w), norm_kernel, norm_forward),
        "linear": (lambda t: ops.dense(t, y, w), linear_kernel, _forward(ops.Dense(), a, b, v)),
        **_further_operations(ms, ms.Tensor(a), ms.Tensor(a.reshape(IMAGE)), y),
    }


def _further_operations(ms, t, image, y):
    """The operations layers are made of besides; what their `forward` does counts as their kernel."""
    ops, nn = ms.ops, ms.nn
    ids, weight = ms.Tensor(np.array([0, 3, 1, 2], np.int32)), ms.Tensor(np.ones((2, 1, 3, 3), np.float32))
    norm, dropout = nn.BatchNorm2d(1).set_train(), nn.Dropout(p=0.5).set_train()
    loss = nn.CrossEntropyLoss()
    calls = {
        "transpose": lambda t: ops.transpose(t, (1, 0)),
        "concat": lambda t: ops.concat((t, y), 1),
        "gelu": ops.gelu,
        "embedding": lambda t: ops.embedding(ids, t),
        "cross_entropy": lambda t: ops.cross_entropy(t, ids),
        "dropout": lambda t: ops.dropout(t, 0.5),
        "conv2d": lambda t: ops.conv2d(t, weight),
        "batch_norm": lambda t: ops.batch_norm(t, mean, variance, one, zero, True),
        "max_pool": lambda t: ops.max_pool2d(t, 2, 2),
        "nn.Dense": nn.Dense(4, 4),
        "nn.LayerNorm": nn.LayerNorm((4,)),
        "nn.Dropout": dropout,
        "nn.CrossEntropyLoss": lambda t: loss(t, ids),
        "nn.Conv2d": nn.Conv2d(1, 2, 3, pad_mode="valid"),
        "nn.BatchNorm2d": norm,
        "nn.MaxPool2d": nn.MaxPool2d(2, 2),
    }
    zero, one, mean, variance = (ms.Tensor(np.full(1, n, np.float32)) for n in (0, 1, 0, 1))
    found = {}
    for name, call in calls.items():
        work = _forwards(call, image if name in IMAGES else t)
        if name in ("batch_norm", "nn.BatchNorm2d"):
            work = _with_statistics(work)
        found[name] = (call, work, work)
    return found


def _with_statistics(forward):
    """BatchNorm's forward, the making of the batch's statistics, and the moving of others toward them."""
    from dist_ms._ext import layout, moving_statistics

    mean, variance = np.zeros(1, np.float32), np.ones(1, np.float32)

    def run():
        forward()
        batch_mean, rstd = layout.empty(1, mean.dtype), layout.empty(1, mean.dtype)
        moving_statistics.follow_batch(mean, variance, batch_mean, rstd, 1e-5, 0.1, 1.0)

    return run


def _forwards(call, t):
    """The functions on arrays that a call comes to, one after the other."""
    from dist_ms.autograd.tape import recording

    seen = []

    def note(primitive, inputs):
        seen.append((primitive.forward, [getattr(x, "asnumpy", lambda x=x: x)() for x in inputs]))
        return inputs

    recording.policy = note
    try:
        call(t)
    finally:
        recording.policy = None

    def run():
        for forward, arrays in seen:
            forward(*arrays)

    return run


def _forward(primitive, *inputs):
    return lambda: primitive.forward(*inputs)


def draw(rows, path):
    """Bars of the time above the kernel, beside the limit."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(rows)
    figure, axes = plt.subplots(figsize=(14, 4.5), layout="constrained")
    axes.bar(names, [rows[n][0] - rows[n][1] for n in names], label="above the kernel")
    axes.bar(names, [rows[n][0] - rows[n][2] for n in names], width=0.4, label="of it outside the operation's forward")
    axes.axhline(4, color="black", linewidth=1, linestyle="--", label="limit, recorded")
    axes.axhline(1.5, color="grey", linewidth=1, linestyle=":", label="limit outside")
    axes.set_ylabel("microseconds")
    axes.tick_params(axis="x", rotation=60)
    axes.legend()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=2000)
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--png", default="bench_overhead.png", help="where the chart goes")
    options = parser.parse_args()
    import dist_ms as ms

    a, table = operations(ms)
    rows = {}

    def measure(t, suffix=""):
        image = ms.ops.reshape(t, IMAGE)
        for name, (call, kernel, forward) in table.items():
            given = image if name in IMAGES else t
            rows[name + suffix] = medians([lambda c=call, x=given: c(x), kernel, forward], options.repeat)
        return t

    measure(ms.Tensor(a))
    ms.grad(lambda t: measure(t, " recorded"))(ms.Tensor(a))
    peer = {}
    if options.torch:
        command = [options.torch, "-c", TORCH, str(options.repeat)]
        peer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    heads = ("dist_ms us", "kernel us", "above us", "ratio", "gate us", "torch us", "dist/torch")
    print(f"{'operation':28}" + "".join(f"{head:>11}" for head in heads))
    for name, (ours, kernel, forward) in rows.items():
        line = f"{name:28}{ours:11.2f}{kernel:11.2f}{ours - kernel:11.2f}{ours / kernel:11.1f}{ours - forward:11.2f}"
        print(line + (f"{peer[name]:11.2f}{ours / peer[name]:11.2f}" if name in peer else ""))
    draw(rows, options.png)


if __name__ == "__main__":
    main()
