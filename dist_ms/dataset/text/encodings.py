"""Arrays of texts as arrays of bytes, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_string, complaint

__all__ = ["to_bytes", "to_str"]


def to_bytes(array: Any, encoding: str = "utf8") -> np.ndarray:
    r"""Return texts as bytes.

    Args:
        array: of texts.
        encoding: of the bytes.

    Raises:
        TypeError, ValueError: for anything but an array of texts.

    Examples:
        >>> import numpy as np
        >>> import dist_ms.dataset.text as text
        >>> print(text.to_bytes(np.array(["é"])))
        [b'\xc3\xa9']
    """
    if not isinstance(array, np.ndarray):
        raise ValueError(complaint("array", "to_bytes", "a NumPy array", type(array).__name__))
    return np.char.encode(array, check_string(encoding, "encoding", "to_bytes"))


def to_str(array: Any, encoding: str = "utf8") -> np.ndarray:
    """Return bytes as texts.

    Args:
        array: of bytes.
        encoding: of the bytes.

    Raises:
        TypeError, ValueError: for anything but an array of bytes.

    Examples:
        >>> import numpy as np
        >>> import dist_ms.dataset.text as text
        >>> print(text.to_str(np.array([b"ab"])))
        ['ab']
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(complaint("array", "to_str", "a NumPy array", type(array).__name__))
    return np.char.decode(array, check_string(encoding, "encoding", "to_str"))
