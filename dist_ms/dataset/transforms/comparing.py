"""Where a column's values compare with a constant in a given way."""

from __future__ import annotations

import operator as operators
from enum import IntEnum
from typing import Any

import numpy as np

from dist_ms.common.checks import check_type, complaint
from dist_ms.common.dtype import Number, bool_, to_numpy
from dist_ms.dataset.transforms.joining import _CONSTANTS, of_kind
from dist_ms.dataset.transforms.values import column_array


class Relational(IntEnum):
    """Comparisons for Mask.

    Examples:
        >>> from dist_ms.dataset.transforms import Relational
        >>> Relational.GE.name
        'GE'
    """

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


class Mask:
    """Where the column's values compare with a constant as wanted.

    Args:
        operator: a Relational.
        constant: what to compare with; it is cast to the column's type.
        dtype: the result's.

    Raises:
        RuntimeError: when called, if only one of the column and the constant are strings.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> print(transforms.Mask(transforms.Relational.GE, 2)([1, 2, 3]))
        [False  True  True]
    """

    random = False

    def __init__(self, operator: Relational, constant: Any, dtype: Any = bool_) -> None:
        self.operator = check_type(operator, "operator", "Mask", Relational)
        self.constant = check_type(constant, "constant", "Mask", _CONSTANTS)
        self.dtype = to_numpy(check_type(dtype, "dtype", "Mask", Number))

    def __call__(self, column: Any) -> np.ndarray:
        """Compare one column."""
        array = column_array(column, "Mask")
        constant = np.asarray(self.constant)
        of_kind(array, constant, "constant", "Mask")
        if array.dtype.kind not in "US":
            constant = constant.astype(array.dtype)
        elif constant.dtype.kind != array.dtype.kind:
            raise RuntimeError(complaint("constant", "Mask", f"of type {array.dtype}", repr(self.constant)))
        compare = getattr(operators, self.operator.name.lower())
        return np.asarray(compare(array, constant)).astype(self.dtype)
