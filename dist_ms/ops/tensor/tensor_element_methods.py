"""Tensor's methods that pick, put and order elements: those whose arguments differ from the functions'."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_type, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, index_array, integer, not_array, number, one_axis, one_dtype, one_of, tensor
from dist_ms.ops.picking.scattering_along import added_slices, fits
from dist_ms.ops.tensor.tensor_reduction_methods import either, one_given


def select(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """`select(dim, index)`: one slice along a dimension. `select(condition, y)`: see `dist_ms.ops.select`.

    Raises:
        TypeError: if `dim` or `index` is no int.
        ValueError: if one is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).select(1, 0))
        [1 3]
    """
    if (args and isinstance(args[0], Tensor) and not _is_number(args[0])) or "condition" in kwargs:

        def choose(condition: Tensor, y: Any) -> Tensor:
            return ops.select(condition, self, y)

        return choose(*args, **kwargs)

    def slice_at(dim: int, index: int) -> Tensor:
        axis, index = one_axis(dim, "dim", "select", self.ndim), integer(index, "index", "select")
        length = self.shape[axis] if self.ndim else 0
        if not -length <= index < length:
            raise ValueError(f"For 'select', 'index' must be in the range [{-length}, {length}), but got {index}.")
        return self[(slice(None),) * axis + (index,)]

    return slice_at(*args, **kwargs)


def _is_number(x: Tensor) -> bool:
    """Whether a tensor is a single integer, which stands for an int."""
    return x.ndim == 0 and x.array().dtype.kind in "iu"


def where(self: Tensor, condition: Tensor, y: Any) -> Tensor:
    """Take the tensor's elements where the condition is true, else those of `y`; see `dist_ms.ops.where`.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, -1.0])
        >>> print(x.where(x > 0, 0.0))
        [1. 0.]
    """
    return ops.where(condition, self, y)


def gather(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """`gather(input_indices, axis, batch_dims=0)`: see `dist_ms.ops.gather`. `gather(dim, index)`: `gather_d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).gather(ms.Tensor([1]), 0))
        [[3 4]]
    """
    if (args and not (isinstance(args[0], Tensor) and _places_first(args))) or "dim" in kwargs:

        def along(dim: int, index: Tensor) -> Tensor:
            return ops.gather_d(self, dim, index)

        return along(*args, **kwargs)
    check_type(kwargs.get("axis", 0), "axis", "Tensor.gather", int)
    return ops.gather(self, *args, **kwargs)


def _places_first(args: tuple) -> bool:
    """Whether `gather` was given places and then a dimension, not a dimension that is a Tensor and then places."""
    return args[0].ndim > 0 or len(args) < 2 or not isinstance(args[1], Tensor)


def take(
    self: Tensor, indices: Any = None, axis: int | None = None, mode: str = "clip", *, index: Any = None
) -> Tensor:
    """Pick elements by index, of all or along a dimension; see `dist_ms.ops.take`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).take(ms.Tensor([0, 3])))
        [1 4]
    """
    places = tensor(indices if index is None else index, "index", "Tensor.take")
    index_array(places.array(), "index", "Tensor.take")
    return ops.take(self, places, axis, mode)


def choose(self: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """Take each element from the choice whose number stands there.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([0, 1]).choose([[10, 20], [30, 40]]))
        [10 40]
    """
    if mode not in ("raise", "wrap"):
        mode = "clip"  # as MindSpore takes any other
    if not self.ndim:
        raise ValueError(complaint("self", "Tensor.choose", "of 1 dimension or more", "a scalar"))
    places, arrays = self.array(), [_choice(c) for c in choices]
    one_dtype("Tensor.choose", **{f"choices[{i}]": a for i, a in enumerate(arrays)})
    places = places.real.astype(np.int64) if places.dtype.kind in "fVc" else places
    return wrap(np.choose(places, arrays, mode=mode))


def _choice(values: Any) -> np.ndarray:
    """One choice as an array; Python's numbers are int64, as in MindSpore."""
    if isinstance(values, Tensor):
        return values.array()
    array = np.asarray(values)
    if array.dtype.kind not in "biufc":
        raise ValueError(complaint("choices", "Tensor.choose", "of numbers in rows of one length", repr(values)))
    return array.astype(np.int64)


def index_select(self: Tensor, axis: Any = None, index: Any = None, *, dim: Any = None) -> Tensor:
    """Pick slices along a dimension; see `dist_ms.ops.index_select`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2, 3]).index_select(0, ms.Tensor([2])))
        [3]
    """
    return ops.index_select(self, either("index_select", ("axis", axis), ("dim", dim), None), index)


def index_add(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """A copy with slices added to: `index_add(dim, index, source, alpha=1)` or `index_add(indices, y, axis)`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).index_add(0, ms.Tensor([1]), ms.Tensor([5.0])))
        [1. 7.]
    """
    if (args and isinstance(args[0], Tensor)) or "indices" in kwargs:

        def old(indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> Tensor:
            fits(self, y, "y", "Tensor.index_add")
            return added_slices("index_add", self, axis, indices, y)

        return old(*args, **kwargs)

    def new(dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
        number(alpha, "alpha", "Tensor.index_add", True)
        fits(self, source, "source", "Tensor.index_add")
        return added_slices("index_add", self, dim, index, source, alpha)

    return new(*args, **kwargs)


def scatter(
    self: Tensor,
    axis: Any = None,
    index: Any = None,
    src: Any = None,
    *,
    dim: Any = None,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """A copy with values put along a dimension; see `dist_ms.ops.scatter`. `reduce` may be "add" or "multiply".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).scatter(0, ms.Tensor([1]), ms.Tensor([5.0])))
        [1. 5.]
    """
    axis = either("scatter", ("axis", axis), ("dim", dim), None)
    src = src if value is None else value
    if reduce is None:
        return ops.scatter(self, axis, index, src)
    one_of(reduce, "reduce", "Tensor.scatter", ("add", "multiply"))
    if not isinstance(src, Tensor):
        src = ops.full_like(index, src, dtype=self.dtype)
    if reduce == "add":
        return ops.tensor_scatter_elements(self, index, src, axis, "add")
    factors = ops.ones_like(self).array().copy()
    places = ops.picking.along.places(index.array(), one_axis(axis, "axis", "scatter", self.ndim))
    np.multiply.at(factors, places, src.array())
    return self * wrap(factors)


def scatter_add(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """`scatter_add(dim, index, src)`: add along a dimension. `scatter_add(indices, updates)`: `tensor_scatter_add`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).scatter_add(0, ms.Tensor([1]), ms.Tensor([5.0])))
        [1. 7.]
    """
    if (args and isinstance(args[0], Tensor)) or "indices" in kwargs:
        return ops.tensor_scatter_add(self, *args, **kwargs)

    def along(dim: int, index: Tensor, src: Tensor) -> Tensor:
        return ops.tensor_scatter_elements(self, index, src, dim, "add")

    return along(*args, **kwargs)


def sort(self: Tensor, axis: int = -1, descending: bool = False, *, dim: int = -1, stable: bool = False) -> tuple:
    """Sort along a dimension; see `dist_ms.ops.sort`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([3.0, 1.0]).sort()[0])
        [1. 3.]
    """
    boolean(stable, "stable", "Tensor.sort")
    return ops.sort(self, one_given("sort", axis, dim, -1), descending)


def argsort(self: Tensor, axis: int = -1, descending: bool = False, *, dim: int = -1, stable: bool = False) -> Tensor:
    """Find where each element of the sorted dimension is; see `dist_ms.ops.argsort`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([3.0, 1.0]).argsort())
        [1 0]
    """
    boolean(stable, "stable", "Tensor.argsort")
    return ops.argsort(self, one_given("argsort", axis, dim, -1), descending)


def topk(self: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True) -> tuple:
    """Find the k largest elements along a dimension; see `dist_ms.ops.topk`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([3.0, 1.0, 2.0]).topk(2)[0])
        [3. 2.]
    """
    return ops.topk(self, k, dim, largest, sorted)


def searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Find where values would have to go to keep the tensor sorted; see `dist_ms.ops.searchsorted`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 3.0]).searchsorted(ms.Tensor([2.0])))
        [1]
    """
    values = v if isinstance(v, Tensor) else Tensor(not_array(v, "v", "Tensor.searchsorted"))
    if isinstance(sorter, (int, tuple, list)):
        if np.shape(sorter) != self.shape:
            raise ValueError(complaint("sorter", "Tensor.searchsorted", f"of the shape {self.shape}", sorter))
        sorter = Tensor(sorter)
    return ops.searchsorted(self, values, out_int32=True, side=side, sorter=sorter)


def unique(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Find the different elements in rising order, or the different slices along a dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([3, 1, 3]).unique())
        [1 3]
    """
    values, inverse, counts = np.unique(self.array(), return_inverse=True, return_counts=True, axis=dim)
    if dim is None:
        inverse = inverse.reshape(self.shape)
    out = (
        [wrap(values)]
        + [wrap(inverse.astype(np.int64))] * return_inverse
        + [wrap(counts.astype(np.int64))] * return_counts
    )
    return tuple(out) if len(out) > 1 else out[0]


def ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Multiply the matrices `input3` by the Q of reflections; see `dist_ms.ops.ormqr`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1.0]]).ormqr(input2=ms.Tensor([2.0]), input3=ms.Tensor([[3.0]])))
        [[-3.]]
    """
    return ops.ormqr(self, input2, input3, left, transpose)


for _method in (
    select,
    where,
    gather,
    take,
    choose,
    index_select,
    index_add,
    scatter,
    scatter_add,
    sort,
    argsort,
    topk,
    searchsorted,
    unique,
    ormqr,
):
    setattr(Tensor, _method.__name__, _method)
