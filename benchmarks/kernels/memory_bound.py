"""Kernels of dist_ms that read and write 16 MB arrays once: their limit is the memory's speed."""

from collections.abc import Iterator

import numpy as np

from kernels import Case


def ours() -> Iterator[Case]:
    """The kernels, without their operations around them."""
    from dist_ms._ext import activation, dropout, embedding, layer_norm, optimizer, softmax

    rng = np.random.default_rng(0)

    def random(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    def case(name: str, kernel, *arguments) -> Case:
        traffic = sum(a.nbytes for a in arguments if isinstance(a, np.ndarray))
        return Case(name, lambda: kernel(*arguments), traffic)

    x, out, dy = random(2048, 2048), random(2048, 2048), random(2048, 2048)
    yield case("relu_forward", activation.relu_forward, x, out)
    yield case("relu_backward", activation.relu_backward, dy, x, out)
    yield case("gelu_forward, tanh", activation.gelu_forward, x, out, True)
    yield case("gelu_backward, tanh", activation.gelu_backward, dy, x, out, True)
    yield case("sigmoid_forward", activation.sigmoid_forward, x, out)
    yield case("dropout", dropout.dropout, x, out, np.empty(x.shape, np.uint8), 0.9, 1, 0)
    yield case("softmax_forward", softmax.softmax_forward, x, out)
    yield case("softmax_backward", softmax.softmax_backward, dy, x, out)
    yield case("log_softmax_forward", softmax.log_softmax_forward, x, out)

    row, column = random(4, 2048), random(4, 2048)
    yield case("layer_norm.forward", layer_norm.forward, x, row[0], row[1], 1e-5, out, column[0], column[1])
    yield case("layer_norm.backward", layer_norm.backward, dy, x, row[0], column[0], column[1], out, row[1], row[2])

    table, ids = random(50_000, 64), rng.integers(0, 50_000, 65_536)
    rows = random(65_536, 64)
    yield case("embedding.gather", embedding.gather, table, ids, random(65_536, 64))
    yield case("embedding.scatter_add", embedding.scatter_add, rows, ids, table)

    p, g, m, v = x.ravel(), dy.ravel(), np.zeros(x.size, np.float32), np.zeros(x.size, np.float32)
    yield case("momentum", optimizer.momentum, p, g, m, 1e-3, 0.9, False, 1e-4, 1.0)
    yield case("adam", optimizer.adam, p, g, m, v, 1e-3, 0.9, 0.999, 1e-8, 0.0, False, 1.0)
