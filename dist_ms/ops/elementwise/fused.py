"""Interpolation and a product added to a sum: two or three operations in one pass over memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops.broadcasting import number_array, reduce_to
from dist_ms.ops.elementwise.arithmetic import conjugate, mul, sub
from dist_ms.ops.kernels import pointwise
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive, wanted


class Interpolation(Primitive):
    """start + weight (end - start) of floats of one dtype, with broadcasting; `weight` may be a number."""

    def forward(self, start: np.ndarray, end: np.ndarray, weight: Any) -> np.ndarray:
        if not isinstance(weight, np.ndarray):
            weight = number_array(weight, start.dtype)
        check_shapes("lerp", input=start, end=end, weight=weight)
        return apply(pointwise.lerp, start, end, weight)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        start, end, weight = inputs
        at_end = mul(dout, weight)
        return (
            reduce_to(sub(dout, at_end), start) if wanted(start) else None,
            reduce_to(at_end, end) if wanted(end) else None,
            reduce_to(mul(dout, sub(end, start)), weight) if wanted(weight) else None,
        )


class MultiplyAdd(Primitive):
    """input + first second of numbers of one dtype, with broadcasting."""

    keeps = (1, 2)

    def forward(self, input: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        check_shapes("addcmul", input=input, tensor1=first, tensor2=second)
        if input.dtype.kind in "fV":
            return apply(pointwise.multiply_add, input, first, second)
        return apply(np.add, input, apply(np.multiply, first, second))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        input, first, second = inputs
        return (
            reduce_to(dout, input) if wanted(input) else None,
            reduce_to(mul(dout, conjugate(second)), first) if wanted(first) else None,
            reduce_to(mul(dout, conjugate(first)), second) if wanted(second) else None,
        )


def check_shapes(name: str, **arrays: np.ndarray) -> None:
    """Require shapes that broadcast."""
    try:
        np.broadcast_shapes(*[a.shape for a in arrays.values()])
    except ValueError:
        found = ", ".join(f"'{argument}' {a.shape}" for argument, a in arrays.items())
        raise ValueError(
            f"For '{name}', the shapes of the operands must broadcast: each pair of dimensions must be equal or hold "
            f"a 1, but got {found}."
        ) from None


interpolation, multiply_add = Interpolation(), MultiplyAdd()
