"""Transforms of one column's values."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_number_range, check_positive_int, check_type, complaint
from dist_ms.common.dtype import string, to_numpy


def column_array(value: Any, owner: str) -> np.ndarray:
    """What a transform gets, as an array.

    Raises:
        TypeError: for nothing at all, as of a function that returns none.
    """
    if value is None:
        raise TypeError(complaint("column", owner, "an array, a number or a string", "None"))
    return np.asarray(value)


class Duplicate:
    """The column twice.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> print(transforms.Duplicate()([1, 2]))
        (array([1, 2]), array([1, 2]))
    """

    def __call__(self, value: Any) -> tuple[np.ndarray, np.ndarray]:
        array = column_array(value, "Duplicate")
        return array, array.copy()


class Fill:
    """An array of the same shape and type, filled with one value.

    Args:
        fill_value: a number, a bool, or a string for columns of strings.

    Raises:
        RuntimeError: when called, for a string with numbers, or a number with strings.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> print(transforms.Fill(3)([1.0, 2.0]))
        [3. 3.]
    """

    def __init__(self, fill_value: Any) -> None:
        self.fill_value = check_type(fill_value, "fill_value", "Fill", (str, float, bool, int, bytes))

    def __call__(self, value: Any) -> np.ndarray:
        array, fill = column_array(value, "Fill"), np.asarray(self.fill_value)
        strings = [a.dtype.kind if a.dtype.kind in "US" else "" for a in (array, fill)]
        if strings[0] != strings[1]:
            found = f"{self.fill_value!r} with {array.dtype}"
            wanted = "a string for strings, and a number for numbers"
            raise RuntimeError(complaint("fill_value", "Fill", wanted, found))
        return np.full(array.shape, fill if strings[0] else fill.astype(array.dtype))


class OneHot:
    """Labels as rows with one 1; a label of shape (1,), as files of records have them, is one row as well.

    Args:
        num_classes: the rows' length.
        smoothing_rate: what the 1 gives away to all classes alike, between 0 and 1.

    Raises:
        RuntimeError: when called, if a label is no int or not below `num_classes`.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> print(transforms.OneHot(4)(2))
        [0 0 1 0]
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        self.num_classes = check_positive_int(num_classes, "num_classes", "OneHot")
        self.smoothing_rate = check_number_range(smoothing_rate, "smoothing_rate", "OneHot", 0, 1)

    def __call__(self, label: Any) -> np.ndarray:
        label = column_array(label, "OneHot")
        if label.dtype.kind not in "iu" or (label.size and not 0 <= label.min() <= label.max() < self.num_classes):
            raise RuntimeError(f"For 'OneHot', labels must be ints from 0 to {self.num_classes - 1}, but got {label}.")
        rows = np.eye(self.num_classes, dtype=label.dtype)[label.reshape(()) if label.shape == (1,) else label]
        rate = self.smoothing_rate
        return rows * (1 - rate) + rate / self.num_classes if rate else rows


class TypeCast:
    """The column in another type.

    Args:
        data_type: a dtype of mindspore or NumPy.

    Raises:
        TypeError: if it is none.
        RuntimeError: when called, for strings that are no numbers.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.dataset import transforms
        >>> print(transforms.TypeCast(ms.int32)([1.5]))
        [1]
    """

    def __init__(self, data_type: Any) -> None:
        if data_type is None:
            raise TypeError(complaint("data_type", "TypeCast", "a dtype", "None"))
        self.dtype = np.dtype(np.str_) if data_type in (np.str_, str, string) else to_numpy(data_type)
        if data_type is float:  # Python's own, of 64 bits
            self.dtype = np.dtype(np.float64)

    def __call__(self, value: Any) -> np.ndarray:
        array = column_array(value, "TypeCast")
        if self.dtype.kind == "U" and array.dtype.kind != "U":
            raise RuntimeError(complaint("column", "TypeCast", "strings", array.dtype))
        try:
            return array if self.dtype.kind == "U" else array.astype(self.dtype)
        except (ValueError, OverflowError) as error:
            raise RuntimeError(complaint("column", "TypeCast", f"{self.dtype} as text", str(error))) from error
