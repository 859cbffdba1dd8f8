"""Transforms of whole columns: joined, padded, cut and counted values."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_type, complaint
from dist_ms.common.refusing import refused
from dist_ms.dataset.transforms.values import column_array

Plugin = refused("Plugin", "loads no transforms of MindSpore's compiled form", "Give 'map' a Python function instead.")

_CONSTANTS = (str, float, bool, int, bytes)


def of_kind(array: np.ndarray, other: np.ndarray, name: str, owner: str) -> None:
    """Require that both are strings, or both numbers."""
    if (array.dtype.kind in "US") != (other.dtype.kind in "US"):
        wanted = "a string for strings, and a number for numbers"
        raise RuntimeError(complaint(name, owner, wanted, f"{other.dtype} with {array.dtype}"))


class Concatenate:
    """The columns one behind another, as one.

    Args:
        axis: 0 or -1; columns have one dimension.
        prepend, append: arrays of one dimension that come first and last.

    Raises:
        RuntimeError: when called, if the columns have not one dimension and one type.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import transforms
        >>> print(transforms.Concatenate(append=np.array([9]))(np.array([1, 2]), np.array([3])))
        [1 2 3 9]
    """

    random = False

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        owner = "Concatenate"
        if check_type(axis, "axis", owner, int) not in (0, -1):
            raise ValueError(complaint("axis", owner, "0 or -1", axis))
        for name, value in (("prepend", prepend), ("append", append)):
            if check_type(value, name, owner, (np.ndarray, type(None))) is not None and value.ndim != 1:
                raise ValueError(complaint(name, owner, "of one dimension", f"of shape {value.shape}"))
        self.axis, self.prepend, self.append = axis, prepend, append

    def __call__(self, *columns: Any) -> np.ndarray:
        """Join the columns of one row."""
        arrays = [column_array(column, "Concatenate") for column in columns]
        parts = [a for a in (self.prepend, *arrays, self.append) if a is not None]
        for array in parts:
            if array.ndim != 1:
                raise RuntimeError(complaint("column", "Concatenate", "of one dimension", f"of shape {array.shape}"))
            same = (
                array.dtype.kind == parts[0].dtype.kind if array.dtype.kind in "US" else array.dtype == parts[0].dtype
            )
            if not same:
                wanted = f"of one type, {parts[0].dtype}"
                raise RuntimeError(complaint("column", "Concatenate", wanted, array.dtype))
        return np.concatenate(parts)


class PadEnd:
    """The column padded behind its values to a shape, or cut to it.

    Args:
        pad_shape: a list with each dimension's length; None leaves it as it is.
        pad_value: what is put there; None for 0, or the empty string.

    Raises:
        RuntimeError: when called, if the column has another number of dimensions, or values of another kind.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> print(transforms.PadEnd([4], 9)([1, 2]))
        [1 2 9 9]
    """

    random = False

    def __init__(self, pad_shape: list[int | None], pad_value: Any = None) -> None:
        owner = "PadEnd"
        check_type(pad_value, "pad_value", owner, (*_CONSTANTS, type(None)))
        for length in check_type(pad_shape, "pad_shape", owner, list):
            if length is not None:
                check_int_range(length, "pad_shape", owner, 1, 2**63 - 1)
        self.pad_shape, self.pad_value = list(pad_shape), pad_value

    def __call__(self, column: Any) -> np.ndarray:
        """Pad one column."""
        array = column_array(column, "PadEnd")
        if not array.ndim:  # no axis to pad
            return array
        if array.ndim != len(self.pad_shape):
            wanted = f"of {len(self.pad_shape)} dimensions"
            raise RuntimeError(complaint("column", "PadEnd", wanted, f"of shape {array.shape}"))
        shape = tuple(n if wanted is None else wanted for n, wanted in zip(array.shape, self.pad_shape))
        array = array[tuple(slice(n) for n in shape)]
        if self.pad_value is None:
            result = np.zeros(shape, array.dtype)
        else:
            value = np.asarray(self.pad_value)
            of_kind(array, value, "pad_value", "PadEnd")
            element = np.result_type(array.dtype, value.dtype) if array.dtype.kind in "US" else array.dtype
            result = np.empty(shape, element)
            result[...] = value.astype(element)
        result[tuple(slice(n) for n in array.shape)] = array
        return result


class Slice:
    """Parts of the column along its dimensions, all of which stay.

    Args:
        slices: for each of the first dimensions an int, a list of ints, a slice, or None, True or ... for all of it.

    Raises:
        RuntimeError: when called, if a place lies outside, or there are more slices than dimensions.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> print(transforms.Slice(slice(0, 2))([1, 2, 3]))
        [1 2]
        >>> print(transforms.Slice(1, [0, 2])([[1, 2, 3], [4, 5, 6]]))
        [[4 6]]
    """

    random = False

    def __init__(self, *slices: Any) -> None:
        for part in slices:
            if part is not None:
                check_type(part, "slices", "Slice", (int, list, slice, bool, type(Ellipsis)))
            for place in part if isinstance(part, list) else ():
                check_type(place, "slices", "Slice", int)
        self.slices = slices

    def __call__(self, column: Any) -> np.ndarray:
        """Slice one column."""
        array = column_array(column, "Slice")
        if len(self.slices) > array.ndim or not array.ndim:
            wanted = f"of at least {max(len(self.slices), 1)} dimensions"
            raise RuntimeError(complaint("column", "Slice", wanted, f"of shape {array.shape}"))
        for axis, part in enumerate(self.slices):
            if part is None or part is True or part is Ellipsis:
                continue
            if isinstance(part, slice):
                array = array[(slice(None),) * axis + (part,)]
            else:
                places = [part] if isinstance(part, int) else part
                length = array.shape[axis]
                if part is False or not all(-length <= place < length for place in places):
                    wanted = f"within the {length} values of dimension {axis}"
                    raise RuntimeError(complaint("slices", "Slice", wanted, repr(part)))
                array = np.take(array, places, axis=axis)
        return array.copy() if array.base is not None else array


class Unique:
    """The column's distinct values, where each value is among them, and how often each is there.

    Values come in the order in which they are first there.

    Raises:
        RuntimeError: when called, for strings.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> print(*transforms.Unique()([3, 1, 3]))
        [3 1] [0 1 0] [2 1]
    """

    random = False

    def __call__(self, column: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Count one column's values."""
        array = column_array(column, "Unique")
        if array.dtype.kind not in "biuf":
            raise RuntimeError(complaint("column", "Unique", "numbers", array.dtype))
        values, first, places, counts = np.unique(
            array.ravel(), return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order))
        return values[order], rank[places.ravel()], counts[order].astype(np.int32)
