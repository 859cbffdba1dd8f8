"""ToNumber: texts as numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.dtype import to_numpy
from dist_ms.dataset.text.operation import TextOperation

__all__ = ["ToNumber"]

_INTEGER = re.compile(r"\s*([+-]?\d+)")
_FLOAT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_HEXADECIMAL = re.compile(r"\s*([+-]?0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?(?:[pP][+-]?\d+)?)")
_NAN = re.compile(r"\s*[+-]?nan", re.IGNORECASE)


class ToNumber(TextOperation):
    """Reads each text as a number; what follows the number is not looked at, as in C.

    Args:
        data_type: of the numbers: integers or floats.

    Raises:
        TypeError: if `data_type` is no such type.
        RuntimeError: when called, for a text that does not begin with a number, or one out of the type's range.

    Examples:
        >>> import dist_ms as ms
        >>> import dist_ms.dataset.text as text
        >>> print(text.ToNumber(ms.int32)(["1", "-23"]))
        [  1 -23]
    """

    def __init__(self, data_type: Any) -> None:
        self._dtype = np.dtype(to_numpy(data_type))
        if self._dtype.kind not in "iuf":
            raise TypeError(complaint("data_type", "ToNumber", "a type of integers or floats", data_type))

    def transform(self, array: np.ndarray) -> np.ndarray:
        """Read every text."""
        read = self._float if self._dtype.kind == "f" else self._integer
        found = [read(str(text)) for text in array.reshape(-1)]
        return np.array(found, self._dtype).reshape(array.shape)

    def _integer(self, text: str) -> int:
        match, range_ = _INTEGER.match(text), np.iinfo(self._dtype)
        if match is None or not range_.min <= int(match[1]) <= range_.max:
            raise RuntimeError(complaint("text", "ToNumber", f"a number of {self._dtype}", repr(text)))
        return int(match[1])

    def _float(self, text: str) -> float:
        if _NAN.match(text):
            return np.nan
        if match := _HEXADECIMAL.match(text):
            value = float.fromhex(match[1])
        elif match := _FLOAT.match(text):
            value = float(match[1])
        else:
            value = np.inf
        if abs(value) > float(np.finfo(self._dtype).max):
            raise RuntimeError(complaint("text", "ToNumber", f"a number of {self._dtype}", repr(text)))
        return value
