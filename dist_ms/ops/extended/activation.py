"""Activation functions in PyTorch's form; `inplace` and a trailing underscore write into the input."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor

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


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.relu(ms.Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    return _placed(input, ops.relu(input), inplace)


def relu_(input: Tensor) -> Tensor:
    """`relu` into its input.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.relu_(ms.Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    return relu(input, True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(input, 0), 6).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.relu6(ms.Tensor([-1.0, 8.0])))
        [0. 6.]
    """
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
    """`elu` into its input.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.elu_(ms.Tensor([2.0])))
        [2.]
    """
    return elu(input, alpha, True)


def selu(input: Tensor) -> Tensor:
    """The self-normalising scaled `elu`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.selu(ms.Tensor([0.0])))
        [0.]
    """
    return ops.selu(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Input sigmoid(input).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.silu(ms.Tensor([0.0])))
        [0.]
    """
    return _placed(input, ops.silu(input), inplace)


def mish(input: Tensor) -> Tensor:
    """Input tanh(softplus(input)).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.mish(ms.Tensor([0.0])))
        [0.]
    """
    return ops.mish(input)


def sigmoid_(input: Tensor) -> Tensor:
    """`sigmoid` into its input.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.sigmoid_(ms.Tensor([0.0])))
        [0.5]
    """
    return _placed(input, ops.sigmoid(input), True)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.logsigmoid(ms.Tensor([0.0])))
        [-0.6931472]
    """
    return ops.logsigmoid(input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Input kept between two numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.hardtanh(ms.Tensor([-3.0, 0.5])))
        [-1.   0.5]
    """
    return _placed(input, ops.hardtanh(input, min_val, max_val), inplace)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh` into its input.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.hardtanh_(ms.Tensor([-3.0, 0.5])))
        [-1.   0.5]
    """
    return hardtanh(input, min_val, max_val, True)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Input where it is above the threshold, else `value`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.threshold(ms.Tensor([1.0, 3.0]), 2.0, 9.0))
        [9. 3.]
    """
    return _placed(input, ops.threshold(input, threshold, value), inplace)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold` into its input.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.threshold_(ms.Tensor([1.0, 3.0]), 2.0, 9.0))
        [9. 3.]
    """
    return _placed(input, ops.threshold(input, threshold, value), True)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Input where it is positive, else negative_slope input.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.leaky_relu(ms.Tensor([-1.0, 2.0])))
        [-0.01  2.  ]
    """
    return ops.leaky_relu(input, negative_slope)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a sigmoid(b), where a and b are the halves of the input along a dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.glu(ms.Tensor([1.0, 0.0])))
        [0.5]
    """
    return ops.glu(input, dim)


def _softmax_dim(ndim: int) -> int:
    """The dimension PyTorch takes when none is named."""
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """exp(input) over its sum along a dimension.

    Args:
        input: floats.
        dim: the dimension; None for 0 where the input has 0, 1 or 3 dimensions, else 1.
        dtype: what the input is cast to first.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.softmax(ms.Tensor([1.0, 1.0])))
        [0.5 0.5]
    """
    return ops.softmax(input, _softmax_dim(input.ndim) if dim is None else dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """The logarithm of `softmax`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.log_softmax(ms.Tensor([1.0, 1.0])))
        [-0.6931472 -0.6931472]
    """
    x = input if dtype is None else ops.cast(input, dtype)
    return ops.log_softmax(x, _softmax_dim(input.ndim) if dim is None else dim)
