"""Filters with given coefficients, and the recursion that all filters share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_type, complaint
from dist_ms.common.late_names import LateModule
from dist_ms.dataset.audio.operation import AudioOperation, any_float

__all__ = ["Filtfilt", "LFilter"]

signal = LateModule("scipy.signal")


def filtered(audio: np.ndarray, b: Sequence[float], a: Sequence[float], clamp: bool = True) -> np.ndarray:
    """b / a over time, from rest, with coefficients of the array's type; within [-1, 1] if `clamp`."""
    kind = audio.dtype.type
    numerator, denominator = (np.array(values, kind).astype(np.float64) for values in (b, a))
    result = signal.lfilter(numerator, denominator, audio.astype(np.float64), axis=-1)
    if clamp:
        np.clip(result, -1, 1, out=result)
    return result.astype(kind)


class LFilter(AudioOperation):
    """The filter with the coefficients `b_coeffs` over `a_coeffs`, of rising delays.

    Args:
        a_coeffs: of earlier results; the first must not be 0.
        b_coeffs: of the input, as many.
        clamp: keep results within [-1, 1].

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.LFilter([1.0, -0.5], [1.0, 0.0])(np.array([0.5, 0.0, 0.0])))
        [0.5   0.25  0.125]
    """

    real = False

    def __init__(
        self,
        a_coeffs: list[float] | tuple[float, ...],
        b_coeffs: list[float] | tuple[float, ...],
        clamp: bool = True,
    ) -> None:
        owner = type(self).__name__
        self.a_coeffs = _coefficients(a_coeffs, "a_coeffs", owner)
        self.b_coeffs = _coefficients(b_coeffs, "b_coeffs", owner)
        if len(a_coeffs) != len(b_coeffs):
            raise ValueError(complaint("b_coeffs", owner, f"of {len(a_coeffs)} numbers as a_coeffs", len(b_coeffs)))
        self.clamp = check_bool(clamp, "clamp", owner)
        if a_coeffs[0] == 0:
            raise ValueError(complaint("a_coeffs", owner, "numbers of which the first is not 0", repr(a_coeffs)))

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Filter an array."""
        return filtered(audio, self.b_coeffs, self.a_coeffs, self.clamp)


class Filtfilt(LFilter):
    """The filter forwards and then backwards in time, so that nothing is delayed.

    Args:
        a_coeffs: of earlier results; the first must not be 0.
        b_coeffs: of the input, as many.
        clamp: keep what each way gives within [-1, 1].

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Filtfilt([1.0, 0.0], [0.5, 0.5])(np.array([0.0, 1.0, 0.0])))
        [0.25 0.5  0.25]
    """

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Filter an array twice."""
        there = filtered(audio, self.b_coeffs, self.a_coeffs, False)
        return filtered(there[..., ::-1], self.b_coeffs, self.a_coeffs, self.clamp)[..., ::-1].copy()


def _coefficients(values: Any, name: str, owner: str) -> list[float]:
    check_type(values, name, owner, (list, tuple))
    if not values:
        raise ValueError(complaint(name, owner, "one number or more", "none"))
    return [any_float(value, f"{name}[{i}]", owner) for i, value in enumerate(values)]
