"""Activation functions in PyTorch's form; `inplace` and a trailing underscore write into the input."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.error_classes import scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating_tensor, integer, tensor

__all__ = [
    "elu",
    "elu_",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "selu",
    "sigmoid",
    "sigmoid_",
    "silu",
    "softmax",
    "softplus",
    "softshrink",
    "tanh",
    "threshold",
    "threshold_",
]

gelu = ops.gelu
hardshrink = ops.hardshrink
hardsigmoid = ops.hardsigmoid
hardswish = ops.hardswish
prelu = ops.prelu
sigmoid = ops.sigmoid
softplus = ops.softplus
softshrink = ops.softshrink
tanh = ops.tanh


def _placed(input: Tensor, out: Tensor, inplace: bool) -> Tensor:
    """The result, or the input that holds it from now on."""
    return input.copy_(out) if inplace else out


def _in_place(name: str, inplace: Any) -> bool:
    """Whether to write into the input; what Python takes for True must be a bool.

    Raises:
        RuntimeError: otherwise.
    """
    if inplace and not isinstance(inplace, bool):
        raise RuntimeError(f"For '{name}', 'inplace' must be a bool, but got {type(inplace).__name__} {inplace!r}.")
    return bool(inplace)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`ops.relu`, with `inplace`."""
    return _placed(input, ops.relu(input), _in_place("relu", inplace))


def relu_(input: Tensor) -> Tensor:
    """`ops.relu` into its input."""
    return relu(input, True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`ops.relu6`, with `inplace`."""
    return _placed(input, ops.relu6(input), inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Input where it is positive, else alpha (exp(input) - 1); alpha may be any number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.elu(ms.Tensor([-1.0, 2.0]), alpha=2.0))
        [-1.2642411  2.       ]
    """
    out = ops.elu(input)
    if alpha != 1:
        out = ops.where(ops.gt(input, 0), input, ops.mul(out, alpha))
    return _placed(input, out, inplace)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu` into its input."""
    return elu(input, alpha, True)


def selu(input: Tensor) -> Tensor:
    """`ops.selu`, with its argument named `input`."""
    return ops.selu(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`ops.silu`, with `inplace`."""
    return _placed(input, ops.silu(input), _in_place("silu", inplace))


def mish(input: Tensor) -> Tensor:
    """`ops.mish`, with its argument named `input`."""
    return ops.mish(input)


def sigmoid_(input: Tensor) -> Tensor:
    """`ops.sigmoid` into its input."""
    return _placed(input, ops.sigmoid(input), True)


def logsigmoid(input: Tensor) -> Tensor:
    """`ops.logsigmoid`, with its argument named `input`."""
    return ops.logsigmoid(input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """`ops.hardtanh`, with `inplace`."""
    return _placed(input, ops.hardtanh(input, min_val, max_val), inplace)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`ops.hardtanh` into its input."""
    return hardtanh(input, min_val, max_val, True)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`ops.threshold`, with `inplace`.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 3.0])
        >>> _ = ms.mint.nn.functional.threshold(x, 2.0, 9.0, inplace=True)
        >>> print(x)
        [9. 3.]
    """
    return _placed(input, ops.threshold(input, threshold, value), inplace)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`ops.threshold` into its input."""
    return _placed(input, ops.threshold(input, threshold, value), True)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """`ops.leaky_relu`, with the slope named `negative_slope`, 0.01 if not given."""
    return ops.leaky_relu(input, negative_slope)


@scalars("dim")
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """`ops.glu`, with the axis named `dim`.

    Raises:
        TypeError: if `input` holds no floats, or `dim` is no int.
        IndexError: if there is no such dimension.
        RuntimeError: if its length is odd, or `input` a scalar.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.glu(ms.Tensor([2.0, 0.0])))
        [1.]
    """
    shape, dim = floating_tensor(input, "input", "glu").shape, integer(dim, "dim", "glu")
    if shape and not -len(shape) <= dim < len(shape):
        raise IndexError(f"For 'glu', 'dim' must be in the range [{-len(shape)}, {len(shape)}), but got {dim}.")
    if not shape or shape[dim] % 2:
        raise RuntimeError(f"For 'glu', 'input' must have an even length along 'dim' {dim}, but got the shape {shape}.")
    return ops.glu(input, dim)


def _softmax_dim(ndim: int) -> int:
    """The dimension PyTorch takes when none is named."""
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """`ops.softmax`, with the axis named `dim`: None for 0 where the input has 0, 1 or 3 dimensions, else 1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.softmax(ms.ops.zeros((2, 1, 1)))[:, 0, 0])
        [0.5 0.5]
    """
    if not tensor(input, "input", "softmax").ndim:  # one number is a row of its own
        return ops.reshape(softmax(ops.reshape(input, (1,)), dim, dtype), ())
    return ops.softmax(input, _softmax_dim(input.ndim) if dim is None else dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """`ops.log_softmax`, with the arguments of `softmax`."""
    x = input if dtype is None else ops.cast(input, dtype)
    return ops.log_softmax(x, _softmax_dim(input.ndim) if dim is None else dim)
