"""Functions of each element, casts, choices and losses, with the gradients that have a pass of their own.

Results are new arrays on both sides. An array has 24 MB, as in memory_bound.py.
"""

from collections.abc import Iterator

import numpy as np

from kernels import Case
from kernels.memory_bound import SHAPE

# Images, for a weight per channel.
IMAGES = (32, 64, 56, 56)
UNARY = ("exp", "log", "sqrt", "sin", "cos", "floor", "negative", "square", "reciprocal", "isnan")
BINARY = ("add", "divide", "maximum", "greater")
OWN = ("erf", "rsqrt", "sign")


def ours() -> Iterator[Case]:
    """NumPy's functions and the project's own, on all threads."""
    from dist_ms._ext import pointwise
    from dist_ms._ext.ufunc_loops import apply

    rng = np.random.default_rng(0)
    x, y, dy = (rng.standard_normal(SHAPE, np.float32) for _ in range(3))
    positive, condition, whole = np.abs(x) + np.float32(0.1), x > 0, (100 * x).astype(np.int32)
    images, weight = rng.standard_normal(IMAGES, np.float32), np.full((IMAGES[1], 1, 1), 0.25, np.float32)
    row, column, half, three = y[0], y[:, :1], np.asarray(0.5, np.float32), np.asarray(3, np.float32)

    def case(name: str, function, *arrays: np.ndarray) -> Case:
        out = apply(function, *arrays)
        return Case(f"elementwise {name}", lambda: apply(function, *arrays), out.nbytes + sum(a.nbytes for a in arrays))

    for name in UNARY:
        own = pointwise if name in ("exp", "log") else np
        yield case(name, getattr(own, name), positive)
    for name in OWN:
        yield case(name, getattr(pointwise, name), positive)
    for name in BINARY:
        yield case(name, getattr(np, name), x, y)
    yield case("add a row", np.add, x, row)
    yield case("add a column", np.add, x, column)
    yield case("int add", np.add, whole, whole)
    yield case("logical and", np.logical_and, condition, condition)
    yield case("logical not", pointwise.logical_not, condition)
    yield case("cube", pointwise.cube, x)
    yield case("power", pointwise.power, positive, y)
    yield case("fmod", pointwise.fmod, x, y)
    yield case("remainder", pointwise.remainder, x, three)
    yield case("clamp", pointwise.clamp, x, -half, half)
    yield case("where", pointwise.select, condition, x, y)
    yield case("where, a number", pointwise.select, condition, x, half)
    yield case("lerp", pointwise.lerp, x, y, half)
    yield case("addcmul", pointwise.multiply_add, x, y, dy)
    yield case("float32 to int32", pointwise.to_int, x)
    yield case("int32 to float32", pointwise.to_float, whole)
    yield case("float32 to float64", pointwise.to_double, x)
    yield case("bool to float32", pointwise.to_float, condition)
    yield case("prelu", pointwise.parametric_relu, images, weight)
    yield case("squared difference", pointwise.squared_difference, x, y)
    yield case("smooth l1", pointwise.smooth_l1, x, y, half)


def torch() -> Iterator[Case]:
    """PyTorch's functions."""
    import torch

    f = torch.nn.functional
    x, y, dy = (torch.randn(SHAPE) for _ in range(3))
    positive, condition, whole = x.abs() + 0.1, x > 0, (100 * x).int()
    images, weight = torch.randn(IMAGES), torch.full(IMAGES[1:2], 0.25)
    row, column = y[0], y[:, :1]
    runs = {name: lambda name=name: getattr(torch, name)(positive) for name in (*UNARY, *OWN)}
    runs |= {name: lambda name=name: getattr(torch, name)(x, y) for name in BINARY}
    runs |= {
        "add a row": lambda: x + row,
        "add a column": lambda: x + column,
        "int add": lambda: whole + whole,
        "logical and": lambda: torch.logical_and(condition, condition),
        "logical not": lambda: torch.logical_not(condition),
        "cube": lambda: x**3,
        "power": lambda: torch.pow(positive, y),
        "fmod": lambda: torch.fmod(x, y),
        "remainder": lambda: torch.remainder(x, 3),
        "clamp": lambda: x.clamp(-0.5, 0.5),
        "where": lambda: torch.where(condition, x, y),
        "where, a number": lambda: torch.where(condition, x, 0.5),
        "lerp": lambda: torch.lerp(x, y, 0.5),
        "addcmul": lambda: torch.addcmul(x, y, dy),
        "float32 to int32": lambda: x.int(),
        "int32 to float32": lambda: whole.float(),
        "float32 to float64": lambda: x.double(),
        "bool to float32": lambda: condition.float(),
        "prelu": lambda: f.prelu(images, weight),
        "squared difference": lambda: f.mse_loss(x, y, reduction="none"),
        "smooth l1": lambda: f.smooth_l1_loss(x, y, reduction="none", beta=0.5),
    }
    yield from (Case(f"elementwise {name}", run) for name, run in runs.items())
