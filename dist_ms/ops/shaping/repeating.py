"""Tile, repeat_interleave, Meshgrid: elements several times."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_string
from dist_ms.common.error_classes import plain, reads
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, integer, integers, one_axis, one_of, tensor
from dist_ms.ops.layout import broadcast, converted, copy_into, working_type
from dist_ms.ops.picking.along import is_narrow
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.joining import sequence
from dist_ms.ops.shaping.reshaping import reshape

__all__ = [
    "Meshgrid",
    "Tile",
    "cartesian_prod",
    "combinations",
    "meshgrid",
    "repeat_elements",
    "repeat_interleave",
    "tile",
]


class Tile(Primitive):
    """`tile` as a primitive: `Tile()(input, dims)`."""

    keeps = ()

    def __call__(self, input: Tensor, dims: Any) -> Tensor:
        return super().__call__(input, integers(dims, "dims", self.name))

    def forward(self, input: np.ndarray, dims: tuple) -> np.ndarray:
        array(input, "input", self.name)
        if any(n < 0 for n in dims):
            raise ValueError(f"For '{self.name}', 'dims' must not be negative, but got {dims}.")
        ndim = max(len(dims), input.ndim)
        shape = (1,) * (ndim - input.ndim) + input.shape
        times = (1,) * (ndim - len(dims)) + dims
        out = np.empty([k * n for k, n in zip(times, shape)], input.dtype)
        blocks = out.reshape([size for pair in zip(times, shape) for size in pair])
        copy_into(input.reshape([size for n in shape for size in (1, n)]), blocks)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, dims = inputs
        ndim = max(len(dims), len(x.shape))
        shape = (1,) * (ndim - len(x.shape)) + x.shape
        times = (1,) * (ndim - len(dims)) + dims
        blocks = reshape(dout, tuple(n for pair in zip(times, shape) for n in pair))
        return reshape(ops.ReduceSum()(blocks, tuple(range(0, 2 * ndim, 2))), x.shape) if ndim else dout, None


_tile = Tile()


def tile(input: Tensor, dims: Any) -> Tensor:
    """Repeat a tensor along its dimensions.

    Args:
        input: a Tensor.
        dims: how often along each dimension, the last ones if there are fewer than
            dimensions; further ones put dimensions in front.

    Returns:
        Tensor.

    Raises:
        TypeError: if `dims` is no tuple of ints.
        ValueError: if one is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.tile(ms.Tensor([1, 2]), (2,)))
        [1 2 1 2]
    """
    if isinstance(dims, (int, list)):
        raise TypeError(f"For 'tile', 'dims' must be a tuple of ints, but got {type(dims).__name__}.")
    return _tile(input, dims)


class RepeatEach(Primitive):
    """Every slice along one dimension several times in a row.

    Args:
        counts: how often each slice comes, or an int for all of them.
        axis: the dimension.
    """

    keeps = ()

    def __init__(self, counts: np.ndarray | int, axis: int) -> None:
        self.counts, self.axis = counts, axis

    def forward(self, x: np.ndarray) -> np.ndarray:
        counts, axis = self.counts, self.axis
        if not isinstance(counts, int):
            return np.repeat(x, counts, axis)
        runs = np.empty((*x.shape[: axis + 1], counts, *x.shape[axis + 1 :]), x.dtype)
        copy_into(np.expand_dims(x, axis + 1), runs)
        return runs.reshape(*x.shape[:axis], x.shape[axis] * counts, *x.shape[axis + 1 :])

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return SumRuns(self.counts, self.axis, inputs[0].shape[self.axis])(dout)


class SumRuns(Primitive):
    """The sum of every run of slices along one dimension: the gradient of `RepeatEach`."""

    keeps = ()

    def __init__(self, counts: np.ndarray | int, axis: int, length: int) -> None:
        self.counts, self.axis, self.length = counts, axis, length

    def forward(self, x: np.ndarray) -> np.ndarray:
        if isinstance(self.counts, int) and self.counts:
            wide = converted(x, working_type(x.dtype)) if is_narrow(x) else x
            shape = (*x.shape[: self.axis], self.length, self.counts, *x.shape[self.axis + 1 :])
            return converted(wide.reshape(shape).sum(self.axis + 1, dtype=wide.dtype), x.dtype)
        out = np.zeros((*x.shape[: self.axis], self.length, *x.shape[self.axis + 1 :]), x.dtype)
        rows = np.repeat(np.arange(self.length), self.counts)
        np.add.at(np.moveaxis(out, self.axis, 0), rows, np.moveaxis(x, self.axis, 0))
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return RepeatEach(self.counts, self.axis)(dout)


@reads("shape")
@plain("axis")
def repeat_interleave(input: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element, or each slice along a dimension, several times in a row.

    Args:
        input: a Tensor.
        repeats: how often, an int, or a tuple, list or Tensor of ints, one per slice.
        axis: the dimension; None makes `input` one-dimensional first.

    Returns:
        Tensor.

    Raises:
        TypeError: if `repeats` holds anything but ints.
        ValueError: if `axis` is out of range, or `repeats` is negative or of another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.repeat_interleave(ms.Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    if not tensor(input, "input", "repeat_interleave").ndim and axis is not None:
        raise ValueError(f"For 'repeat_interleave', 'axis' must be None for a scalar, but got {axis}.")
    if axis is None:
        input, axis = reshape(input, (-1,)), 0
    axis = one_axis(axis, "axis", "repeat_interleave", input.ndim)
    counts = integers(repeats, "repeats", "repeat_interleave")
    length = input.shape[axis]
    if len(counts) not in (1, length) or any(n < 0 for n in counts):
        raise ValueError(
            f"For 'repeat_interleave', 'repeats' must hold {length} counts or one, none negative, but got {repeats}."
        )
    return RepeatEach(counts[0] if len(counts) == 1 else np.array(counts, np.int64), axis)(input)


@plain("rep")
def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Repeat each slice along a dimension `rep` times in a row.

    Args:
        x: a Tensor.
        rep: how often.
        axis: the dimension.

    Returns:
        Tensor.

    Raises:
        TypeError: if `rep` or `axis` is no int.
        ValueError: if `axis` is out of range, or `rep` not positive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.repeat_elements(ms.Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    tensor(x, "x", "repeat_elements")
    if integer(rep, "rep", "repeat_elements") < 1:
        raise ValueError(f"For 'repeat_elements', 'rep' must be positive, but got {rep}.")
    if axis is None:
        raise TypeError("For 'repeat_elements', 'axis' must be an int, but got None.")
    return repeat_interleave(x, rep, axis)


class AlongGrid(Primitive):
    """A vector as the coordinates of a grid's points along one dimension.

    Args:
        shape: of the grid.
        axis: the dimension.
    """

    keeps = ()

    def __init__(self, shape: tuple, axis: int) -> None:
        self.shape, self.axis = shape, axis

    def forward(self, x: np.ndarray) -> np.ndarray:
        return broadcast(x.reshape((-1,) + (1,) * (len(self.shape) - 1 - self.axis)), self.shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        others = tuple([i for i in range(len(self.shape)) if i != self.axis])
        return ops.ReduceSum()(dout, others) if others else dout


def meshgrid(*inputs: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Repeat vectors to the coordinates of all points of a grid.

    Args:
        inputs: vectors (or scalars), or one tuple of them.
        indexing: "ij" for shape (n0, n1, ...), "xy" for (n1, n0, ...).

    Returns:
        tuple of Tensors, one per vector.

    Raises:
        TypeError: if `indexing` is no str, or an input no Tensor.
        ValueError: if `indexing` is neither "xy" nor "ij", or an input no vector.

    Examples:
        >>> import dist_ms as ms
        >>> x, y = ms.ops.meshgrid(ms.Tensor([1, 2]), ms.Tensor([3, 4, 5]))
        >>> print(x.shape, y[:, 0])
        (3, 2) [3 4 5]
    """
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    check_string(indexing, "indexing", "meshgrid")
    one_of(indexing, "indexing", "meshgrid", ("xy", "ij"))
    vectors = [reshape(v, (1,)) if v.ndim == 0 else v for v in sequence(inputs, "inputs", "meshgrid")]
    if any(v.ndim != 1 for v in vectors):
        raise ValueError(f"For 'meshgrid', 'inputs' must have 1 dimension, but got {[v.ndim for v in vectors]}.")
    if any(v.dtype != vectors[0].dtype for v in vectors):
        raise ValueError(f"For 'meshgrid', 'inputs' must have one dtype, but got {[v.dtype for v in vectors]}.")
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    shape = tuple(vectors[i].shape[0] for i in order)
    return tuple([AlongGrid(shape, order.index(i))(v) for i, v in enumerate(vectors)])


class Meshgrid(Primitive):
    """`meshgrid` as a primitive: `Meshgrid(indexing)(inputs)`."""

    def __init__(self, indexing: str = "xy") -> None:
        self.indexing = one_of(indexing, "indexing", self.name, ("xy", "ij"))

    def __call__(self, inputs: Any) -> tuple:
        return meshgrid(*inputs, indexing=self.indexing)


def cartesian_prod(*inputs: Tensor) -> Tensor:
    """List all combinations of one element of each vector.

    Args:
        inputs: vectors of one dtype.

    Returns:
        Tensor (number of combinations, number of vectors); the vector itself if there is just one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cartesian_prod(ms.Tensor([1, 2]), ms.Tensor([3, 4])))
        [[1 3]
         [1 4]
         [2 3]
         [2 4]]
    """
    if len(inputs) == 1:
        return inputs[0]
    grid = meshgrid(*inputs, indexing="ij")
    return ops.stack([reshape(g, (-1,)) for g in grid], 1)


@plain("r")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """List all choices of `r` elements of a vector, in order.

    Args:
        input: a vector.
        r: how many elements to choose, at least 1.
        with_replacement: whether an element may come several times.

    Returns:
        Tensor (number of choices, r).

    Raises:
        ValueError: if `input` is no vector or `r` below 1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.combinations(ms.Tensor([1, 2, 3])))
        [[1 2]
         [1 3]
         [2 3]]
    """
    if tensor(input, "input", "combinations").ndim != 1 or integer(r, "r", "combinations") < 1:
        raise ValueError(
            f"For 'combinations', 'input' must have 1 dimension and 'r' be positive, but got {input.ndim} and {r}."
        )
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.size), r)), np.int64).reshape(-1, r)
    return ops.picking.indexing.GetItem(places)(input)
