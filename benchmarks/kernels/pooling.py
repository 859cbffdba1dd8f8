"""Poolings, forward and gradient; dist_ms in channels-last memory, PyTorch in its default."""

from collections.abc import Iterator

import numpy as np

from kernels import Case

SHAPES = {"2x2 of 6x24x24": ((64, 6, 24, 24), 2, 2, 0), "3x3 stride 2 of 64x56x56": ((16, 64, 56, 56), 3, 2, 1)}


def ours() -> Iterator[Case]:
    """pool_forward and pool_backward."""
    from dist_ms._ext import dnnl

    rng = np.random.default_rng(0)
    for kind in ("max", "avg_padded"):
        for name, (shape, kernel, stride, padding) in SHAPES.items():
            size = (shape[2] + 2 * padding - kernel) // stride + 1
            x, dx = (
                np.moveaxis(rng.standard_normal((shape[0], *shape[2:], shape[1]), np.float32), -1, 1) for _ in "xd"
            )
            y = np.moveaxis(np.empty((shape[0], size, size, shape[1]), np.float32), -1, 1)
            numbers = ((kernel,) * 2, (stride,) * 2, ((padding, padding),) * 2, (1, 1))

            def run(kind=kind, x=x, y=y, dx=dx, numbers=numbers):
                places = dnnl.pool_forward(kind, x, y, *numbers)
                dnnl.pool_backward(kind, y, dx, places, *numbers)

            yield Case(f"{kind[:3]} pool {name}", run, 2 * (x.nbytes + y.nbytes))


def torch() -> Iterator[Case]:
    """torch.nn.functional's poolings through autograd."""
    import torch

    functions = {"max": torch.nn.functional.max_pool2d, "avg": torch.nn.functional.avg_pool2d}
    for kind, f in functions.items():
        for name, (shape, *numbers) in SHAPES.items():
            x = torch.randn(shape).requires_grad_()
            dy = f(x, *numbers).detach()

            def run(f=f, x=x, numbers=numbers, dy=dy):
                torch.autograd.grad(f(x, *numbers), x, dy)

            yield Case(f"{kind} pool {name}", run)
