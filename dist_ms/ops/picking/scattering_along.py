"""Scatter along one dimension: TensorScatterElements, IndexAdd, IndexFill and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import raises, shaped
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import (
    array,
    boolean,
    integral,
    not_of,
    one_axis,
    one_dtype,
    one_of,
    same_rank,
    tensor,
)
from dist_ms.ops.broadcasting import promote_types, reduce_to
from dist_ms.ops.creating.assignment import overwrite
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.layout import contiguous, converted, copied, working_type
from dist_ms.ops.picking.along import add_along, add_at_places, add_slices, is_narrow, places, put_along
from dist_ms.ops.picking.gathering import GatherD, bounds_checked, check_bounds
from dist_ms.ops.picking.indexing import GetItem, SetItem, numpy_index, survivors
from dist_ms.ops.primitive import OfTensors, Primitive, as_tensor, numpy_dtype, quiet

__all__ = [
    "IndexAdd",
    "IndexFill",
    "IndexPut",
    "TensorScatterElements",
    "index_add",
    "index_fill",
    "index_put",
    "inplace_index_add",
    "scatter",
    "tensor_scatter_elements",
]


@raises(axis=(TypeError, RuntimeError))
class TensorScatterElements(OfTensors):
    """`tensor_scatter_elements` as a primitive: `TensorScatterElements(axis, reduction)(data, indices, updates)`."""

    keeps = (1,)
    tensors = 3
    wrong_shape: type[Exception] = ValueError

    def __init__(self, axis: int = 0, reduction: str = "none") -> None:
        self.axis = axis
        self.reduction = one_of(reduction, "reduction", self.name, ("none", "add"))

    @quiet
    def forward(self, data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        if not array(data, "data", self.name).ndim:
            raise ValueError(f"For '{self.name}', 'data' must have at least 1 dimension, but got a scalar.")
        array(updates, "updates", self.name)
        if len({data.ndim, array(indices, "indices", self.name).ndim, updates.ndim}) > 1:
            raise self.wrong_shape(
                f"For '{self.name}', 'data', 'indices' and 'updates' must have equally many dimensions, but got "
                f"{data.shape}, {indices.shape} and {updates.shape}."
            )
        axis = one_axis(self.axis, "axis", self.name, data.ndim)
        integral(indices, "indices", self.name)
        if updates.dtype != data.dtype:
            raise TypeError(
                f"For '{self.name}', 'updates' must have the dtype of 'data', {from_numpy(data.dtype)}, "
                f"but got {from_numpy(updates.dtype)}."
            )
        if indices.shape != updates.shape or any(
            n > m for i, (n, m) in enumerate(zip(indices.shape, data.shape)) if i != axis
        ):
            raise RuntimeError(
                f"For '{self.name}', 'indices' and 'updates' must have one shape, "
                f"none longer than 'data' but along {axis}, but got {indices.shape}, {updates.shape} and "
                f"{data.shape}."
            )
        out = copied(data)
        with bounds_checked(indices, "index", self.name, data.shape[axis]):
            (add_along if self.reduction == "add" else put_along)(out, indices, updates, axis)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, i, updates = inputs
        axis = one_axis(self.axis, "axis", self.name, len(x.shape))
        dupdates = GatherD()(dout, axis, i)
        if self.reduction == "add":
            return dout, None, dupdates
        dupdates = survivors(dupdates, places(i.array(), axis), dout.shape)
        return TensorScatterElements(axis)(dout, i, ops.zeros(updates.shape, updates.dtype)), None, dupdates


def tensor_scatter_elements(
    input_x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """Copy a tensor, with values put along one dimension by an index for each.

    Args:
        input_x: a Tensor.
        indices: a Tensor of integers, as many dimensions as `input_x`, none longer but `axis`.
        updates: a Tensor of the shape of `indices`.
        axis: the dimension.
        reduction: "none" replaces the old value, "add" adds to it.

    Returns:
        Tensor of the shape of `input_x`.

    Raises:
        TypeError: if the dtypes do not fit.
        ValueError: if the shapes do not fit, or `reduction` is unknown.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> print(ms.ops.tensor_scatter_elements(x, ms.Tensor([1]), ms.Tensor([5.0]), reduction="add"))
        [1. 7.]
    """
    not_of(indices, "BHIL", "indices", "tensor_scatter_elements")
    return TensorScatterElements(axis, reduction)(input_x, indices, updates)


def scatter(input: Tensor, axis: int, index: Tensor, src: Any) -> Tensor:
    """Copy a tensor, with values put along one dimension by an index for each.

    Args:
        input: a Tensor.
        axis: the dimension.
        index: a Tensor of integers, as many dimensions as `input`, none longer but `axis`.
        src: a Tensor of the shape of `index`, or a number.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if the dtypes do not fit, or `src` is neither a Tensor nor a number.
        RuntimeError: if the shapes do not fit.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.scatter(ms.Tensor([1.0, 2.0]), 0, ms.Tensor([1]), ms.Tensor([5.0])))
        [1. 5.]
    """
    if not isinstance(src, Tensor):
        if not isinstance(src, (bool, int, float, complex, np.number, np.bool_)):
            raise TypeError(f"For 'scatter', 'src' must be a Tensor or a number, but got {type(src).__name__}.")
        src = ops.full_like(tensor(index, "index", "scatter"), src, dtype=input.dtype)
    scattering = TensorScatterElements(axis)
    scattering.wrong_shape = RuntimeError
    return scattering(input, index, src)


def slices_at(name: str, axis: Any, index: Tensor, x: Tensor) -> tuple:
    """The NumPy index of slices along a dimension, checked."""
    axis = one_axis(axis, "axis", name, tensor(x, "input", name).ndim)
    places = integral(tensor(index, "index", name).array(), "index", name)
    if places.ndim > 1:
        raise ValueError(f"For '{name}', 'index' must have at most 1 dimension, but got {places.ndim}.")
    check_bounds(places, "index", name, x.shape[axis])
    return (slice(None),) * axis + (places,)


@shaped("input", "y")
class IndexAdd(Primitive):
    """`index_add` as a primitive: `IndexAdd(axis, use_lock, check_index_bound)(x, indices, y)`."""

    def __init__(self, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> None:
        self.axis, self.use_lock, self.check_index_bound = axis, use_lock, check_index_bound

    def __call__(self, x: Tensor, indices: Tensor, y: Tensor) -> Tensor:
        return overwrite(x, added_slices(self.name, x, self.axis, indices, y))


def _names_slices(index: tuple) -> bool:
    """Whether a NumPy index is a vector of ints for one dimension and takes all of those before."""
    *before, last = index
    whole = all(isinstance(part, slice) and part == slice(None) for part in before)
    return whole and isinstance(last, np.ndarray) and last.ndim == 1 and last.dtype.kind in "iu"


class AddAt(Primitive):
    """A copy of a tensor with values added at a NumPy index.

    Args:
        index: what NumPy takes between brackets.
    """

    keeps = ()

    def __init__(self, index: Any) -> None:
        self.index = index

    @quiet
    def forward(self, x: np.ndarray, values: np.ndarray) -> np.ndarray:
        axis = len(self.index) - 1
        if _names_slices(self.index):
            shape = (*x.shape[:axis], len(self.index[axis]), *x.shape[axis + 1 :])
            values = np.broadcast_to(values, shape)
            if is_narrow(x) and axis:
                wide = working_type(x.dtype)
                out = contiguous(x, wide)
                add_slices(out, self.index[axis], converted(values, wide), axis)
                return converted(out, x.dtype)
            out = copied(x)
            add_slices(out, self.index[axis], values, axis)
            return out
        out = copied(x)
        add_at_places(out, self.index, values)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return dout, reduce_to(GetItem(self.index)(dout), inputs[1])


def added_slices(name: str, x: Tensor, axis: Any, indices: Tensor, y: Tensor, alpha: Any = 1) -> Tensor:
    """A copy of `x` with alpha * y added to its slices by index."""
    place = slices_at(name, axis, indices, x)
    axis = len(place) - 1
    wanted = x.shape[:axis] + (place[-1].size,) + x.shape[axis + 1 :]
    if tensor(y, "y", name).shape != wanted:
        raise ValueError(f"For '{name}', the shape of the values must be {wanted}, but got {y.shape}.")
    y = cast_array(y, numpy_dtype(x))
    return AddAt(place)(x, y if alpha == 1 else ops.mul(y, alpha))


def fits(place: Any, value: Any, name: str, owner: str) -> None:
    """Require a Tensor whose dtype can become that of another; what is none has its own error later.

    Raises:
        TypeError: if it is of a higher kind.
    """
    if isinstance(place, Tensor) and isinstance(value, Tensor):
        old, new = place._element, value._element
        if promote_types(old, new) != old:
            raise TypeError(f"For '{owner}', '{name}' must fit the dtype {from_numpy(old)}, but got {from_numpy(new)}.")


def index_add(
    x: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    """Add to slices of a Parameter along one dimension, by index; it is updated.

    Args:
        x: a Parameter or Tensor.
        indices: a Tensor of integers, one per slice.
        y: what to add, of the shape of `x` with the length of `indices` at `axis`.
        axis: the dimension.
        use_lock, check_index_bound: accepted; updates are always in order and checked.

    Returns:
        Tensor: the new values of `x`.

    Raises:
        ValueError: if the shapes do not fit, or `axis` is out of range.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Parameter(ms.Tensor([1.0, 2.0, 3.0]), name="x")
        >>> print(ms.ops.index_add(x, ms.Tensor([0, 2]), ms.Tensor([10.0, 10.0]), 0))
        [11.  2. 13.]
    """
    fits(x, y, "y", "index_add")
    same_rank(x, y, "index_add")
    not_of(indices, "BHIL", "indices", "index_add")
    return IndexAdd(axis)(x, indices, y)


@raises(axis=(TypeError, RuntimeError))
def index_fill(x: Tensor, axis: int, index: Any, value: Any) -> Tensor:
    """Copy a tensor, with one value in some slices along a dimension.

    Args:
        x: a Tensor.
        axis: the dimension.
        index: a Tensor of integers, or an int: the slices.
        value: a number, or a Tensor without dimensions.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        TypeError: if `index` holds no integers.
        ValueError: if `axis` is out of range.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.index_fill(ms.Tensor([1.0, 2.0, 3.0]), 0, ms.Tensor([0, 2]), 9.0))
        [9. 2. 9.]
    """
    if isinstance(index, (list, np.ndarray)):
        tensor(index, "index", "index_fill")
    if isinstance(value, (list, tuple, np.ndarray)):
        tensor(value, "value", "index_fill")
    not_of(index, "BHIL", "index", "index_fill")
    not_of(x, "?FD", "x", "index_fill")
    if isinstance(value, Tensor) and value.ndim:
        raise ValueError(f"For 'index_fill', 'value' must be one number, but got a Tensor of the shape {value.shape}.")
    kinds = {v._element.kind for v in (x, value) if isinstance(v, Tensor)}
    if len(kinds) > 1 and "V" not in kinds:
        raise TypeError(
            f"For 'index_fill', 'value' must be of the kind {x.dtype} of 'x', but got {value.dtype}; cast it first."
        )
    place = slices_at("index_fill", axis, as_tensor(index), x)
    return SetItem(place)(x, cast_array(as_tensor(value), numpy_dtype(x)))


class IndexFill(Primitive):
    """`index_fill` as a primitive: `IndexFill()(x, dim, indices, value)`."""

    def __call__(self, x: Tensor, dim: int, indices: Any, value: Any) -> Tensor:
        return index_fill(x, dim, indices, value)


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Copy a tensor, with values at the places a tuple of index tensors names.

    Args:
        input: a Tensor.
        indices: a tuple or list of Tensors of ints or bools, one per dimension from the first.
        values: a Tensor of the dtype of `input` that broadcasts to those places.
        accumulate: add to the old values instead of replacing them.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if `values` has another dtype than `input`, or `indices` are no Tensors of one dtype.
        RuntimeError: if an index is out of range.
        ValueError: if the values do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.ops.index_put(x, (ms.Tensor([0]), ms.Tensor([1])), ms.Tensor([9.0])))
        [[1. 9.]
         [3. 4.]]
    """
    tensor(values, "values", "index_put")
    one_dtype("index_put", input=input, values=values)
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"For 'index_put', 'indices' must be a tuple or list of Tensors, but got {type(indices).__name__}."
        )
    one_dtype("index_put", "biu", **{f"indices[{i}]": index for i, index in enumerate(indices)})
    boolean(accumulate, "accumulate", "index_put")
    if len(indices) > input.ndim or any(i.ndim != 1 and i._element.kind != "b" for i in indices):
        raise ValueError(
            f"For 'index_put', 'indices' must be at most {input.ndim} Tensors of 1 dimension, but got the shapes "
            f"{[index.shape for index in indices]}."
        )
    place = numpy_index(tuple(indices))
    try:
        return (AddAt if accumulate else SetItem)(place)(input, values)
    except IndexError as error:
        raise ValueError(f"For 'index_put', 'indices' must lie in the shape {input.shape}, but {error}.") from None


class IndexPut(Primitive):
    """A copy of a tensor with values at the places a tuple of index tensors names.

    Args:
        accumulate: 1 to add to the old values, 0 to replace them.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.IndexPut(1)(ms.Tensor([1.0, 2.0]), ms.Tensor([5.0]), (ms.Tensor([1]),)))
        [1. 7.]
    """

    def __init__(self, accumulate: int = 0) -> None:
        self.accumulate = one_of(accumulate, "accumulate", self.name, (0, 1))

    def __call__(self, x1: Tensor, x2: Tensor, indices: Any) -> Tensor:
        return index_put(x1, indices, x2, bool(self.accumulate))


def inplace_index_add(var: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """Add to slices of a Parameter along one dimension, by index; it is updated.

    Args:
        var: a Parameter or Tensor.
        indices: a Tensor of integers, one per slice.
        updates: what to add, of the shape of `var` with the length of `indices` at `axis`.
        axis: the dimension.

    Returns:
        Tensor: the new values of `var`.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Parameter(ms.Tensor([1.0, 2.0]), name="x")
        >>> print(ms.ops.inplace_index_add(x, ms.Tensor([1]), ms.Tensor([5.0]), 0))
        [1. 7.]
    """
    fits(var, updates, "updates", "inplace_index_add")
    same_rank(var, updates, "inplace_index_add")
    return IndexAdd(axis)(var, indices, updates)
