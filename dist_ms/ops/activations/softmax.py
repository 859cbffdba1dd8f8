"""Softmax and LogSoftmax over one axis, with their gradients."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.autograd.tape import stop_gradient
from dist_ms.common.checks import check_float
from dist_ms.common.dtype import float32
from dist_ms.common.error_classes import plain, scalars
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.creating.casting import cast
from dist_ms.ops.drawing_numbers.drawing import uniform
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import softmax as kernels
from dist_ms.ops.kernels import softmax_lines as line_kernels
from dist_ms.ops.layout import AroundAxis, contiguous, converted, empty, working_type
from dist_ms.ops.primitive import Primitive

__all__ = ["LogSoftmax", "Softmax", "gumbel_softmax", "log_softmax", "softmax", "softmin"]


# Numbers, and lines side by side, from which on those are not made rows first.
_LEAST, _LEAST_INNER = 2048, 16
# Length of a line of 16-bit floats from which on the kernel's scratch memory would be as large as a copy.
_LONGEST = 1 << 16


def _rows(x: np.ndarray, axis: int) -> np.ndarray:
    """`x` as a matrix whose rows run along `axis`."""
    if x.ndim == 0:
        return x.reshape(1, 1)
    moved = x if axis == x.ndim - 1 else np.moveaxis(x, axis, -1)
    columns = moved.shape[-1]
    return contiguous(moved).reshape(x.size // columns if columns else 0, columns)


def _unrow(rows: np.ndarray, like: np.ndarray, axis: int) -> np.ndarray:
    """The inverse of `_rows`, in the shape of `like`."""
    if axis == like.ndim - 1 or like.ndim == 0:
        return rows.reshape(like.shape)
    shape = like.shape[:axis] + like.shape[axis + 1 :] + like.shape[axis : axis + 1]
    return np.moveaxis(rows.reshape(shape), -1, axis)


def _forward(kernel: str, x: np.ndarray, axis: int, to: np.dtype) -> np.ndarray:
    if axis == x.ndim - 1 == 1 and x.flags.c_contiguous:
        out = empty(x.shape, to)
        getattr(kernels, kernel)(x, out)
        return out
    if x.size >= _LEAST and kernel != "stepwise_softmax_forward" and (axis < x.ndim - 1 or not x.flags.c_contiguous):
        around = AroundAxis(x, axis)
        if around.lines.shape[2] >= _LEAST_INNER:
            lines = (
                around.lines if around.lines.shape[1] <= _LONGEST else converted(around.lines, working_type(x.dtype))
            )
            out = np.empty(lines.shape, to if lines is around.lines else lines.dtype)
            getattr(line_kernels, kernel)(lines, out)
            return converted(around.shaped(out), to)
    rows = _rows(x, axis)
    out = empty(rows.shape, to)
    getattr(kernels, kernel)(rows, out)
    return _unrow(out, x, axis)


def _backward(kernel: str, dy: np.ndarray, y: np.ndarray, axis: int, to: np.dtype) -> np.ndarray:
    if y.size >= _LEAST and (axis < y.ndim - 1 or not y.flags.c_contiguous):
        around = AroundAxis(y, axis)
        if around.lines.shape[2] >= _LEAST_INNER:
            out = np.empty(around.lines.shape, to)
            getattr(line_kernels, kernel)(around.beside(dy), around.lines, out)
            return around.shaped(out)
    dy_rows, y_rows = _rows(dy, axis), _rows(y, axis)
    out = empty(dy_rows.shape, to)
    getattr(kernels, kernel)(dy_rows, y_rows, out)
    return _unrow(out, dy, axis)


class _Normalising(Primitive):
    """What Softmax and LogSoftmax share: the type of their result."""

    keeps = ()
    keeps_output = True
    _widens = False

    def widening(self) -> _Normalising:
        """The same with a float32 result of 16-bit numbers: a cast before it is part of it."""
        wide = copy.copy(self)
        wide._widens = True
        return wide

    def _result_type(self, x: np.ndarray) -> np.dtype:
        return working_type(x.dtype) if self._widens else x.dtype


class _NormalisingGrad(Primitive):
    """What their gradients share.

    Args:
        axis: along which rows run.
        to: the type of the result.
    """

    _formula: Callable[..., Any]

    def __init__(self, axis: int, to: Any) -> None:
        self._axis, self._to = axis, to

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        def formula(dy: Tensor, y: Tensor) -> Tensor:
            return ops.cast(self._formula(dy, y), self._to)

        return tuple(formula_gradient(formula, inputs, dout))


@plain("axis")
class Softmax(_Normalising):
    """`softmax` as a primitive: `Softmax(axis)(input)`.

    Args:
        axis: an int, or a tuple of one.

    Raises:
        RuntimeError: if there are several axes.
    """

    def __init__(self, axis: Any = -1) -> None:
        axes = axis if isinstance(axis, tuple) else (axis,)
        self.axis = tuple([arguments.integer(a, "axis", "Softmax") for a in axes])

    def forward(self, input: Any) -> np.ndarray:
        arguments.floating(input, "input", self.name, complex_too=False)
        axis = self._one(input.ndim)
        if not input.ndim:
            raise ValueError(f"For '{self.name}', 'input' must have at least 1 dimension, but got a scalar.")
        kernel = "softmax_forward"
        if input.dtype == np.float16 and not self._widens:
            kernel = "stepwise_softmax_forward"  # as MindSpore rounds it
        return _forward(kernel, input, axis, self._result_type(input))

    def _one(self, ndim: int) -> int:
        if len(self.axis) != 1:
            for axis in self.axis:
                arguments.one_axis(axis, "axis", self.name, ndim)
            raise RuntimeError(
                f"For 'Softmax', 'axis' must be one axis, but got {self.axis}; reshape the input so "
                "that they become one."
            )
        return arguments.one_axis(self.axis[0], "axis", self.name, ndim)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return SoftmaxGrad(self._one(output.ndim), inputs[0].dtype)(dout, output)


class SoftmaxGrad(_NormalisingGrad):
    """y (dy - sum(dy y)), sums over an axis."""

    def forward(self, dy: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _backward("softmax_backward", dy, y, self._axis, self._to.np)

    def _formula(self, dy: Tensor, y: Tensor) -> Tensor:
        return y * (dy - ops.ReduceSum(keep_dims=True)(dy * y, self._axis))


@scalars("axis")
class LogSoftmax(_Normalising):
    """`log_softmax` as a primitive: `LogSoftmax(axis)(logits)`."""

    def __init__(self, axis: int = -1) -> None:
        self.axis = arguments.integer(axis, "axis", "LogSoftmax")

    def forward(self, logits: Any) -> np.ndarray:
        arguments.floating(logits, "logits", self.name, complex_too=False)
        axis = arguments.one_axis(self.axis, "axis", self.name, logits.ndim)
        return _forward("log_softmax_forward", logits, axis, self._result_type(logits))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return LogSoftmaxGrad(arguments.one_axis(self.axis, "axis", self.name, output.ndim), inputs[0].dtype)(
            dout, output
        )


class LogSoftmaxGrad(_NormalisingGrad):
    """dy - exp(y) sum(dy), the sum over an axis."""

    def forward(self, dy: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _backward("log_softmax_backward", dy, y, self._axis, self._to.np)

    def _formula(self, dy: Tensor, y: Tensor) -> Tensor:
        return dy - ops.exp(y) * ops.ReduceSum(keep_dims=True)(dy, self._axis)


_softmax, _log_softmax = Softmax(), LogSoftmax()


@plain("axis")
def softmax(input: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """Return exp(x) / sum(exp(x)) over an axis.

    Args:
        input: floats.
        axis: the axis.
        dtype: cast the input to this type first.

    Returns:
        Tensor of the shape of `input`; along `axis` it sums to 1.

    Raises:
        TypeError: if `axis` is no int, or `input` holds no floats.
        ValueError: if there is no such axis.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.softmax(ms.Tensor([1.0, 1.0])))
        [0.5 0.5]
    """
    input = _cast("softmax", input, dtype)
    if type(axis) is not int:
        axis = arguments.integer(axis, "axis", "softmax")
    return _softmax(input) if axis == -1 else Softmax(axis)(input)


def _cast(name: str, input: Any, dtype: Any) -> Tensor:
    """The input in another type, if one is given."""
    if dtype is None:
        return input
    return cast(arguments.tensor(input, "input", name), dtype)


def softmin(x: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """Return exp(-x) / sum(exp(-x)) over an axis.

    Args:
        x: floats.
        axis: the axis.
        dtype: cast the input to this type first.

    Returns:
        Tensor of the shape of `x`; along `axis` it sums to 1.

    Raises:
        TypeError: if `axis` is no int, or `x` holds no floats.
        ValueError: if there is no such axis.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.softmin(ms.Tensor([1.0, 1.0])))
        [0.5 0.5]
    """
    for one in axis if isinstance(axis, tuple) else ():
        arguments.one_axis(one, "axis", "softmin", arguments.tensor(x, "x", "softmin").ndim)
    return softmax(-_cast("softmin", arguments.tensor(x, "x", "softmin"), dtype), axis)


def log_softmax(logits: Tensor, axis: int = -1) -> Tensor:
    """Return x - log(sum(exp(x))) over an axis.

    Args:
        logits: floats.
        axis: the axis.

    Returns:
        Tensor of the shape of `logits`.

    Raises:
        TypeError: if `axis` is no int, or `logits` holds no floats.
        ValueError: if there is no such axis.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.log_softmax(ms.Tensor([1.0, 1.0])))
        [-0.6931472 -0.6931472]
    """
    if type(axis) is not int:
        arguments.integer(axis, "axis", "log_softmax")
    return _log_softmax(logits) if axis == -1 else LogSoftmax(axis)(logits)


@plain("dim")
def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """Draw from the Gumbel-Softmax distribution.

    Jang, Gu and Poole, "Categorical Reparameterization with Gumbel-Softmax", 2016:
    softmax((logits + g) / tau) with g = -log(-log(u)), u uniform.

    Args:
        logits: float16 or float32 numbers.
        tau: temperature, above 0.
        hard: return one-hot vectors, with the gradient of the soft ones.
        dim: the axis.

    Returns:
        Tensor of the shape of `logits`.

    Raises:
        TypeError: if `logits` holds no floats, or an argument has the wrong type.
        ValueError: if `tau` is not above 0, or there is no such axis.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.gumbel_softmax(ms.Tensor([[0.0], [1.0]])))
        [[1.]
         [1.]]
    """
    check_float(tau, "tau", "gumbel_softmax")
    data = arguments.floating(
        arguments.tensor(logits, "logits", "gumbel_softmax").array(), "logits", "gumbel_softmax", complex_too=False
    )
    arguments.boolean(hard, "hard", "gumbel_softmax")
    if arguments.number(tau, "tau", "gumbel_softmax") <= 0:
        raise ValueError(f"For 'gumbel_softmax', 'tau' must be above 0, but got {tau}.")
    dim = arguments.one_axis(dim, "dim", "gumbel_softmax", data.ndim)
    drawn = uniform(data.shape, Tensor(0.0, float32), Tensor(1.0, float32)).array()
    noise = -np.log(-np.log(np.maximum(drawn, np.finfo(np.float32).tiny))).astype(data.dtype)
    soft = softmax((logits + wrap(noise)) / tau, dim)
    if not hard:
        return soft
    largest = np.expand_dims(np.argmax(soft.array(), axis=dim), dim)
    one_hot = np.zeros(data.shape, data.dtype)
    np.put_along_axis(one_hot, largest, np.ones((), data.dtype), axis=dim)
    return wrap(one_hot) - stop_gradient(soft) + soft
