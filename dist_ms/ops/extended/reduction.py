"""Sums, means, extremes and the like over dimensions, with PyTorch's `dim` and `keepdim`."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.dtype import bool_, int64
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, integers, scalar, tensor
from dist_ms.ops.extended import activation

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "logsumexp",
    "max",
    "mean",
    "median",
    "min",
    "nansum",
    "prod",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]

argmax = ops.argmax
cumprod = ops.cumprod
logsumexp = ops.logsumexp
sum = ops.sum


def _axes(dim: Any) -> Any:
    """The dimensions as `ops` takes them: lists are tuples there, and Tensors ints."""
    if isinstance(dim, Tensor):
        return integers(dim, "dim", "mint")
    return tuple(dim) if isinstance(dim, list) else dim


def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """`ops.all`, over all dimensions or those in `dim`, an int, tuple or list."""
    return ops.all(input, _axes(dim), keepdim)


def any(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """`ops.any`, over all dimensions, or over one, which may stay with length 1.

    Raises:
        TypeError: if `dim` is no int, or `keepdim` set without it.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.any(ms.Tensor([[False, True], [False, False]]), 1))
        [ True False]
    """
    if not isinstance(dim, tuple) or dim:
        return ops.any(input, integer(dim, "dim", "mint.any"), keepdim)
    _alone("mint.any", keepdim)
    return ops.any(input)


def _alone(name: str, keepdim: Any) -> None:
    """Refuse what only goes with a dimension."""
    if keepdim:
        raise TypeError(f"For '{name}', 'dim' must be an int if 'keepdim' is given, but there is none; name it.")


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """`ops.mean`, over all dimensions or those in `dim`, an int, tuple or list, of the input cast to `dtype`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.mean(ms.Tensor([[1, 3], [2, 4]]), [1], dtype=ms.float32))
        [2. 3.]
    """
    return ops.mean(input if dtype is None else ops.cast(input, dtype), _axes(dim), keepdim)


def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """`ops.prod`, over all dimensions or one.

    Raises:
        TypeError: if `dim` is no int.
        ValueError: if there is no such dimension, or `keepdim` is set without one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.prod(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        [ 2. 12.]
    """
    return ops.prod(input, dim if dim is None else integer(dim, "dim", "mint.prod"), keepdim, dtype)


def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """`mint.nn.functional.softmax`, where `dim` must be given.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.softmax(ms.ops.zeros((1, 2)), 1))
        [[0.5 0.5]]
    """
    return activation.softmax(input, dim, dtype)


def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum with NaN as 0; the arguments are those of `mean`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nansum(ms.Tensor([1.0, float("nan")])))
        1.0
    """
    if dtype is None:
        dtype = int64 if input.dtype == bool_ else input.dtype
    return ops.nansum(input, _axes(dim), keepdim, dtype=dtype)


def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """`ops.amax`, over all dimensions or those in `dim`, an int, tuple or list."""
    if dim is None:
        raise TypeError("For 'amax', 'dim' must be an int or a tuple of ints, but got None.")
    return ops.amax(input, _axes(dim), keepdim)


def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """`ops.amin`, over all dimensions or those in `dim`, an int, tuple or list."""
    if dim is None:
        raise TypeError("For 'amin', 'dim' must be an int or a tuple of ints, but got None.")
    return ops.amin(input, _axes(dim), keepdim)


def _extreme(
    name: str, elementwise: Any, along: Any, over_all: Any, input: Tensor, dim: Any, keepdim: bool, other: Any
) -> Any:
    """What max and min do: elementwise with a Tensor, of all elements, or values and places along a dimension."""
    if isinstance(dim, Tensor):
        _alone(name, keepdim)
        return elementwise(input, dim)
    if other is not None:
        return elementwise(input, other)
    tensor(input, "input", name)
    if not isinstance(dim, tuple) or dim:
        return along(input, integer(dim, "dim", name), keepdim)
    _alone(name, keepdim)
    if input._element.kind in "bc":
        raise RuntimeError(f"For '{name}', 'input' must hold real numbers, but got {input.dtype}; cast it first.")
    return over_all(input)


def max(input: Tensor, dim: Any = (), keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The greatest element, those along a dimension with their places, or those of two tensors.

    Args:
        input: any tensor.
        dim: nothing for the greatest of all; an int for values and places along it; a Tensor (or
            `other`) for the greater one of each pair.
        keepdim: keep the reduced dimension with length 1.

    Returns:
        Tensor, or a tuple of values and places.

    Raises:
        TypeError: if `dim` is neither an int nor a Tensor, or `keepdim` set without an int.
        RuntimeError: if `input` holds bools or complex numbers, and the greatest of all is asked for.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 3.0], [4.0, 2.0]])
        >>> print(ms.mint.max(x), *ms.mint.max(x, 1))
        4.0 [3. 4.] [1 0]
    """
    return _extreme("mint.max", ops.maximum, ops.max, ops.amax, input, dim, keepdim, other)


def min(input: Tensor, dim: Any = (), keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The least element, those along a dimension with their places, or those of two tensors; see `max`.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 3.0], [4.0, 2.0]])
        >>> print(ms.mint.min(x), *ms.mint.min(x, 1))
        1.0 [1. 2.] [0 1]
    """
    return _extreme("mint.min", ops.minimum, ops.min, ops.amin, input, dim, keepdim, other)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """`ops.argmin`, with an int64 result."""
    return ops.cast(ops.argmin(input, dim, keepdim), ops.argmax(input, dim, keepdim).dtype)


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle element (the lower one of two): of all, or along a dimension with its place.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 3.0, 2.0]])
        >>> print(ms.mint.median(x), *ms.mint.median(x, 1))
        2.0 [2.] [2]
    """
    if dim is None:
        return ops.median(ops.reshape(input, (-1,)), 0)[0]
    found = ops.median(input, dim if getattr(dim, "ndim", 1) else scalar(dim), keepdim)
    if not input.size:
        raise ValueError(complaint("input", "median", "a tensor with elements", f"the shape {input.shape}"))
    return found


def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """`ops.count_nonzero`, over all dimensions or those in `dim`, with an int64 result.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.count_nonzero(ms.Tensor([0.0, 1.0, 2.0])))
        2
    """
    if isinstance(input, Tensor) and input.size < 1 << 31 and dim is None:
        return ops.cast(ops.count_nonzero(input), int64)
    return ops.sum(ops.ne(input, 0), _axes(dim))


def cummax(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """`ops.cummax`, with the axis named `dim`."""
    return ops.cummax(input, dim)


def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """`ops.cummin`, with the axis named `dim`."""
    return ops.cummin(input, dim)


def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """`ops.cumsum`, with the axis named `dim`."""
    return ops.cumsum(input, dim, dtype)


def var(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """`ops.var`: squared deviations over n - correction, over all dimensions or those in `dim`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.var(ms.Tensor([1.0, 3.0])), ms.mint.var(ms.Tensor([1.0, 3.0]), correction=0))
        2.0 1.0
    """
    return ops.var(input, _axes(dim), correction, keepdim)


def std(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """`ops.std`, with the arguments of `var`."""
    return ops.std(input, _axes(dim), correction, keepdim)


def var_mean(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """`ops.var_mean`, with the arguments of `var`."""
    return ops.var_mean(input, _axes(dim), correction, keepdim)


def std_mean(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """`ops.std_mean`, with the arguments of `var`."""
    return ops.std_mean(input, _axes(dim), correction, keepdim)
