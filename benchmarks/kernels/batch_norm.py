"""BatchNorm and ReLU, and a sum between them, in training: both layouts, forward and gradient apart.

Of dist_ms both what its operations run one after the other and the fused kernels.
"""

from collections.abc import Iterator

import numpy as np

from kernels import Case

SHAPES = ((32, 64, 32, 32), (32, 256, 8, 8), (16, 256, 56, 56))
TYPES = ("float32", "bfloat16")
LAYOUTS = ("NCHW", "NHWC")
EPS = 1e-5


def name_of(what: str, shape: tuple[int, ...], layout: str, dtype: str) -> str:
    """Return a case's name."""
    return f"batch norm {what} {shape} {layout} {dtype}"


def ours() -> Iterator[Case]:
    """The kernels; what is used twice counts twice, but not where a channel of NCHW memory stays in the caches."""
    import ml_dtypes

    from dist_ms._ext import activation, batch_norm, ufunc_loops

    rng = np.random.default_rng(0)

    def random(shape: tuple[int, ...], layout: str, dtype: str) -> np.ndarray:
        memory = shape if layout == "NCHW" else (shape[0], *shape[2:], shape[1])
        numbers = rng.standard_normal(memory, np.float32).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
        return numbers if layout == "NCHW" else np.moveaxis(numbers, -1, 1)

    for shape, layout, dtype in ((s, m, t) for s in SHAPES for m in LAYOUTS for t in TYPES):
        x, y, z, r, dy, dz, dx, dr = (random(shape, layout, dtype) for _ in range(8))
        gamma, beta, mean, rstd, dgamma, dbeta = rng.standard_normal((6, shape[1])).astype(np.float32)
        given, found, variance = (gamma, beta, mean, rstd), (dx, dgamma, dbeta), np.square(rstd)

        def forward(x=x, y=y, given=given):
            batch_norm.forward_train(x, *given[:2], EPS, y, *given[2:])

        def infer(x=x, y=y, given=given, variance=variance, addend=None, relu=False):
            batch_norm.forward_eval(x, *given[:3], variance, EPS, y, addend, relu)

        def apart(forward=forward, y=y, z=z):
            forward()
            activation.relu_forward(y, z)

        def apart_gradient(dy=dy, y=y, dz=dz, x=x, given=given, found=found):
            activation.relu_backward(dy, y, dz)
            batch_norm.backward(dz, x, given[0], *given[2:], *found)

        def sum_apart(forward=forward, y=y, z=z, r=r):
            forward()
            activation.relu_forward(ufunc_loops.apply(np.add, y, r), z)

        def fused(x=x, y=y, given=given, addend=None):
            batch_norm.statistics(x, EPS, *given[2:])
            batch_norm.normalised(x, *given, addend, True, y)

        def fused_gradient(dy=dy, x=x, given=given, found=found):
            batch_norm.backward_of_relu(dy, x, *given, *found)

        def sum_gradient(dy=dy, x=x, y=y, dr=dr, given=given, found=found):
            batch_norm.backward_of_sum(dy, x, given[0], *given[2:], y, *found, dr)

        size, again = x.nbytes, layout == "NHWC"
        runs = {
            "inference": (infer, 2 * size),
            "inference + relu, fused": (lambda infer=infer: infer(relu=True), 2 * size),
            "inference + sum + relu, fused": (lambda infer=infer, r=r: infer(addend=r, relu=True), 3 * size),
            "forward": (forward, (2 + again) * size),
            "+ relu forward, fused": (fused, 3 * size),
            "+ relu gradient, fused": (fused_gradient, (3 + 2 * again) * size),
            "+ sum + relu forward, fused": (lambda fused=fused, r=r: fused(addend=r), 4 * size),
            "+ sum + relu gradient, fused": (sum_gradient, (5 + 2 * again) * size),
        }
        if dtype == "float32":  # Of bfloat16 there is no ReLU kernel.
            runs["+ relu forward"] = (apart, (4 + again) * size)
            runs["+ relu gradient"] = (apart_gradient, (6 + 2 * again) * size)
            runs["+ sum + relu forward"] = (sum_apart, (7 + again) * size)
        for what, (run, traffic) in runs.items():
            yield Case(name_of(what, shape, layout, dtype), run, traffic)


def torch() -> Iterator[Case]:
    """PyTorch's functions for the same, one after the other."""
    import torch

    aten = torch.ops.aten
    for shape, layout, dtype in ((s, m, t) for s in SHAPES for m in LAYOUTS for t in TYPES):
        memory = torch.contiguous_format if layout == "NCHW" else torch.channels_last
        x, r, dy = (torch.randn(shape, dtype=getattr(torch, dtype)).to(memory_format=memory) for _ in range(3))
        gamma, beta = torch.randn(shape[1]), torch.randn(shape[1])

        def forward(x=x, gamma=gamma, beta=beta):
            return aten.native_batch_norm(x, gamma, beta, None, None, True, 0.1, EPS)

        running = torch.randn(shape[1]), torch.rand(shape[1])

        def infer(x=x, gamma=gamma, beta=beta, running=running):
            return aten.native_batch_norm(x, gamma, beta, *running, False, 0.1, EPS)

        y, mean, rstd = forward()
        z = y.relu()

        def relu(forward=forward):
            return forward()[0].relu()

        def gradient(dy=dy, x=x, z=z, gamma=gamma, mean=mean, rstd=rstd):
            dz = aten.threshold_backward(dy, z, 0)
            return aten.native_batch_norm_backward(dz, x, gamma, None, None, mean, rstd, True, EPS, [True] * 3)

        def sum_relu(forward=forward, r=r):
            return (forward()[0] + r).relu()

        yield Case(name_of("inference", shape, layout, dtype), infer)
        yield Case(name_of("inference + relu, fused", shape, layout, dtype), lambda infer=infer: infer()[0].relu())
        yield Case(
            name_of("inference + sum + relu, fused", shape, layout, dtype),
            lambda infer=infer, r=r: (infer()[0] + r).relu(),
        )
        yield Case(name_of("forward", shape, layout, dtype), forward)
        for how in ("", ", fused"):
            yield Case(name_of(f"+ relu forward{how}", shape, layout, dtype), relu)
            yield Case(name_of(f"+ relu gradient{how}", shape, layout, dtype), gradient)
            yield Case(name_of(f"+ sum + relu forward{how}", shape, layout, dtype), sum_relu)
        yield Case(name_of("+ sum + relu gradient, fused", shape, layout, dtype), gradient)
