"""Interpolation, and a product or a quotient added to a number: two or three operations in one pass over memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.tape import wanted
from dist_ms.common.tensor import Tensor
from dist_ms.ops.broadcasting import number_array, reduce_to
from dist_ms.ops.elementwise.arithmetic import conjugate, mul, neg, sub
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.kernels import pointwise
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive


class Interpolation(Primitive):
    """start + weight (end - start) of floats of one dtype, with broadcasting; `weight` may be a number."""

    def forward(self, start: np.ndarray, end: np.ndarray, weight: Any) -> np.ndarray:
        if not isinstance(weight, np.ndarray):
            weight = number_array(weight, start.dtype)
        try:
            return apply(pointwise.lerp, start, end, weight)
        except ValueError as error:
            raise mismatch("lerp", error, input=start, end=end, weight=weight) from None

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
        try:
            if input.dtype.kind in "fV":
                return apply(pointwise.multiply_add, input, first, second)
            return apply(np.add, input, apply(np.multiply, first, second))
        except ValueError as error:
            raise mismatch("addcmul", error, input=input, tensor1=first, tensor2=second) from None

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        input, first, second = inputs
        return (
            reduce_to(dout, input) if wanted(input) else None,
            reduce_to(mul(dout, conjugate(second)), first) if wanted(first) else None,
            reduce_to(mul(dout, conjugate(first)), second) if wanted(second) else None,
        )


class DivideAdd(Primitive):
    """input + first / second of floats of one dtype, with broadcasting."""

    keeps = (1, 2)

    def forward(self, input: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        try:
            return apply(pointwise.divide_add, input, first, second)
        except ValueError as error:
            raise mismatch("addcdiv", error, input=input, tensor1=first, tensor2=second) from None

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        input, first, second = inputs
        share = true_divide(dout, second) if wanted(first) or wanted(second) else None
        return (
            reduce_to(dout, input) if wanted(input) else None,
            reduce_to(share, first) if wanted(first) else None,
            reduce_to(mul(neg(share), true_divide(first, second)), second) if wanted(second) else None,
        )


def mismatch(name: str, error: ValueError, **arrays: np.ndarray) -> ValueError:
    """The error to raise when operands do not broadcast (or `error` if that is not the trouble)."""
    try:
        np.broadcast_shapes(*[a.shape for a in arrays.values()])
    except ValueError:
        found = ", ".join(f"'{argument}' {a.shape}" for argument, a in arrays.items())
        return ValueError(
            f"For '{name}', the shapes of the operands must broadcast: each pair of dimensions must be equal or hold "
            f"a 1, but got {found}."
        )
    return error


interpolation, multiply_add, divide_add = Interpolation(), MultiplyAdd(), DivideAdd()
