"""Elements taken, put and added along one dimension of an array, by an index for each or for whole slices."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from dist_ms.ops.kernels import embedding, index_along
from dist_ms.ops.layout import broadcast, contiguous, converted, copy_into

_ADDED = tuple(map(np.dtype, (np.float32, np.float64, np.int32, np.int64)))
_WIDE = np.dtype(np.float32)
_NARROW = (np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16))
_SUMMED = (np.dtype(np.float32), np.dtype(np.float64), *_NARROW)


def take_along(x: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    """The elements of `x` at `index` (..., count, ...), which is as long as `x` or shorter in the other dimensions.

    Raises:
        IndexError: if an index is out of range.
    """
    x = x[tuple([slice(None) if i == axis else slice(n) for i, n in enumerate(index.shape)])]
    if x.itemsize > 8:
        return np.take_along_axis(x, index, axis)
    out = np.empty(index.shape, x.dtype)
    index_along.take(_folded(contiguous(x), axis), _indices(index, axis), _folded(out, axis))
    return out


def take_slices(x: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    """The slices of `x` at `index` (any shape), whose dimensions stand in the place of `axis`.

    Raises:
        IndexError: if an index is out of range.
    """
    if x.itemsize > 8:
        return np.take(x, index, axis)
    out = np.empty((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), x.dtype)
    source = _folded(contiguous(x), axis)
    target = out.reshape(source.shape[0], index.size, source.shape[2])
    index_along.take(source, _for_slices(index, target.shape), target)
    return out


def put_along(out: np.ndarray, index: np.ndarray, values: np.ndarray, axis: int) -> None:
    """Put `values` at `index`, of their shape, into the C-contiguous `out`; of several the last one stays.

    Raises:
        IndexError: if an index is out of range; `out` is then undefined.
    """
    if out.itemsize > 8 or not _same_but_for(axis, out, index):
        out[places(index, axis)] = values
    else:
        values = contiguous(broadcast(values, index.shape))
        index_along.put(_folded(out, axis), _indices(index, axis), _folded(values, axis))


def add_along(out: np.ndarray, index: np.ndarray, values: np.ndarray, axis: int) -> None:
    """Add `values` at `index`, of their shape, into the C-contiguous `out`, in the order of the indices.

    Raises:
        IndexError: if an index is out of range; `out` is then undefined.
    """
    line = _line(index, axis)
    if line is not None and axis == 0 and is_narrow(out) and values.dtype == out.dtype and _same_but_for(0, out, index):
        add_rows(out, line, values)
    elif is_narrow(out):
        wide = converted(out, _WIDE)
        add_along(wide, index, converted(values, _WIDE), axis)
        copy_into(converted(wide, out.dtype), out)
    elif out.dtype not in _ADDED or values.dtype != out.dtype or not _same_but_for(axis, out, index):
        add_at_places(out, places(index, axis), values)
    elif line is not None:
        add_slices(out, line, values, axis)
    else:
        index_along.add(_folded(out, axis), _indices(index, axis), _folded(contiguous(values), axis))


def add_slices(out: np.ndarray, index: np.ndarray, values: np.ndarray, axis: int) -> None:
    """Add slices to those of the C-contiguous `out` at the vector `index`, in its order.

    Raises:
        IndexError: if an index is out of range; `out` is then undefined.
    """
    if axis == 0:
        add_rows(out, index, values)
        return
    if is_narrow(out):
        wide = converted(out, _WIDE)
        add_slices(wide, index, converted(values, _WIDE), axis)
        copy_into(converted(wide, out.dtype), out)
        return
    if out.dtype not in _ADDED or values.dtype != out.dtype:
        np.add.at(out, (slice(None),) * axis + (index,), values)
        return
    folded = _folded(contiguous(values), axis)
    index_along.add(_folded(out, axis), _for_slices(index, folded.shape), folded)


def add_rows(out: np.ndarray, rows: np.ndarray, values: np.ndarray) -> None:
    """Add values to the rows (first dimension) with these numbers, in the given order."""
    flat = values.reshape(rows.size, *out.shape[1:])
    rows = rows.reshape(-1)
    if out.dtype in _SUMMED and flat.dtype == out.dtype and out.ndim > 1 and out.flags.c_contiguous and flat.size:
        ids = np.where(rows < 0, rows + len(out), rows).astype(np.int64, copy=False)
        embedding.scatter_add(contiguous(flat).reshape(rows.size, -1), ids, out.reshape(len(out), -1))
    elif is_narrow(out):
        wide = contiguous(out, _WIDE)
        add_rows(wide, rows, converted(flat, _WIDE))
        copy_into(converted(wide, out.dtype), out)
    else:
        np.add.at(out, rows, flat)


def add_at_places(out: np.ndarray, index: tuple, values: np.ndarray) -> None:
    """Add values at a NumPy index, a tuple, at places named several times as often; sums of 16 bits are float32.

    Raises:
        IndexError: if an index is out of range.
    """
    if is_narrow(out):
        wide = out.astype(np.float32, order="C")
        add_at_places(wide, index, np.asarray(values, np.float32))
        out[...] = wide
    elif _names_rows(out, index):
        lead = out.shape[: len(index)]
        each = np.broadcast_arrays(*[np.where(i < 0, i + n, i) for i, n in zip(index, lead, strict=True)])
        rows = np.ravel_multi_index(each, lead)
        values = broadcast(values, (*rows.shape, *out.shape[len(index) :]))
        add_rows(out.reshape(-1, *out.shape[len(index) :]), rows, values)
    else:
        np.add.at(out, index, values)


def is_narrow(x: np.ndarray) -> bool:
    """Whether numbers are floats of 16 bits, whose sums are kept in float32."""
    return x.dtype in _NARROW


def _names_rows(out: np.ndarray, index: tuple) -> bool:
    """Whether all parts of an index are arrays of integers in range, for an array whose memory is in order."""
    return (
        len(index) <= out.ndim
        and out.flags.c_contiguous
        and all(
            isinstance(part, np.ndarray)
            and part.dtype.kind in "iu"
            and part.size > 0
            and -size <= part.min()
            and part.max() < size
            for part, size in zip(index, out.shape, strict=False)
        )
    )


def places(index: np.ndarray, axis: int) -> tuple:
    """The NumPy index of one element per entry of `index`, which is for one dimension."""
    grid = [np.arange(n).reshape([-1 if i == j else 1 for j in range(index.ndim)]) for i, n in enumerate(index.shape)]
    grid[axis] = index
    return tuple(grid)


def _same_but_for(axis: int, out: np.ndarray, index: np.ndarray) -> bool:
    """Whether `index` is as long as `out` in all dimensions but one."""
    return all(n == m for i, (n, m) in enumerate(zip(index.shape, out.shape)) if i != axis)


def _folded(x: np.ndarray, axis: int) -> np.ndarray:
    """A view of a C-contiguous array with the dimensions before and behind `axis` made one each."""
    return x.reshape(math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :]))


def _wide(index: np.ndarray) -> np.ndarray:
    """Indices in a type that the kernel takes."""
    return index if index.dtype.kind == "i" and index.itemsize >= 4 else index.astype(np.int64)


def _line(index: np.ndarray, axis: int) -> np.ndarray | None:
    """The vector that `index` is broadcast from, if it names whole slices along `axis`."""
    if not index.size or any(
        n > 1 and step for i, (n, step) in enumerate(zip(index.shape, index.strides)) if i != axis
    ):
        return None
    return index[tuple([slice(None) if i == axis else 0 for i in range(index.ndim)])]


def _indices(index: np.ndarray, axis: int) -> np.ndarray:
    """`index` with three dimensions like `_folded`; one that names whole slices stays a view of a vector."""
    index = _wide(index)
    shape = (math.prod(index.shape[:axis]), index.shape[axis], math.prod(index.shape[axis + 1 :]))
    line = _line(index, axis)
    return contiguous(index).reshape(shape) if line is None else _for_slices(line, shape)


def _for_slices(index: np.ndarray, shape: tuple) -> np.ndarray:
    """Indices of slices as the kernel takes them, in any strides."""
    return broadcast(_wide(index).reshape(1, -1, 1), shape)
