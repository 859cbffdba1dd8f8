"""Windows of signal processing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import FLOAT32, integer_of

__all__ = ["bartlett", "blackman", "hamming", "hanning"]


def _window(name: str, M: int, shape: Callable) -> Tensor:
    """A window of `M` points in float32."""
    return wrap(np.asarray(shape(max(integer_of(M, "M", name), 0)), FLOAT32))


def bartlett(M: int) -> Tensor:
    """Return the triangle of `M` points that starts and ends at 0.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.bartlett(5))
        [0.  0.5 1.  0.5 0. ]
    """
    return _window("bartlett", M, np.bartlett)


def blackman(M: int) -> Tensor:
    """Return 0.42 - 0.5 cos(2 pi n / (M-1)) + 0.08 cos(4 pi n / (M-1))."""
    return _window("blackman", M, np.blackman)


def hamming(M: int) -> Tensor:
    """Return 0.54 - 0.46 cos(2 pi n / (M-1))."""
    return _window("hamming", M, np.hamming)


def hanning(M: int) -> Tensor:
    """Return 0.5 - 0.5 cos(2 pi n / (M-1))."""
    return _window("hanning", M, np.hanning)
