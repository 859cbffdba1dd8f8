"""Kernels that read and write large arrays once: their limit is the memory's speed.

An array has 24 MB, so that no case stays in a cache of 32 MB, yet PyTorch's results, which are new
arrays each time, come from its allocator and not from the system page by page.
"""

from collections.abc import Iterator

import numpy as np

from kernels import Case

SHAPE = (3072, 2048)
TABLE, IDS = (150_000, 64), 98_304
# Activations that the kernel knows by name, with their options.
NAMED = [
    ("mish",),
    ("softplus", 1, 20),
    ("log_sigmoid",),
    ("exponential_linear", 1, 1, 1),
    ("softsign",),
    ("leaky_relu", 0.2),
    ("hard_sigmoid",),
    ("hard_swish",),
]


def ours() -> Iterator[Case]:
    """The kernels, without their operations around them."""
    from dist_ms._ext import (
        activation,
        cross_entropy,
        dropout,
        embedding,
        layer_norm,
        optimizer,
        softmax,
    )

    rng = np.random.default_rng(0)

    def random(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    def case(name: str, kernel, *arguments) -> Case:
        traffic = sum(a.nbytes for a in arguments if isinstance(a, np.ndarray))
        return Case(name, lambda: kernel(*arguments), traffic)

    x, out, dy = random(*SHAPE), random(*SHAPE), random(*SHAPE)
    yield case("relu_forward", activation.relu_forward, x, out)
    yield case("relu_backward", activation.relu_backward, dy, x, out)
    for kind in ("tanh", "erf"):
        yield case(f"gelu_forward, {kind}", activation.gelu_forward, x, out, kind == "tanh")
        yield case(f"gelu_backward, {kind}", activation.gelu_backward, dy, x, out, kind == "tanh")
    yield case("sigmoid_forward", activation.sigmoid_forward, x, out)
    yield case("tanh_forward", activation.tanh_forward, x, out)
    yield case("silu_forward", activation.silu_forward, x, out)
    yield case("silu_backward", activation.silu_backward, dy, x, out)
    for name, *options in NAMED:
        yield case(f"{name}, forward", activation.forward, x, out, name, *options)
        yield case(f"{name}, backward", activation.backward, dy, x, out, name, *options)
    yield case("dropout", dropout.dropout, x, out, np.empty(x.shape, np.uint8), 0.9, 1, 0)
    yield case("softmax_forward", softmax.softmax_forward, x, out)
    y = out.copy()
    yield case("softmax_backward", softmax.softmax_backward, dy, y, out)
    yield case("log_softmax_forward", softmax.log_softmax_forward, x, out)
    y = out.copy()
    yield case("log_softmax_backward", softmax.log_softmax_backward, dy, y, out)

    labels, loss, totals = rng.integers(0, SHAPE[1], SHAPE[0]), random(SHAPE[0]), random(SHAPE[0], 2)

    def labelled() -> None:
        cross_entropy.cross_entropy_forward(x, labels, -100, loss, totals)
        cross_entropy.cross_entropy_backward(loss, x, totals, labels, -100, out)

    # The logits twice, as the gradient comes when they have left the caches, and the gradient.
    yield Case("softmax cross entropy, both ways", labelled, 3 * x.nbytes)
    weights = np.abs(y)
    yield case("softmax cross entropy, weighted", cross_entropy.dense_cross_entropy, x, weights, loss, out)

    gamma, beta, dgamma, dbeta = (random(SHAPE[1]) for _ in range(4))
    mean, rstd = random(SHAPE[0]), random(SHAPE[0])
    yield case("layer_norm.forward", layer_norm.forward, x, gamma, beta, 1e-5, out, mean, rstd)
    yield case("layer_norm.backward", layer_norm.backward, dy, x, gamma, mean, rstd, out, dgamma, dbeta)

    table, ids = random(*TABLE), rng.integers(0, TABLE[0], IDS)
    rows = random(IDS, TABLE[1])
    # A row of the table per id: it is read, and in scatter_add also written.
    yield Case("embedding.gather", lambda: embedding.gather(table, ids, rows), 2 * rows.nbytes + ids.nbytes)
    yield Case("embedding.scatter_add", lambda: embedding.scatter_add(rows, ids, table), 3 * rows.nbytes + ids.nbytes)

    # Optimizers write the weights and the states that they read.
    p, g, m, v = x.ravel(), dy.ravel(), np.zeros(x.size, np.float32), np.zeros(x.size, np.float32)
    momentum = (1e-3, 1e-4, 1.0, 0.9, 1.0, False, False)
    yield Case("momentum", lambda: optimizer.update("sgd", [(p, g, m)], [momentum]), 5 * x.nbytes)
    adam = (1e-3, 0.0, 1.0, 0.9, 0.1, 1e-3, 1e-8, False)
    yield Case("adam", lambda: optimizer.update("adam", [(p, g, m, v)], [adam]), 7 * x.nbytes)


def torch() -> Iterator[Case]:
    """What PyTorch's eager mode runs for the same: its functions, and its gradients' own functions."""
    import torch

    f, aten = torch.nn.functional, torch.ops.aten
    x, dy = torch.randn(SHAPE), torch.randn(SHAPE)
    yield Case("relu_forward", lambda: f.relu(x))
    yield Case("relu_backward", lambda: aten.threshold_backward(dy, x, 0))
    for kind in ("tanh", "erf"):
        approximate = "tanh" if kind == "tanh" else "none"
        yield Case(f"gelu_forward, {kind}", lambda a=approximate: f.gelu(x, approximate=a))
        yield Case(f"gelu_backward, {kind}", lambda a=approximate: aten.gelu_backward(dy, x, approximate=a))
    yield Case("sigmoid_forward", lambda: torch.sigmoid(x))
    yield Case("tanh_forward", lambda: torch.tanh(x))
    yield Case("silu_forward", lambda: f.silu(x))
    yield Case("silu_backward", lambda: aten.silu_backward(dy, x))
    named = {
        "mish": (lambda: f.mish(x), lambda: aten.mish_backward(dy, x)),
        "softplus": (lambda: f.softplus(x), lambda: aten.softplus_backward(dy, x, 1, 20)),
        "log_sigmoid": (lambda: f.logsigmoid(x), lambda: aten.log_sigmoid_backward(dy, x, x)),
        "exponential_linear": (lambda: f.elu(x), lambda: aten.elu_backward(dy, 1, 1, 1, False, x)),
        "softsign": (lambda: f.softsign(x), None),
        "leaky_relu": (lambda: f.leaky_relu(x, 0.2), lambda: aten.leaky_relu_backward(dy, x, 0.2, False)),
        "hard_sigmoid": (lambda: f.hardsigmoid(x), lambda: aten.hardsigmoid_backward(dy, x)),
        "hard_swish": (lambda: f.hardswish(x), lambda: aten.hardswish_backward(dy, x)),
    }
    for name, (forward, backward) in named.items():
        yield Case(f"{name}, forward", forward)
        if backward is not None:  # PyTorch has no function of its own for it
            yield Case(f"{name}, backward", backward)
    yield Case("dropout", lambda: aten.native_dropout(x, 0.1, True))
    yield Case("softmax_forward", lambda: torch.softmax(x, 1))
    y = torch.softmax(x, 1)
    yield Case("softmax_backward", lambda: aten._softmax_backward_data(dy, y, 1, torch.float32))
    yield Case("log_softmax_forward", lambda: torch.log_softmax(x, 1))
    z = torch.log_softmax(x, 1)
    yield Case("log_softmax_backward", lambda: aten._log_softmax_backward_data(dy, z, 1, torch.float32))

    labels = torch.randint(0, SHAPE[1], SHAPE[:1])
    logits = torch.randn(SHAPE).requires_grad_()
    yield Case("softmax cross entropy, both ways", lambda: torch.autograd.grad(f.cross_entropy(logits, labels), logits))
    shares = torch.rand(SHAPE)
    yield Case("softmax cross entropy, weighted", lambda: torch.autograd.grad(f.cross_entropy(logits, shares), logits))

    gamma, beta = torch.randn(SHAPE[1]), torch.randn(SHAPE[1])
    _, mean, rstd = aten.native_layer_norm(x, SHAPE[1:], gamma, beta, 1e-5)
    wanted = [True] * 3
    yield Case("layer_norm.forward", lambda: aten.native_layer_norm(x, SHAPE[1:], gamma, beta, 1e-5))
    yield Case(
        "layer_norm.backward",
        lambda: aten.native_layer_norm_backward(dy, x, SHAPE[1:], mean, rstd, gamma, beta, wanted),
    )

    table, ids = torch.randn(TABLE), torch.randint(0, TABLE[0], (IDS,))
    rows = torch.randn(IDS, TABLE[1])
    yield Case("embedding.gather", lambda: f.embedding(ids, table))
    yield Case("embedding.scatter_add", lambda: table.index_add_(0, ids, rows))

    weight = torch.randn(SHAPE).requires_grad_()
    weight.grad = dy
    momentum = torch.optim.SGD([weight], 1e-3, momentum=0.9, weight_decay=1e-4)
    yield Case("momentum", momentum.step)
    adam = torch.optim.Adam([weight], 1e-3)
    yield Case("adam", adam.step)
