"""Steps of MindSpore's THOR on a CPU, and of `nn.thor` here, from equal weights.

    python tests/parity/thor_steps.py --mindspore /path/to/mindspore/venv/bin/python

MindSpore 2.10 has no kernels on a CPU for three operations of its optimizer: inverses of Cholesky factors by blocks, of
a whole matrix, and a gradient between two inverses. NumPy does them there, and its layers are told to compute in
float32; all else is MindSpore's. Convolutions are left out: what they collect needs such an operation, too.
"""

import argparse
import importlib
import json
import math
import subprocess
import sys

import numpy as np

STEPS, BATCH, SIDE = 5, 8, 128
WAYS = {
    "plain": {},
    "decayed": {"weight_decay": 0.1},
    "filtered": {"weight_decay": 0.1, "loss_scale": 8.0, "decay_filter": lambda p: "bias" not in p.name},
    "clipped": {"weight_decay": 0.1, "loss_scale": 8.0, "enable_clip_grad": True},
}


def _network(ms, rng):
    nn = ms.nn

    def weights(*shape):
        return ms.Tensor((rng.standard_normal(shape) * 0.1).astype(np.float32))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(20, 6, embedding_table=weights(20, 6))
            self.first = nn.Dense(300, 150, weights(150, 300), "zeros", activation="relu")
            self.norm = nn.LayerNorm((150,))
            self.last = nn.Dense(150, 5, weights(5, 150), "zeros")

        def construct(self, x, ids):
            return self.last(self.norm(self.first(x + self.table(ids).reshape(x.shape))))

    return Net()


def _factors(ms, side):
    """Inverses of lower Cholesky factors of a matrix, or of its blocks on the diagonal, where a block is `side`."""

    def inverses(matrix):
        matrix = matrix.asnumpy().astype(np.float64)
        width = min(side, len(matrix))
        found = np.tile(np.eye(width), (math.ceil(len(matrix) / width), 1, 1))
        for place, start in enumerate(range(0, len(matrix), width)):
            block = matrix[start : start + width, start : start + width]
            found[place, : len(block), : len(block)] = np.linalg.inv(np.linalg.cholesky(block))
        return ms.Tensor(found.astype(np.float32))

    return inverses


def _root(ms):
    """The matrix whose square is the inverse, as the optimizer multiplies what it gets by itself."""

    def root(matrix):
        values, vectors = np.linalg.eigh(matrix.asnumpy().astype(np.float64))
        return ms.Tensor(((vectors / np.sqrt(values)) @ vectors.T).astype(np.float32))

    return root


def _between(ms):
    def between(g, grad, a):
        g, grad, a = g.asnumpy(), grad.asnumpy().copy(), a.asnumpy()
        for row in range(a.shape[0]):
            for column in range(a.shape[1]):
                down = slice(row * g.shape[1], (row + 1) * g.shape[1])
                across = slice(column * a.shape[2], (column + 1) * a.shape[2])
                part = grad[down, across]
                height, width = part.shape
                grad[down, across] = g[row, :height, :height] @ part @ a[row, column, :width, :width]
        return ms.Tensor(grad)

    return between


def run(package, way):
    """The losses of some steps, and the trained parameters by name."""
    ms = importlib.import_module(package)
    rng = np.random.default_rng(1)
    net, loss = _network(ms, rng), ms.nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    rates, dampings = (ms.Tensor(np.linspace(*ends, STEPS), ms.float32) for ends in ((0.05, 0.02), (0.3, 0.1)))
    options = {"batch_size": BATCH, "frequency": 2, **WAYS[way]}
    optimizer, scale = ms.nn.thor(net, rates, dampings, 0.9, **options), options.get("loss_scale", 1.0)
    layers = [cell for _, cell in net.cells_and_names() if hasattr(cell, "thor")]
    theirs = package == "mindspore"
    if theirs:
        replaced = {"cholesky": _factors(ms, SIDE), "embedding_cholesky": _root(ms), "update_gradient": _between(ms)}
        optimizer.__dict__.update(replaced)
        for cell in layers:
            cell.to_float(ms.float32)
    step = ms.value_and_grad(lambda x, ids, y: loss(net(x, ids), y) * scale, None, optimizer.parameters)
    losses = []
    for number in range(STEPS):
        if theirs:  # what ModelThor does
            for cell in (*layers, optimizer):
                cell.thor = number % options["frequency"] == 0
        x = ms.Tensor(rng.standard_normal((BATCH, 300)).astype(np.float32))
        ids, y = (ms.Tensor(rng.integers(0, n, shape), ms.int32) for n, shape in ((20, (BATCH, 50)), (5, BATCH)))
        found, gradients = step(x, ids, y)
        optimizer(gradients)
        losses.append(float(found.asnumpy()) / scale)
    return losses, {p.name: p.asnumpy().tolist() for p in net.trainable_params()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mindspore", help="the Python that has MindSpore")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        print(json.dumps({way: run("mindspore", way) for way in WAYS}))
        return
    found = subprocess.run([args.mindspore, __file__, "--inside"], check=True, capture_output=True, text=True)
    for way, (losses, weights) in json.loads(found.stdout.splitlines()[-1]).items():
        ours, trained = run("dist_ms", way)
        apart = {name: np.abs(np.subtract(weights[name], trained[name])).max() for name in trained}
        print(
            way, [round(x, 5) for x in losses], [round(x, 5) for x in ours], f"weights {max(apart.values()):.1e} apart"
        )


if __name__ == "__main__":
    sys.exit(main())
