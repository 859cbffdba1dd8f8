"""slice_scatter, select_scatter, inplace_add and their kin: copies with slices or rows replaced."""

from __future__ import annotations

from typing import Any

from dist_ms.common.error_classes import bools, plain, raises, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, integers, not_array, one_axis, one_dtype, same_rank, tensor
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.elementwise.arithmetic import neg
from dist_ms.ops.picking.indexing import SetItem
from dist_ms.ops.picking.scattering_along import AddAt, IndexAdd, slices_at
from dist_ms.ops.primitive import Primitive, as_tensor, numpy_dtype

__all__ = [
    "InplaceAdd",
    "InplaceIndexAdd",
    "InplaceSub",
    "InplaceUpdate",
    "InplaceUpdateV2",
    "inplace_add",
    "inplace_sub",
    "inplace_update",
    "select_scatter",
    "slice_scatter",
]


@bools("index")
@plain("axis")
@scalars("index")
def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """Copy a tensor, with one slice along a dimension replaced.

    Args:
        input: a Tensor.
        src: the slice, without that dimension.
        axis: the dimension.
        index: which slice.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if `axis` or `index` is no int.
        ValueError: if one is out of range, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.ops.select_scatter(x, ms.Tensor([8.0, 9.0]), 1, 0))
        [[8. 2.]
         [9. 4.]]
    """
    for name, value in (("input", input), ("src", src)):
        tensor(value, name, "select_scatter")
    one_dtype("select_scatter", input=input, src=src)
    shape = tensor(input, "input", "select_scatter").shape
    axis, index = one_axis(axis, "axis", "select_scatter", len(shape)), integer(index, "index", "select_scatter")
    length = shape[axis] if shape else 0
    if not -length <= index < length or src.shape != shape[:axis] + shape[axis + 1 :]:
        raise ValueError(
            f"For 'select_scatter', 'index' must name a slice of {shape} along 'axis' and 'src' must have its "
            f"shape, but got {index} and {src.shape}."
        )
    return SetItem((slice(None),) * axis + (index,))(input, cast_array(src, numpy_dtype(input)))


@scalars("axis")
@raises(axis=(TypeError, IndexError))
def slice_scatter(
    input: Tensor, src: Tensor, axis: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Copy a tensor, with the slices start:end:step along a dimension replaced.

    Args:
        input: a Tensor.
        src: the slices.
        axis: the dimension.
        start: first slice.
        end: where to stop.
        step: distance of the slices.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        ValueError: if `axis` is out of range, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.slice_scatter(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([9.0]), start=1, end=2))
        [1. 9. 3.]
    """
    one_dtype("slice_scatter", input=input, src=not_array(src, "src", "slice_scatter"))
    shape = tensor(input, "input", "slice_scatter").shape
    axis = one_axis(axis, "axis", "slice_scatter", len(shape))
    length = len(range(*slice(start, end, step).indices(shape[axis])))
    if src.shape != (*shape[:axis], length, *shape[axis + 1 :]):
        raise ValueError(
            f"For 'slice_scatter', 'src' must have the shape of the {length} slices of {shape} along 'axis' {axis}, "
            f"but got {src.shape}."
        )
    return SetItem((slice(None),) * axis + (slice(start, end, step),))(input, cast_array(src, numpy_dtype(input)))


def inplace_update(x: Tensor, v: Tensor, indices: Any) -> Tensor:
    """Copy a tensor, with some of its rows (slices along the first dimension) replaced.

    Args:
        x: a Tensor.
        v: the rows.
        indices: their numbers, an int or a tuple of ints.

    Returns:
        Tensor of the shape of `x`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.inplace_update(ms.Tensor([1.0, 2.0]), ms.Tensor([9.0]), 0))
        [9. 2.]
    """
    tensor(v, "v", "inplace_update")
    same_rank(x, v, "inplace_update")
    one_dtype("inplace_update", x=x, v=v)
    rows = indices if isinstance(indices, Tensor) else as_tensor(_rows(indices, "inplace_update"))
    return SetItem(slices_at("inplace_update", 0, rows, x))(x, v)


def inplace_add(x: Tensor, v: Tensor, indices: Any) -> Tensor:
    """Copy a tensor, with `v` added to some of its rows.

    Args:
        x: a Tensor.
        v: what to add.
        indices: the rows' numbers, an int or a tuple of ints.

    Returns:
        Tensor of the shape of `x`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.inplace_add(ms.Tensor([1.0, 2.0]), ms.Tensor([9.0]), 0))
        [10.  2.]
    """
    tensor(v, "v", "inplace_add")
    same_rank(x, v, "inplace_add")
    one_dtype("inplace_add", x=x, v=v)
    rows = _rows(indices, "inplace_add")
    if min(rows) < 0 or max(rows) >= (x.shape[0] if x.ndim else 1):
        raise ValueError(f"For 'inplace_add', 'indices' must be rows of the shape {x.shape}, but got {indices}.")
    return AddAt(slices_at("inplace_add", 0, as_tensor(rows), x))(x, v)


def _rows(indices: Any, owner: str) -> list[int]:
    """The numbers of rows, of an int or a tuple of them.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(indices, bool) or not isinstance(indices, (int, tuple)):
        raise TypeError(
            f"For '{owner}', 'indices' must be an int or a tuple of ints, but got {type(indices).__name__}."
        )
    if indices == ():
        raise ValueError(f"For '{owner}', 'indices' must not be empty.")
    return list(integers(indices, "indices", owner))


def inplace_sub(x: Tensor, v: Tensor, indices: Any) -> Tensor:
    """Copy a tensor, with `v` subtracted from some of its rows.

    Args:
        x: a Tensor.
        v: what to subtract.
        indices: the rows' numbers, an int or a tuple of ints.

    Returns:
        Tensor of the shape of `x`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.inplace_sub(ms.Tensor([1.0, 2.0]), ms.Tensor([9.0]), 0))
        [-8.  2.]
    """
    one_dtype("inplace_sub", x=x, v=v)
    return inplace_add(x, neg(v), indices)


class _InplaceRows(Primitive):
    """A copy of a tensor with some of its rows changed.

    Args:
        indices: the rows' numbers, an int or a tuple of ints.
    """

    function: Any

    def __init__(self, indices: Any) -> None:
        self.indices = indices

    def __call__(self, x: Tensor, v: Tensor) -> Tensor:
        return type(self).function(x, v, self.indices)


class InplaceUpdate(_InplaceRows):
    """`inplace_update` as a primitive: `InplaceUpdate(indices)(x, v)`."""

    function = staticmethod(inplace_update)


class InplaceAdd(_InplaceRows):
    """`inplace_add` as a primitive: `InplaceAdd(indices)(x, v)`."""

    function = staticmethod(inplace_add)


class InplaceSub(_InplaceRows):
    """`inplace_sub` as a primitive: `InplaceSub(indices)(x, v)`."""

    function = staticmethod(inplace_sub)


class InplaceUpdateV2(Primitive):
    """A copy of a tensor with some of its rows replaced, the rows given in the call.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.InplaceUpdateV2()(ms.Tensor([1.0, 2.0]), 0, ms.Tensor([9.0])))
        [9. 2.]
    """

    def __call__(self, x: Tensor, indices: Any, v: Tensor) -> Tensor:
        return inplace_update(x, v, indices)


class InplaceIndexAdd(IndexAdd):
    """A Parameter with slices along one dimension added to by index; it is updated.

    Args:
        axis: the dimension.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Parameter(ms.Tensor([1.0, 2.0]), name="x")
        >>> print(ms.ops.InplaceIndexAdd(0)(x, ms.Tensor([1]), ms.Tensor([5.0])))
        [1. 7.]
    """

    def __init__(self, axis: int) -> None:
        super().__init__(axis)
