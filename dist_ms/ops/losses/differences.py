"""Losses of the difference of two tensors, element by element, and their gradients, each in one pass over memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.tensor import Tensor
from dist_ms.ops.broadcasting import Binary, number_array, promote, reduce_to
from dist_ms.ops.elementwise.arithmetic import mul, neg
from dist_ms.ops.kernels import pointwise
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive


class AbsoluteDifference(Binary):
    """|input - other| of floats, with broadcasting; its gradient is 0 where they are equal."""

    def forward(self, input: Any, other: Any) -> np.ndarray:
        return apply(pointwise.absolute_difference, *promote(input, other))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        dx = _absolute_difference_grad(x, y, dout)
        return reduce_to(dx, x), reduce_to(neg(dx), y) if wanted(y) else None


class AbsoluteDifferenceGrad(Primitive):
    """dout times the sign of x - y."""

    def forward(self, x: Any, y: Any, dout: np.ndarray) -> np.ndarray:
        return apply(pointwise.absolute_difference_gradient, *promote(x, y), dout)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y, given = inputs
        return None, None, reduce_to(self(x, y, dout), given)


class SmoothL1(Primitive):
    """0.5 d^2 / beta where d = |x - y| is below beta, else d - 0.5 beta, of floats of one dtype and shape."""

    def forward(self, x: np.ndarray, y: np.ndarray, beta: float) -> np.ndarray:
        return apply(pointwise.smooth_l1, x, y, number_array(beta, x.dtype))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y, beta = inputs
        dx = mul(dout, _smooth_l1_slope(x, y, beta))
        return dx, neg(dx) if wanted(y) else None, None


class SmoothL1Slope(Primitive):
    """The derivative of `SmoothL1` with respect to x: (x - y) / beta, but at most 1 and at least -1."""

    def forward(self, x: np.ndarray, y: np.ndarray, beta: float) -> np.ndarray:
        return apply(pointwise.smooth_l1_slope, x, y, number_array(beta, x.dtype))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y, beta = inputs
        dx = ops.select(ops.abs(x - y) < beta, dout * (1 / beta), 0.0)
        return dx, neg(dx), None


absolute_difference, smooth_l1 = AbsoluteDifference(), SmoothL1()
_absolute_difference_grad, _smooth_l1_slope = AbsoluteDifferenceGrad(), SmoothL1Slope()
