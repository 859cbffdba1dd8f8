"""Base classes of the activations without a kernel of their own: NumPy values, gradients in operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.layout import working_type
from dist_ms.ops.primitive import Primitive, Undifferentiable, quiet


class Smooth(Primitive):
    """An activation given by `value` on arrays and `derivative` in operations.

    Integers are refused unless `integers` is set; 16-bit floats are computed in float32.
    """

    integers = False

    @quiet
    def forward(self, input: Any) -> np.ndarray:
        if self.integers:
            arguments.real(self.name, input)
        else:
            arguments.floating(self.name, input, complex_too=False)
        out = self.value(input.astype(working_type(input.dtype), copy=False))
        return out.astype(input.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return dout * self.derivative(inputs[0])

    def value(self, x: np.ndarray) -> np.ndarray:
        """The function of a float32 or float64 array."""
        raise NotImplementedError(f"For '{self.name}', value is not defined.")

    def derivative(self, x: Tensor) -> Tensor:
        """The derivative at `x`, made of operations."""
        raise NotImplementedError(f"For '{self.name}', derivative is not defined.")


class PiecewiseLinear(Smooth):
    """An activation of straight pieces: `slope` on arrays is its derivative, which has none itself."""

    def derivative(self, x: Tensor) -> Tensor:
        return _Slope(self)(x)

    def slope(self, x: np.ndarray) -> np.ndarray:
        """The derivative of a float32 or float64 array."""
        raise NotImplementedError(f"For '{self.name}', slope is not defined.")


class _Slope(Undifferentiable):
    """The derivative of a piecewise linear activation: constant but for jumps."""

    def __init__(self, activation: PiecewiseLinear) -> None:
        self._activation = activation

    def forward(self, x: np.ndarray) -> np.ndarray:
        slope = self._activation.slope(x.astype(working_type(x.dtype), copy=False))
        return slope.astype(x.dtype, copy=False)
