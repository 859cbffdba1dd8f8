"""x[index] and x[index] = value, with NumPy's forms of an index, and their gradients.

Reading with ints and slices shares memory. Writing goes into the tensor's memory when
nothing records. Under a gradient it goes into a copy, as the graph still holds the old
values; the tensor object then stands for the new ones, and the tensor it was read from follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.autograd.tape import overwrite, recording
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, to_array, wrap
from dist_ms.ops.broadcasting import reduce_to
from dist_ms.ops.kernels import masked as kernels
from dist_ms.ops.layout import surrounded
from dist_ms.ops.picking.along import add_at_places, add_rows, take_slices
from dist_ms.ops.primitive import Primitive, numpy_dtype

__all__: list[str] = []


# Elements that NumPy has looked through before a kernel would be called.
_LEAST = 2048


def _is_mask_for_kernel(mask: np.ndarray, x: np.ndarray) -> bool:
    """Whether a mask of the shape of `x` and it are what the kernel takes, and large."""
    return (
        mask.dtype.kind == "b"
        and x.size >= _LEAST
        and mask.flags.c_contiguous
        and x.flags.c_contiguous
        and x.itemsize in (1, 2, 4, 8)
        and x.flags.aligned
    )


class GetItem(Primitive):
    """The elements of a tensor at a NumPy index.

    Args:
        index: what NumPy takes between brackets.
    """

    keeps = ()

    def __init__(self, index: Any) -> None:
        self.index = index

    def forward(self, x: np.ndarray) -> np.ndarray:
        index = self.index
        try:
            if isinstance(index, np.ndarray):
                if type(index) is np.ndarray and index.shape == x.shape and _is_mask_for_kernel(index, x):
                    return kernels.take_where(x, index)
                if index.dtype.kind in "iu" and x.ndim:
                    return take_slices(x, index, 0)
            out = x[index]
        except IndexError as error:
            raise IndexError(f"For 'Tensor.__getitem__', {error}; the shape is {x.shape}.") from None
        return np.asarray(out)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return PutBack(self.index, inputs[0].shape)(dout)


def _corner(index: Any, shape: tuple) -> list[int] | None:
    """Where the part that slices name begins, dimension by dimension; None if the index is more than plain slices."""
    starts = []
    for part, length in zip(index if type(index) is tuple else (index,), shape):
        if not isinstance(part, slice) or part.step not in (None, 1):
            return None
        starts.append(part.indices(length)[0])
    return starts


def _row_step(index: Any, shape: tuple) -> tuple[int, int] | None:
    """The first row and the step of a slice that takes one of each so many rows of an array, or None."""
    part = index[0] if type(index) is tuple and len(index) == 1 else index
    if type(part) is not slice or len(shape) < 2 or 0 in shape:
        return None
    start, stop, step = part.indices(shape[0])
    if step < 2 or shape[0] % step or start >= step or stop <= shape[0] - step + start:
        return None
    return start, step


class PutBack(Primitive):
    """Zeros of a shape with values added at a NumPy index: the gradient of reading.

    Args:
        index: what NumPy takes between brackets.
        shape: the shape of the result.
    """

    keeps = ()

    def __init__(self, index: Any, shape: tuple) -> None:
        self.index, self.shape = index, shape

    def forward(self, values: np.ndarray) -> np.ndarray:
        starts = _corner(self.index, self.shape)
        if starts is not None:
            whole = (*starts, *(0,) * (len(self.shape) - len(starts)))
            return surrounded(values, whole, self.shape, np.zeros((), values.dtype))
        step = _row_step(self.index, self.shape)
        if step is not None:
            start, length = step
            spread = values.reshape(len(values), 1, *self.shape[1:])
            shape = (len(values), length, *self.shape[1:])
            zero = np.zeros((), values.dtype)
            return surrounded(spread, (0, start, *(0,) * (len(shape) - 2)), shape, zero).reshape(self.shape)
        out = np.zeros(self.shape, values.dtype)
        add_at(out, self.index, values)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return GetItem(self.index)(dout)


class SetItem(Primitive):
    """A copy of a tensor with other values at a NumPy index.

    Args:
        index: what NumPy takes between brackets.
    """

    keeps = ()

    def __init__(self, index: Any) -> None:
        self.index = index

    def forward(self, x: np.ndarray, value: np.ndarray) -> np.ndarray:
        out = x.copy(order="K")
        store(out, self.index, value)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, value = inputs
        zero = wrap(np.zeros((), numpy_dtype(x)))
        dvalue = None
        if wanted(value):
            taken = survivors(GetItem(self.index)(dout), self.index, dout.shape)
            extra = len(value.shape) - len(taken.shape)  # x[0] = tensor of shape (1,)
            dvalue = reduce_to(ops.reshape(taken, (1,) * extra + taken.shape) if extra > 0 else taken, value)
        return SetItem(self.index)(dout, zero), dvalue


def survivors(taken: Tensor, index: Any, shape: tuple) -> Tensor:
    """The gradients of values written at a NumPy index: 0 for those that a later one was written over."""
    parts = index if type(index) is tuple else (index,)
    if not any(isinstance(p, (np.ndarray, list)) and np.asarray(p).dtype.kind in "iu" for p in parts):
        return taken
    numbers = np.arange(taken.size).reshape(taken.shape)
    last = np.empty(shape, numbers.dtype)
    last[index] = numbers
    stays = last[index] == numbers
    return taken if stays.all() else ops.mul(taken, wrap(stays.astype(numpy_dtype(taken))))


def add_at(out: np.ndarray, index: Any, values: np.ndarray) -> None:
    """Add values at a NumPy index, at places named several times as often."""
    parts = index if type(index) is tuple else (index,)
    arrays = [p for p in parts if isinstance(p, np.ndarray)]
    if not arrays or all(a.dtype == bool for a in arrays):
        out[index] = values
    elif len(parts) == 1 and out.ndim and arrays[0].dtype.kind in "iu":
        add_rows(out, arrays[0], values)
    else:
        add_at_places(out, parts, values)


def store(out: np.ndarray, index: Any, value: Any) -> None:
    """out[index] = value, with MindSpore's error types; one element fits anywhere."""
    if isinstance(value, np.ndarray) and value.ndim and value.size == 1:
        value = value.reshape(())
    try:
        with np.errstate(all="ignore"):
            out[index] = value
    except IndexError as error:
        raise IndexError(f"For 'Tensor.__setitem__', {error}; the shape is {out.shape}.") from None
    except ValueError as error:
        raise ValueError(
            f"For 'Tensor.__setitem__', the shape of the value must broadcast to that of the indexed elements: {error}."
        ) from None


def numpy_index(index: Any) -> Any:
    """Turn a user's index into one NumPy takes: tensors into arrays, lists into arrays or tuples.

    Raises:
        IndexError: if a part is no int, slice, None, Ellipsis, bool, or tensor, list or array of ints or bools.
    """
    if type(index) is tuple:
        for part in index:
            if not (type(part) is slice and _plain(part)) and type(part) is not int and part is not None:
                break
        else:
            return index
    elif type(index) is int or (type(index) is slice and _plain(index)):
        return index
    if isinstance(index, list) and any(
        isinstance(i, (list, tuple, slice, Tensor)) or i is None or i is ... for i in index
    ):
        index = tuple(index)
    if isinstance(index, tuple):
        return tuple([_part(i) for i in index])
    return _part(index)


def _plain(index: slice) -> bool:
    """Whether a slice's bounds are ints or left out."""
    start, stop, step = index.start, index.stop, index.step
    return (
        (start is None or type(start) is int)
        and (stop is None or type(stop) is int)
        and (step is None or type(step) is int)
    )


def _part(part: Any) -> Any:
    """One part of an index."""
    if part is None or part is ... or isinstance(part, (bool, int, np.integer, np.bool_)):
        return part
    if isinstance(part, slice):
        return slice(_bound(part.start), _bound(part.stop), _bound(part.step))
    if isinstance(part, Tensor):
        part = part.array()
    elif isinstance(part, (list, tuple, range)):
        part = np.array(part if isinstance(part, range) else [_part(p) for p in part])
        if not part.size:
            part = part.astype(np.int64)
    if not isinstance(part, np.ndarray) or part.dtype.kind not in "biu":
        kind = f"{type(part).__name__} of {part.dtype}" if isinstance(part, np.ndarray) else type(part).__name__
        raise IndexError(
            "A tensor's index must be ints, slices, None, Ellipsis, bools, or tensors or lists of ints "
            f"or bools, but got {kind}."
        )
    if part.ndim == 0:
        return bool(part) if part.dtype.kind == "b" else int(part)
    return part


def _bound(bound: Any) -> Any:
    """A slice's bound: a number in a tensor becomes an int."""
    if isinstance(bound, Tensor):
        return int(bound)
    if bound is None or isinstance(bound, (int, np.integer)):
        return bound
    raise IndexError(f"A slice's bounds must be ints, but got {type(bound).__name__}.")


def getitem(self: Tensor, index: Any) -> Tensor:
    """Return the elements of a tensor at an index; ints and slices share its memory."""
    index = numpy_index(index)
    out = GetItem(index)(self)
    if recording.on and out._data.base is not None:
        out.__dict__["_viewed"] = (self, index)
    return out


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """Write values at an index of a tensor; they take its dtype."""
    index = numpy_index(index)
    if not isinstance(value, Tensor):
        value = _value(value)
    if recording.on:
        rebind(self, SetItem(index)(self, ops.creating.casting.cast_array(value, self.array().dtype)))
        viewed = self.__dict__.get("_viewed")
        if viewed is not None:  # the tensor shares its values with the one it was read from
            base, where = viewed
            piece = GetItem(where)(base)
            setitem(piece, index, value)
            setitem(base, where, piece)
    else:
        array = writable(self)
        store(array, index, _stored(value.array(), array.dtype))


def _stored(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array in the dtype to store it in."""
    if array.dtype == dtype:
        return array
    with np.errstate(all="ignore"):
        return (array.real if array.dtype.kind == "c" and dtype.kind != "c" else array).astype(dtype)


def _value(value: Any) -> Tensor:
    """A value to be stored, as a tensor."""
    if isinstance(value, str):
        raise IndexError(f"For 'Tensor.__setitem__', the value must be a number or a Tensor, but got {value!r}.")
    if value is None or not isinstance(value, (bool, int, float, complex, np.generic, np.ndarray, list, tuple)):
        raise TypeError(
            "For 'Tensor.__setitem__', the value must be a number, a Tensor, an array, a list or a tuple, "
            f"but got {type(value).__name__}."
        )
    return wrap(to_array(value))


def writable(x: Tensor) -> np.ndarray:
    """The array of a tensor that is about to be written: one of its own, if others need the old one."""
    if isinstance(x, Parameter):
        x.before_write()
        return x.array()
    array = x.array()
    # Within a gradient, also where recording pauses, the graph may hold the array.
    if recording.depth or not array.flags.writeable:
        array = x._data = array.copy(order="K")
    return array


def rebind(x: Tensor, new: Tensor) -> None:
    """Let a tensor object stand for the value and history of `new` from now on.

    Arrays the graph keeps hold what they held. A Parameter's array stays where it is.
    """
    if isinstance(x, Parameter):
        writable(x)[...] = new._data
        x._node, x._index = new._node, new._index
    else:
        overwrite(x, new)


Tensor.__getitem__ = getitem
Tensor.__setitem__ = setitem
