"""A sum normalised in one call, and positions turned into a query or key."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor

__all__ = ["add_layer_norm", "add_rms_norm", "rotary_position_embedding"]

_FLOATS = (mstype.float16, mstype.bfloat16, mstype.float32)


def _sum(x1: Tensor, x2: Tensor, name: str) -> Tensor:
    for argument, x in (("x1", x1), ("x2", x2)):
        if tensor(x, argument, name).dtype not in _FLOATS:
            raise TypeError(f"For '{name}', '{argument}' must be float16, bfloat16 or float32, but got {x.dtype}.")
    if x1.shape != x2.shape:
        raise RuntimeError(f"For '{name}', 'x1' and 'x2' must have one shape, but got {x1.shape} and {x2.shape}.")
    return ops.add(x1, x2)


def add_rms_norm(x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple:
    """`rms_norm` of x1 + x2.

    Args:
        x1, x2 (Tensor): floats of one shape.
        gamma (Tensor): the last lengths of that shape.
        epsilon: added to the mean square.

    Returns:
        A tuple (result, 1 / root of the mean square, x1 + x2).

    Raises:
        TypeError: if they hold no floats, or float64.
        RuntimeError: if the shapes of `x1` and `x2` differ.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, -1.0]])
        >>> print(ms.ops.add_rms_norm(x, x, ms.Tensor([1.0, 3.0]), 1e-12)[0])
        [[ 1. -3.]]
    """
    total = _sum(x1, x2, "add_rms_norm")
    return *ops.rms_norm(total, gamma, epsilon), total


def add_layer_norm(
    x1: Tensor, x2: Tensor, gamma: Tensor, beta: Tensor, epsilon: float = 1e-5, additional_output: bool = False
) -> tuple:
    """`layer_norm` of x1 + x2 over the dimensions of gamma.

    Args:
        x1, x2 (Tensor): floats of one shape.
        gamma, beta (Tensor): the last lengths of that shape.
        epsilon: added to the variance.
        additional_output: whether the sum is wanted; it is given anyway, as it costs nothing here.

    Returns:
        A tuple (result, mean, 1 / standard deviation, x1 + x2).

    Raises:
        TypeError: if they hold no floats, or float64.
        RuntimeError: if the shapes of `x1` and `x2` differ.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, -1.0]])
        >>> print(ms.ops.add_layer_norm(x, x, ms.Tensor([1.0, 3.0]), ms.Tensor([0.0, 0.0]), 1e-12)[0])
        [[ 1. -3.]]
    """
    total = _sum(x1, x2, "add_layer_norm")
    first = total.ndim - tensor(gamma, "gamma", "add_layer_norm").ndim
    result, mean, variance = ops.LayerNorm(first, first, epsilon)(total, gamma, beta)
    return result, mean, ops.rsqrt(variance + epsilon), total


def rotary_position_embedding(x: Tensor, cos: Tensor, sin: Tensor, mode: int = 0) -> Tensor:
    """Turn pairs of elements by the angles of their positions.

    Su and others, "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.

    Args:
        x (Tensor): four dimensions, the last of an even length.
        cos, sin (Tensor): broadcast to the shape of `x`.
        mode: 0 pairs an element of the first half with that of the second, 1 pairs neighbours.

    Raises:
        TypeError: if `x`, `cos` or `sin` is no Tensor, or `mode` no int.
        ValueError: if the last length is odd, or `mode` is something else.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[[1.0, 2.0]]]])
        >>> print(ms.ops.rotary_position_embedding(x, ms.ops.zeros_like(x), ms.ops.ones_like(x)))
        [[[[-2.  1.]]]]
    """
    for argument, value in (("x", x), ("cos", cos), ("sin", sin)):
        tensor(value, argument, "rotary_position_embedding")
    if not isinstance(mode, int) or isinstance(mode, bool):
        raise TypeError(f"For 'rotary_position_embedding', 'mode' must be int, but got {type(mode).__name__}.")
    if mode not in (0, 1) or x.shape[-1] % 2:
        raise ValueError(
            "For 'rotary_position_embedding', 'mode' must be 0 or 1 and the last length of 'x' even, but got "
            f"{mode} and {x.shape[-1]}."
        )
    half = x.shape[-1] // 2
    if mode == 0:
        turned = ops.cat((ops.neg(x[..., half:]), x[..., :half]), -1)
    else:
        pairs = x.reshape(*x.shape[:-1], half, 2)
        turned = ops.stack((ops.neg(pairs[..., 1]), pairs[..., 0]), -1).reshape(x.shape)
    return ops.add(ops.mul(x, cos), ops.mul(turned, sin))
