"""Layers over sequences, forward and backward: LSTM, GRU, RNN, their cells, and the CTC loss."""

from collections.abc import Callable, Iterator

import numpy as np

from kernels import Case

STEPS, ROWS, SIZE = 64, 32, 128
CLASSES, LABELS = 40, 12
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def arrays() -> dict[str, np.ndarray]:
    """What both sides compute with."""
    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal((STEPS, ROWS, SIZE), np.float32),
        "scores": rng.standard_normal((STEPS, ROWS, CLASSES), np.float32),
        "labels": rng.integers(1, CLASSES, (ROWS, LABELS)).astype(np.int32),
    }


def named(layer: Callable, cell: Callable, ctc: Callable) -> Iterator[Case]:
    """The cases, given what makes a function that runs a layer, a cell, and the loss."""
    for name, gates in GATES.items():
        # Each direction has a product with the inputs and one with the states, and two more for their gradients.
        work = 2 * 2 * gates * SIZE * SIZE * ROWS * 3
        yield Case(f"sequences: {name} of {SIZE}", layer(name, SIZE, 1, False), 0, work * STEPS)
        yield Case(f"sequences: {name} cell of {SIZE}", cell(name), 0, work)
    work = 3 * 2 * 4 * 256 * ROWS * STEPS * 2 * ((SIZE + 256) + (512 + 256))
    yield Case("sequences: LSTM of 256, 2 layers, both ways", layer("LSTM", 256, 2, True), 0, work)
    yield Case(f"sequences: CTC loss of {LABELS} labels", ctc, 2 * 4 * STEPS * ROWS * CLASSES)


def ours() -> Iterator[Case]:
    """The layers of nn and ops.ctc_loss."""
    import dist_ms as ms
    from dist_ms import nn, ops

    x, scores, labels = [ms.Tensor(a) for a in arrays().values()]
    lengths = [ms.Tensor(np.full(ROWS, n, np.int32)) for n in (STEPS, LABELS)]

    class First(nn.Cell):
        """A layer's outputs, without its states."""

        def __init__(self, inner: nn.Cell, *states: object) -> None:
            super().__init__()
            self.inner, self.states = inner, states

        def construct(self, x: ms.Tensor) -> ms.Tensor:
            out = self.inner(x, *self.states)
            return out[0] if isinstance(out, tuple) else out

    def run(inner: nn.Cell, x: ms.Tensor, *states: object) -> Callable:
        net = First(inner, *states).set_train()
        gradient = ops.GradOperation(get_all=True, get_by_list=True, sens_param=True)(net, net.trainable_params())
        ones = ops.ones_like(net(x))
        return lambda: gradient(x, ones)

    def layer(name: str, size: int, layers: int, both: bool) -> Callable:
        return run(getattr(nn, name)(SIZE, size, layers, bidirectional=both), x)

    def cell(name: str) -> Callable:
        state = ops.zeros((ROWS, SIZE))
        return run(getattr(nn, f"{name}Cell")(SIZE, SIZE), x[0], (state, state) if name == "LSTM" else state)

    def loss(scores: ms.Tensor) -> ms.Tensor:
        return ops.ctc_loss(ops.log_softmax(scores, 2), labels, *lengths)[0]

    yield from named(layer, cell, lambda: ms.grad(loss)(scores))


def torch() -> Iterator[Case]:
    """The same in PyTorch."""
    import torch
    from torch import nn

    x, scores, labels = [torch.from_numpy(a) for a in arrays().values()]
    x.requires_grad_()
    scores.requires_grad_()
    lengths = [torch.full((ROWS,), n) for n in (STEPS, LABELS)]

    def run(inner: nn.Module, x: torch.Tensor, *states: object) -> Callable:
        wanted = [*inner.parameters(), x]

        def first() -> torch.Tensor:
            out = inner(x, *states)
            return out[0] if isinstance(out, tuple) else out

        ones = torch.ones_like(first())
        return lambda: torch.autograd.grad(first(), wanted, ones)

    def layer(name: str, size: int, layers: int, both: bool) -> Callable:
        return run(getattr(nn, name)(SIZE, size, layers, bidirectional=both), x)

    def cell(name: str) -> Callable:
        state = torch.zeros(ROWS, SIZE)
        own = x[0].detach().requires_grad_()
        return run(getattr(nn, f"{name}Cell")(SIZE, SIZE), own, (state, state) if name == "LSTM" else state)

    def ctc() -> object:
        loss = torch.nn.functional.ctc_loss(scores.log_softmax(2), labels.long(), *lengths)
        return torch.autograd.grad(loss, scores)

    yield from named(layer, cell, ctc)
