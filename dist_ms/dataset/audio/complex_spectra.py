"""Magnitudes and angles of complex numbers, decibels, and features that follow a spectrogram's frames."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_type
from dist_ms.dataset.audio.enums import BorderType, ScaleType
from dist_ms.dataset.audio.operation import (
    INT32,
    AudioOperation,
    ComplexOperation,
    any_float,
    float_from_0,
    int_from_0,
    positive_float,
)

__all__ = [
    "AmplitudeToDB",
    "Angle",
    "ComplexNorm",
    "ComputeDeltas",
    "DBToAmplitude",
    "Magphase",
    "SlidingWindowCmn",
]

BORDERS = {
    BorderType.CONSTANT: "constant",
    BorderType.EDGE: "edge",
    BorderType.REFLECT: "reflect",
    BorderType.SYMMETRIC: "symmetric",
}
"""NumPy's names of the borders."""


class Angle(ComplexOperation):
    """The angles of complex numbers, in radians.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Angle()(np.array([[1.0, 0.0], [0.0, 2.0]])).round(4))
        [0.     1.5708]
    """

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the angles of an array."""
        return np.arctan2(audio[..., 1], audio[..., 0])


class ComplexNorm(ComplexOperation):
    """The magnitudes of complex numbers, to a power.

    Args:
        power: the exponent, 0 or more.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.ComplexNorm(2.0)(np.array([[3.0, 4.0]])))
        [25.]
    """

    def __init__(self, power: float = 1.0) -> None:
        self.power = float_from_0(power, "power", type(self).__name__)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the magnitudes of an array."""
        squares = audio[..., 0] ** 2 + audio[..., 1] ** 2
        return np.asarray(squares ** audio.dtype.type(self.power / 2))


class Magphase(ComplexNorm):
    """The magnitudes of complex numbers, to a power, and their angles.

    Args:
        power: the magnitudes' exponent, 0 or more.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> magnitude, angle = audio.Magphase()(np.array([[3.0, 4.0]]))
        >>> print(magnitude, angle.round(4))
        [5.] [0.9273]
    """

    def transform(self, audio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take magnitudes and angles of an array."""
        return super().transform(audio), np.asarray(np.arctan2(audio[..., 1], audio[..., 0]))


class AmplitudeToDB(AudioOperation):
    """Decibels, none more than `top_db` below the loudest of a (channel, frequency, time) block.

    Args:
        stype: whether powers or magnitudes are given.
        ref_value: what is 0 dB, above 0.
        amin: the least value, above 0.
        top_db: the range of decibels, above 0.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.AmplitudeToDB()(np.array([[1.0, 100.0, 0.0]])))
        [[  0.  20. -60.]]
    """

    axes = 2

    def __init__(
        self, stype: ScaleType = ScaleType.POWER, ref_value: float = 1.0, amin: float = 1e-10, top_db: float = 80.0
    ) -> None:
        self.stype = check_type(stype, "stype", "AmplitudeToDB", ScaleType)
        self.ref_value = positive_float(ref_value, "ref_value", "AmplitudeToDB")
        self.amin = positive_float(amin, "amin", "AmplitudeToDB")
        self.top_db = positive_float(top_db, "top_db", "AmplitudeToDB")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the decibels of an array."""
        multiplier = 10 if self.stype is ScaleType.POWER else 20
        return decibels(audio, multiplier, self.ref_value, self.amin, self.top_db)


def decibels(audio: np.ndarray, multiplier: int, ref_value: float, amin: float, top_db: float) -> np.ndarray:
    """Decibels of an array of (..., frequency, time) within a range below each block's loudest."""
    levels = multiplier * np.log10(np.maximum(audio, amin)) - multiplier * np.log10(max(amin, ref_value))
    axes = tuple(range(-min(3, audio.ndim), 0))
    return np.maximum(levels, levels.max(axes, keepdims=True) - top_db).astype(audio.dtype)


class DBToAmplitude(AudioOperation):
    """Powers or magnitudes from decibels: ref * (10 ** (x / 10)) ** power.

    Args:
        ref: what 0 dB is.
        power: 1 for powers, 0.5 for magnitudes.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.DBToAmplitude(1.0, 1.0)(np.array([0.0, 20.0])))
        [  1. 100.]
    """

    def __init__(self, ref: float, power: float) -> None:
        self.ref = any_float(ref, "ref", "DBToAmplitude")
        self.power = any_float(power, "power", "DBToAmplitude")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the amplitudes of an array."""
        with np.errstate(over="ignore"):
            return (self.ref * (10 ** (audio * 0.1)) ** self.power).astype(audio.dtype)


class ComputeDeltas(AudioOperation):
    """How each feature changes over time: the slope of a line through a window of (..., frequency, time).

    Args:
        win_length: the window, 3 or more.
        pad_mode: how the features go on beyond the ends.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.ComputeDeltas(3)(np.array([[1.0, 2.0, 4.0, 8.0]])))
        [[0.5 1.5 3.  2. ]]
    """

    axes = 2

    def __init__(self, win_length: int = 5, pad_mode: BorderType = BorderType.EDGE) -> None:
        check_type(pad_mode, "pad_mode", "ComputeDeltas", BorderType)
        self.win_length = check_int_range(win_length, "win_length", "ComputeDeltas", 3, INT32)
        self.pad_mode = pad_mode

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the slopes of an array."""
        n = (self.win_length - 1) // 2
        padded = np.pad(audio, [(0, 0)] * (audio.ndim - 1) + [(n, n)], BORDERS[self.pad_mode])
        windows = np.lib.stride_tricks.sliding_window_view(padded.astype(np.float64), 2 * n + 1, -1)
        slopes = windows @ np.arange(-n, n + 1) / (n * (n + 1) * (2 * n + 1) / 3)
        return slopes.astype(audio.dtype)


class SlidingWindowCmn(AudioOperation):
    """Features (..., time, feature) less their mean over a window of time.

    Args:
        cmn_window: the window's frames; those before the frame, if the window is not centered.
        min_cmn_window: the least frames at the start, if the window is not centered.
        center: whether the frame is in the window's middle, else at its end.
        norm_vars: divide by the window's deviation, too.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.SlidingWindowCmn(2, 1)(np.array([[1.0], [3.0], [5.0]])).ravel())
        [0. 1. 2.]
    """

    axes = 2

    def __init__(
        self, cmn_window: int = 600, min_cmn_window: int = 100, center: bool = False, norm_vars: bool = False
    ) -> None:
        self.cmn_window = int_from_0(cmn_window, "cmn_window", "SlidingWindowCmn")
        self.min_cmn_window = int_from_0(min_cmn_window, "min_cmn_window", "SlidingWindowCmn")
        self.center = check_bool(center, "center", "SlidingWindowCmn")
        self.norm_vars = check_bool(norm_vars, "norm_vars", "SlidingWindowCmn")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Normalize an array."""
        frames = audio.shape[-2]
        at = np.arange(frames)
        if self.center:
            start = at - self.cmn_window // 2
            stop = start + self.cmn_window
        else:
            start, stop = at - self.cmn_window, at + 1
        start, stop = np.where(start < 0, 0, start), np.where(start < 0, stop - start, stop)
        if not self.center:
            # The window of an early frame grows up to the least one.
            stop = np.where(stop > at, np.maximum(at + 1, self.min_cmn_window), stop)
        over = np.maximum(stop - frames, 0)
        start, stop = np.maximum(start - over, 0), stop - over
        count = (stop - start)[:, None]
        values = audio.astype(np.float64)
        mean = _running(values, start, stop) / count
        result = values - mean
        if self.norm_vars:
            variance = np.maximum(_running(values**2, start, stop) / count - mean**2, 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                scaled = result / np.sqrt(variance)
            result = np.where(count == 1, 0, scaled)
        return result.astype(audio.dtype)


def _running(values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Sums over time from each start to each stop."""
    sums = np.concatenate([np.zeros_like(values[..., :1, :]), values.cumsum(-2)], -2)
    return sums[..., stop, :] - sums[..., start, :]
