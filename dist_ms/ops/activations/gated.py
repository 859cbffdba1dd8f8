"""Activations whose one half gates the other. MindSpore has no CPU kernel of swiglu."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating, one_axis, tensor

__all__ = ["swiglu"]


def swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """Return silu(a) b for the two halves (a, b) of a tensor along a dimension.

    Args:
        input: a Tensor of floats.
        dim: the dimension, of even length.

    Raises:
        TypeError: if `input` holds no floats or `dim` is no int.
        ValueError: if there is no such dimension.
        RuntimeError: if its length is odd.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.swiglu(ms.Tensor([1.0, 2.0])).asnumpy().round(4))
        [1.4621]
    """
    data = floating(tensor(input, "input", "swiglu").array(), "input", "swiglu")
    axis = one_axis(dim, "dim", "swiglu", data.ndim)
    if data.shape[axis] % 2:
        raise RuntimeError(f"For 'swiglu', the length of 'dim' must be even, but got {data.shape[axis]}.")
    a, b = ops.split(input, data.shape[axis] // 2, axis) if data.shape[axis] else (input, input)
    return ops.mul(ops.silu(a), b)
