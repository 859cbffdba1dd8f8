"""ReLU, GELU, sigmoid and tanh: activations with a kernel, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.autograd.tape import overwrite
from dist_ms.common.error_classes import raises
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import activation
from dist_ms.ops.layers.postponed_norm import mask_later
from dist_ms.ops.layout import converted, dense, empty_like, kernel_type, laid_out_like
from dist_ms.ops.primitive import Primitive, quiet

__all__ = ["GeLU", "Gelu", "ReLU", "Sigmoid", "Tanh", "gelu", "relu", "sigmoid", "tanh"]


def run(kernel: str, x: np.ndarray, *options: Any) -> np.ndarray:
    """Apply an elementwise kernel in the layout of `x`; integers are computed with in float32."""
    work = dense(x, kernel_type(x.dtype))
    out = empty_like(work)
    getattr(activation, kernel)(work, out, *options)
    return converted(out, x.dtype)


def run_gradient(kernel: str, dy: np.ndarray, kept: np.ndarray, *options: Any) -> np.ndarray:
    """Apply a gradient kernel in the layout of `kept`."""
    kept = dense(kept, kernel_type(kept.dtype))
    out = empty_like(kept)
    getattr(activation, kernel)(laid_out_like(dy, kept), kept, out, *options)
    return converted(out, dy.dtype)


class ReLU(Primitive):
    """`relu` as a primitive: `ReLU()(input)`."""

    joins = "relu"
    keeps = ()
    keeps_output = True

    def forward(self, input: Any) -> np.ndarray:
        arguments.real(input, "input", self.name)
        if input.dtype.kind in "fV":
            return run("relu_forward", input)
        return input.copy() if input.dtype.kind in "bu" else np.maximum(input, 0, dtype=input.dtype)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        waits = mask_later(_relu_grad, inputs[0], output, dout) if inputs[0]._node is not None else None
        return _relu_grad(dout, output) if waits is None else waits


class ReluGrad(Primitive):
    """dy where y > 0, else 0."""

    keeps = (1,)

    def forward(self, dy: np.ndarray, y: np.ndarray) -> np.ndarray:
        if y.dtype.kind not in "fV":
            return np.where(y > 0, dy, np.zeros((), dy.dtype))
        return run_gradient("relu_backward", dy, y)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return _relu_grad(dout, inputs[1]), None


class Sigmoid(Primitive):
    """`sigmoid` as a primitive: `Sigmoid()(input)`."""

    keeps = ()
    keeps_output = True

    @quiet
    def forward(self, input: Any) -> np.ndarray:
        arguments.floating(input, "input", self.name)
        return 1 / (1 + np.exp(-input)) if input.dtype.kind == "c" else run("sigmoid_forward", input)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return _sigmoid_grad(dout, output)


class SigmoidGrad(Primitive):
    """dy y (1 - y)."""

    def forward(self, dy: np.ndarray, y: np.ndarray) -> np.ndarray:
        if y.dtype.kind == "c":
            return dy * np.conj(y * (1 - y))
        return run_gradient("sigmoid_backward", dy, y)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        dy, y = inputs
        return _sigmoid_grad(dout, y), dout * dy * (1 - 2 * y) if wanted(y) else None


class Tanh(Primitive):
    """`tanh` as a primitive: `Tanh()(input)`."""

    keeps = ()
    keeps_output = True

    def forward(self, input: Any) -> np.ndarray:
        arguments.floating(input, "input", self.name)
        return np.tanh(input) if input.dtype.kind == "c" else run("tanh_forward", input)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return _tanh_grad(dout, output)


class TanhGrad(Primitive):
    """dy (1 - y^2)."""

    def forward(self, dy: np.ndarray, y: np.ndarray) -> np.ndarray:
        if y.dtype.kind == "c":
            return dy * np.conj(1 - y * y)
        return run_gradient("tanh_backward", dy, y)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        dy, y = inputs
        return _tanh_grad(dout, y), -2 * dout * dy * y if wanted(y) else None


class GeLU(Primitive):
    """x P(X <= x) for a standard normal X, by MindSpore's default formula with tanh.

    0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks and Gimpel, "Gaussian Error
    Linear Units", 2016.

    Args:
        approximate: "tanh" for the formula above, "none" for the exact one with erf.

    Call:
        input (Tensor): floats.

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if `approximate` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.GeLU()(ms.Tensor([0.0, 100.0])))
        [  0. 100.]
    """

    def __init__(self, approximate: str = "tanh") -> None:
        self._tanh = arguments.one_of(approximate, "approximate", "gelu", ("none", "tanh")) == "tanh"

    def forward(self, input: Any) -> np.ndarray:
        arguments.floating(input, "input", self.name, complex_too=False)
        return run("gelu_forward", input, self._tanh)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return (_gelu_tanh_grad if self._tanh else _gelu_grad)(dout, inputs[0])


Gelu = GeLU


class GeLUGrad(Primitive):
    """dy times the derivative of GELU at x."""

    def __init__(self, tanh: bool) -> None:
        self._tanh = tanh

    def forward(self, dy: np.ndarray, x: np.ndarray) -> np.ndarray:
        return run_gradient("gelu_backward", dy, x, self._tanh)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return tuple(formula_gradient(self._formula, inputs, dout))

    def _formula(self, dy: Tensor, x: Tensor) -> Tensor:
        if self._tanh:
            slope = 0.7978845608028654
            t = tanh(slope * (x + 0.044715 * x * x * x))
            return dy * 0.5 * (1 + t + x * (1 - t * t) * slope * (1 + 3 * 0.044715 * x * x))
        density = 0.3989422804014327 * ops.exp(-0.5 * x * x)
        return dy * (0.5 * (1 + ops.erf(x * 0.7071067811865476)) + x * density)


_relu, _sigmoid, _tanh, _gelu, _gelu_tanh = ReLU(), Sigmoid(), Tanh(), GeLU("none"), GeLU()
_relu_grad, _sigmoid_grad, _tanh_grad = ReluGrad(), SigmoidGrad(), TanhGrad()
_gelu_grad, _gelu_tanh_grad = GeLUGrad(False), GeLUGrad(True)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return max(input, 0), element by element.

    Args:
        input: real numbers.
        inplace: let `input` become the result as well.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` is complex or no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.relu(ms.Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    if inplace and not isinstance(inplace, bool):
        raise RuntimeError(f"For 'relu', 'inplace' must be a bool, but got {type(inplace).__name__} {inplace!r}.")
    out = _relu(input)
    if not inplace:
        return out
    if isinstance(input, Parameter):
        input.overwrite(out.array())
        return input
    return overwrite(input, out)


def sigmoid(input: Tensor) -> Tensor:
    """Return 1 / (1 + exp(-input)), element by element.

    Args:
        input: floats or complex numbers.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` holds integers or is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sigmoid(ms.Tensor([0.0])))
        [0.5]
    """
    return _sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent, element by element.

    Args:
        input: floats or complex numbers.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` holds integers or is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.tanh(ms.Tensor([0.0])))
        [0.]
    """
    return _tanh(input)


@raises(approximate=ValueError)
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return x P(X <= x) for a standard normal X.

    Args:
        input: floats.
        approximate: "none" for the exact formula 0.5 x (1 + erf(x / sqrt(2))), "tanh" for
            0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks and Gimpel, "Gaussian
            Error Linear Units", 2016.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if `approximate` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.gelu(ms.Tensor([0.0, 100.0])))
        [  0. 100.]
    """
    arguments.one_of(approximate, "approximate", "gelu", ("none", "tanh"))
    return _gelu_tanh(input) if approximate == "tanh" else _gelu(input)
