"""Time the kernels of `dist_ms._ext` on one large array each, oneDNN's apart.

    python benchmarks/kernels.py [--threads N] [--repeats N]

Prints the median time of a call and the memory traffic that it stands for: every argument read or
written once. Set DIST_MS_MAX_ISA to compare the variants.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from dist_ms._ext import (
    activation,
    batch_norm,
    dropout,
    embedding,
    layer_norm,
    optimizer,
    softmax,
    threads,
)

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--threads", type=int, default=threads.get_num_threads())
parser.add_argument("--repeats", type=int, default=20)

Case = tuple[str, Callable[..., object], tuple[object, ...]]


def cases() -> Iterator[Case]:
    """Yield a name, a kernel and its arguments; all arrays are float32 and 16 MB or so."""
    rng = np.random.default_rng(0)

    def random(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    x, out, dy = random(2048, 2048), random(2048, 2048), random(2048, 2048)
    yield "relu_forward", activation.relu_forward, (x, out)
    yield "relu_backward", activation.relu_backward, (dy, x, out)
    yield "gelu_forward, tanh", activation.gelu_forward, (x, out, True)
    yield "gelu_backward, tanh", activation.gelu_backward, (dy, x, out, True)
    yield "sigmoid_forward", activation.sigmoid_forward, (x, out)
    yield "dropout", dropout.dropout, (x, out, np.empty(x.shape, np.uint8), 0.9, 1, 0)
    yield "softmax_forward", softmax.softmax_forward, (x, out)
    yield "softmax_backward", softmax.softmax_backward, (dy, x, out)
    yield "log_softmax_forward", softmax.log_softmax_forward, (x, out)

    row, column = random(4, 2048), random(4, 2048)
    arguments = (x, row[0], row[1], 1e-5, out, column[0], column[1])
    yield "layer_norm.forward", layer_norm.forward, arguments
    arguments = (dy, x, row[0], column[0], column[1], out, row[1], row[2])
    yield "layer_norm.backward", layer_norm.backward, arguments

    channels = random(6, 64)
    for layout in ("NHWC", "NCHW"):
        images = [a.reshape(64, 32, 32, 64).transpose(0, 3, 1, 2) for a in (x, out, dy)]
        if layout == "NCHW":
            images = [np.ascontiguousarray(a) for a in images]
        image, result, gradient = images
        arguments = (image, channels[0], channels[1], 1e-5, result, channels[2], channels[3])
        yield f"batch_norm.forward_train, {layout}", batch_norm.forward_train, arguments
        arguments = (gradient, image, channels[0], *channels[2:4], result, *channels[4:6])
        yield f"batch_norm.backward, {layout}", batch_norm.backward, arguments

    table, ids = random(50_000, 64), rng.integers(0, 50_000, 65_536)
    rows = random(65_536, 64)
    yield "embedding.gather", embedding.gather, (table, ids, random(65_536, 64))
    yield "embedding.scatter_add", embedding.scatter_add, (rows, ids, table)

    p, g, m, v = x.ravel(), dy.ravel(), np.zeros(x.size, np.float32), np.zeros(x.size, np.float32)
    yield "momentum", optimizer.momentum, (p, g, m, 1e-3, 0.9, False, 1e-4, 1.0)
    yield "adam", optimizer.adam, (p, g, m, v, 1e-3, 0.9, 0.999, 1e-8, 0.0, False, 1.0)


def main() -> None:
    """Print a line per kernel."""
    options = parser.parse_args()
    threads.set_num_threads(options.threads)
    print(f"variant {threads.isa()}, {options.threads} threads, {options.repeats} repeats")
    for name, kernel, arguments in cases():
        kernel(*arguments)
        times = []
        for _ in range(options.repeats):
            start = time.perf_counter()
            kernel(*arguments)
            times.append(time.perf_counter() - start)
        seconds = statistics.median(times)
        traffic = sum(a.nbytes for a in arguments if isinstance(a, np.ndarray))
        print(f"{name:34} {seconds * 1e3:8.2f} ms {traffic / seconds / 1e9:8.1f} GB/s")


if __name__ == "__main__":
    main()
