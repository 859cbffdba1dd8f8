"""Base class of the activations that are entries of one kernel (`_ext/activation`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.activations.activation import run, run_gradient
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.primitive import Primitive


class Elementwise(Primitive):
    """A function of each element that the kernel knows by name.

    Integers are refused unless `integers` is set; they and 16-bit floats are computed with in float32.

    Attributes:
        function: the kernel's name for it.
        options: the kernel's options.
        integers: whether real numbers of any type are taken.
    """

    function = ""
    integers = False
    _options: tuple = ()

    def forward(self, input: Any) -> np.ndarray:
        if self.integers:
            arguments.real(input, "input", self.name)
        else:
            arguments.floating(input, "input", self.name, complex_too=False)
        return run("forward", input, self.function, *self._options)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return ElementwiseGrad(self)(dout, inputs[0])

    def derivative(self, x: Tensor) -> Tensor | None:
        """The derivative at `x` in operations, None if it is constant but for jumps."""
        return None


class ElementwiseGrad(Primitive):
    """dy times the derivative of an activation at x."""

    def __init__(self, activation: Elementwise) -> None:
        self._activation = activation

    def forward(self, dy: np.ndarray, x: np.ndarray) -> np.ndarray:
        return run_gradient("backward", dy, x, self._activation.function, *self._activation._options)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        dy, x = inputs
        if type(self._activation).derivative is Elementwise.derivative:
            return self(dout, x), None
        return tuple(formula_gradient(lambda dy, x: dy * self._activation.derivative(x), (dy, x), dout))
