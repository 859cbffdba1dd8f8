"""Tensor's reductions. Most take MindSpore's names (axis, keep_dims) and those of newer ones (dim, keepdim)."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import bool_, int8, int16, int32, int64, uint8
from dist_ms.common.error_classes import plain, scalars
from dist_ms.common.jit import within_graph
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import boolean, integer, one_axis, tensor


def either(name: str, first: tuple[str, Any], second: tuple[str, Any], default: Any) -> Any:
    """The value of an argument that has two names, given under one of them at most.

    Raises:
        TypeError: if it is given under both.
    """
    (a_name, a), (b_name, b) = first, second
    if a is not None and b is not None:
        raise TypeError(f"For 'Tensor.{name}', '{a_name}' and '{b_name}' mean the same: give one, but got both.")
    return b if b is not None else a if a is not None else default


def one_given(name: str, axis: Any, dim: Any, default: int) -> Any:
    """The dimension of an argument that has two names and a default other than None, which MindSpore refuses then.

    Raises:
        TypeError: if it is given under both names.
    """
    if axis is not default and dim is not default:
        raise TypeError(f"For 'Tensor.{name}', 'axis' and 'dim' mean the same: give one, but got both.")
    return axis if dim is default else dim


def _over_which(name: str, axis: Any, dim: Any, kept: Any, keepdim: Any, kept_name: str = "keepdims") -> tuple:
    """The dimensions, and whether they are kept, each given under one of two names."""
    axes = either(name, ("axis", axis), ("dim", dim), None)
    if kept is not False and keepdim is not False:
        return axes, either(name, (kept_name, kept), ("keepdim", keepdim), None)
    return axes, boolean(
        keepdim if kept is False else kept, kept_name if keepdim is False else "keepdim", f"Tensor.{name}"
    )


def sum(
    self: Tensor,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    *,
    dim: Any = None,
    keepdim: bool = False,
) -> Tensor:
    """Add up over dimensions; see `dist_ms.ops.sum`. `initial` is added to the result.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]).sum(axis=1, keepdims=True))
        [[3.]
         [7.]]
    """
    if isinstance(dtype, bool):  # sum(dim, keepdim)
        if keepdims is None or initial is not None:
            raise TypeError(f"For 'Tensor.sum', 'dtype' must be a dtype such as dist_ms.float32, but got {dtype}.")
        dtype, keepdim = None, dtype
    out = ops.sum(self, *_over_which("sum", axis, dim, keepdims, keepdim), dtype=dtype)
    return out if initial is None else out + initial


def mean(
    self: Tensor,
    axis: Any = None,
    keep_dims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
) -> Tensor:
    """Average over dimensions; see `dist_ms.ops.mean`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]).mean(0))
        [2. 3.]
    """
    x = self if dtype is None else ops.cast(self, dtype)
    return ops.mean(x, *_over_which("mean", axis, dim, keep_dims, keepdim, "keep_dims"))


def prod(
    self: Tensor,
    axis: Any = None,
    keep_dims: bool = False,
    dtype: Any = None,
    *,
    dim: Any = None,
    keepdim: bool = False,
) -> Tensor:
    """Multiply over dimensions; see `dist_ms.ops.prod`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]).prod(1))
        [ 2. 12.]
    """
    return ops.prod(self, *_over_which("prod", axis, dim, keep_dims, keepdim, "keep_dims"), dtype)


def all(self: Tensor, axis: Any = None, keep_dims: bool = False, *, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Tell whether all elements over dimensions are true; see `dist_ms.ops.all`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([True, False]).all())
        False
    """
    return ops.all(self, *_over_which("all", axis, dim, keep_dims, keepdim, "keep_dims"))


def any(self: Tensor, axis: Any = None, keep_dims: bool = False, *, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Tell whether one element or more over dimensions are true; see `dist_ms.ops.any`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([True, False]).any())
        True
    """
    return ops.any(self, *_over_which("any", axis, dim, keep_dims, keepdim, "keep_dims"))


@plain("dim", owner="Tensor.max")
def max(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Find the largest element.

    `max()` of all; `max(dim, keepdim=False)` along a dimension, with its place; `max(axis=None,
    keepdims=False, initial=None, where=None, return_indices=False)` over dimensions, without. What is
    given without a keyword is `dim`, but `axis` where MindSpore compiles: in `jit` functions and, in
    GRAPH_MODE, in Cells.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 5.0], [3.0, 2.0]])
        >>> print(x.max(), x.max(axis=0), x.max(1)[1])
        5.0 [3. 5.] [1 0]
    """
    return _extreme(self, "max", ops.max, ops.amax, args, kwargs)


@plain("dim", owner="Tensor.min")
def min(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Find the smallest element.

    `min()` of all; `min(dim, keepdim=False)` along a dimension, with its place; `min(axis=None,
    keepdims=False, initial=None, where=None, return_indices=False)` over dimensions, without. What is
    given without a keyword is `dim`, but `axis` where MindSpore compiles: in `jit` functions and, in
    GRAPH_MODE, in Cells.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 5.0], [3.0, 2.0]])
        >>> print(x.min(), x.min(axis=0), x.min(1)[1])
        1.0 [1. 2.] [0 1]
    """
    return _extreme(self, "min", ops.min, ops.amin, args, kwargs)


def _extreme(x: Tensor, name: str, along: Any, over: Any, args: tuple, kwargs: dict) -> Any:
    """`max` or `min` in one of its three forms."""
    by_dim = "dim" in kwargs or "keepdim" in kwargs
    if by_dim or (args and isinstance(args[0], int) and not kwargs and len(args) <= 2 and not within_graph()):

        def plain(dim: int, keepdim: bool = False) -> Any:
            return along(x, one_axis(dim, "dim", f"Tensor.{name}", x.ndim), keepdim)

        return plain(*args, **kwargs)
    return _over(x, name, along, over, *args, **kwargs)


def _over(
    x: Tensor,
    name: str,
    along: Any,
    over: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    initial: Any = None,
    where: Any = None,
    return_indices: bool = False,
) -> Any:
    """`max` or `min` with MindSpore's older arguments."""
    where = None if where is True else Tensor(False) if where is False else where
    if where is not None:
        tensor(where, "where", f"Tensor.{name}")
    if isinstance(initial, Tensor):
        raise TypeError(f"For 'Tensor.{name}', 'initial' must be a number, but got a Tensor.")
    boolean(return_indices, "return_indices", name), boolean(keepdims, "keepdims", name)
    if isinstance(axis, (tuple, list)):
        return over(x, axis, keepdims, initial=initial, where=where)
    if axis is None and not return_indices:
        return over(x)  # MindSpore looks at nothing else then
    # Of one dimension the gradient goes to one of equal elements.
    found = along(x, axis, keepdims, initial=initial, where=where)
    return found if return_indices else found[0]


def argmax(self: Tensor, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Find the place of the largest element; see `dist_ms.ops.argmax`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1.0, 5.0], [3.0, 2.0]]).argmax(1))
        [1 0]
    """
    if isinstance(axis, Tensor) and axis.ndim:
        raise TypeError(f"For 'Tensor.argmax', 'axis' must be an int, but got a Tensor of shape {axis.shape}.")
    return ops.argmax(self, *_over_which("argmax", axis, dim, keepdims, keepdim))


def argmin(self: Tensor, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Find the place of the smallest element; see `dist_ms.ops.argmin`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1.0, 5.0], [3.0, 2.0]]).argmin(1))
        [0 1]
    """
    if isinstance(axis, Tensor) and axis.ndim:
        raise TypeError(f"For 'Tensor.argmin', 'axis' must be an int, but got a Tensor of shape {axis.shape}.")
    return ops.argmin(self, *_over_which("argmin", axis, dim, keepdims, keepdim))


def argmax_with_value(self: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the largest elements along a dimension, and their places.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 5.0]).argmax_with_value())
        (Tensor(shape=[], dtype=Float32, value= 5), Tensor(shape=[], dtype=Int64, value= 1))
    """
    return ops.max(self, axis, keep_dims)


def argmin_with_value(self: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the smallest elements along a dimension, and their places.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 5.0]).argmin_with_value())
        (Tensor(shape=[], dtype=Float32, value= 1), Tensor(shape=[], dtype=Int64, value= 0))
    """
    return ops.min(self, axis, keep_dims)


def std(
    self: Tensor,
    axis: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    dim: Any = None,
    correction: Any = ...,
    keepdim: bool = False,
) -> Tensor:
    """Return the standard deviation over dimensions; see `dist_ms.ops.std`. `correction` is `ddof`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0, 3.0]).std(ddof=1))
        1.0
    """
    axes, keep = _over_which("std", axis, dim, keepdims, keepdim)
    if isinstance(ddof, bool):
        raise TypeError("For 'Tensor.std', 'ddof' must be an int, but got bool.")
    return ops.std(_floats(self), axes, ddof if correction is ... else correction, keep)


def var(
    self: Tensor,
    axis: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    dim: Any = None,
    correction: Any = ...,
    keepdim: bool = False,
) -> Tensor:
    """Return the variance over dimensions; see `dist_ms.ops.var`. `correction` is `ddof`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0, 3.0]).var(ddof=1))
        1.0
    """
    axes, keep = _over_which("var", axis, dim, keepdims, keepdim)
    return ops.var(_floats(self), axes, ddof if correction is ... else correction, keep)


def _floats(x: Tensor) -> Tensor:
    """The tensor, as float32 if it holds integers or bools."""
    return x * 1.0 if x.array().dtype.kind in "biu" else x


@plain("axis", owner="Tensor.cumsum")
def cumsum(self: Tensor, axis: Any = None, dtype: Any = None, *, dim: Any = ...) -> Tensor:
    """Sum up along a dimension, keeping every result; without a dimension all elements row by row.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]).cumsum())
        [ 1.  3.  6. 10.]
    """
    if dim is not ...:
        axis = integer(either("cumsum", ("axis", axis), ("dim", dim), None), "dim", "Tensor.cumsum")
    elif axis is not None:
        integer(axis, "axis", "Tensor.cumsum")
    if dtype is None and self.dtype in (bool_, int8, uint8):
        # Few elements would be too many for these types.
        dtype = int32
    return ops.cumsum(ops.ravel(self), 0, dtype) if axis is None else ops.cumsum(self, axis, dtype)


def nansum(
    self: Tensor,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    dim: Any = None,
    keepdim: bool = False,
) -> Tensor:
    """Add up over dimensions, counting NaN as 0; see `dist_ms.ops.nansum`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, float("nan")]).nansum())
        1.0
    """
    return ops.nansum(self, *_over_which("nansum", axis, dim, keepdims, keepdim), dtype=dtype)


def median(
    self: Tensor, axis: int = -1, keepdims: bool = False, *, dim: int = -1, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Find the middle element along a dimension, and its place; see `dist_ms.ops.median`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([3.0, 1.0, 2.0]).median()[0])
        2.0
    """
    along = axis if isinstance(dim, int) and dim == -1 else dim
    return ops.median(self, along, _over_which("median", None, None, keepdims, keepdim)[1])


def count_nonzero(
    self: Tensor, axis: Any = (), keep_dims: bool = False, dtype: Any = None, *, dim: Any = None
) -> Tensor:
    """Count the elements over dimensions that are not 0; see `dist_ms.ops.count_nonzero`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([0, 3, 4]).count_nonzero())
        2
    """
    return ops.count_nonzero(self, axis if dim is None else dim, keep_dims, dtype)


def ptp(self: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the distance from the smallest to the largest element over dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 5.0]).ptp())
        4.0
    """
    if axis is not None and not self.ndim:
        raise ValueError(f"For 'Tensor.ptp', 'axis' must be None for a scalar, but got {axis}.")
    return ops.amax(self, axis, keepdims) - ops.amin(self, axis, keepdims)


@scalars("axis1", "axis2", owner="Tensor.trace")
def trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """Sum up the diagonals of matrices.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]).trace())
        5.0
    """
    if dtype is None and self.dtype in (bool_, int8, uint8, int16, int32):
        dtype = int64
    x = self if dtype is None else ops.cast(self, dtype)
    axis1, axis2 = integer(axis1, "axis1", "Tensor.trace"), integer(axis2, "axis2", "Tensor.trace")
    if self.ndim > 1:
        axis1 = one_axis(axis1, "axis1", "Tensor.trace", self.ndim)
        axis2 = one_axis(axis2, "axis2", "Tensor.trace", self.ndim)
    if self.ndim < 2 or axis1 == axis2:
        raise RuntimeError(
            f"For 'Tensor.trace', 'axis1' and 'axis2' must be two dimensions, but got {axis1} and {axis2} "
            f"for the shape {self.shape}."
        )
    return ops.ReduceSum()(ops.diagonal(x, offset, axis1, axis2), -1)


for _method in (
    sum,
    mean,
    prod,
    all,
    any,
    max,
    min,
    argmax,
    argmin,
    argmax_with_value,
    argmin_with_value,
    std,
    var,
    cumsum,
    nansum,
    median,
    count_nonzero,
    ptp,
    trace,
):
    setattr(Tensor, _method.__name__, _method)
