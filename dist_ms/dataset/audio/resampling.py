"""Signals at another rate, through a windowed sinc filter."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dist_ms.common.checks import check_float_range, check_number, check_type
from dist_ms.dataset.audio.enums import ResampleMethod
from dist_ms.dataset.audio.operation import AudioOperation, positive_float, positive_int

__all__ = ["Resample"]

# Weights of a period of both rates up to which a product with all of them is quickest; results made at a time, else.
_MOST_WEIGHTS, _RESULTS_AT_ONCE = 1 << 18, 1 << 14


def resampled(
    audio: np.ndarray, orig_freq: float, new_freq: float, width: int, rolloff: float, beta: float | None
) -> np.ndarray:
    """A signal at another rate, in float64.

    Args:
        audio: time is the last axis.
        orig_freq: its rate.
        new_freq: the wanted rate.
        width: zero crossings of the filter on each side.
        rolloff: the filter's edge, as a part of half the lower rate.
        beta: of Kaiser's window; None for a squared cosine.
    """
    divisor = math.gcd(int(orig_freq), int(new_freq))
    source, target = int(orig_freq) // divisor, int(new_freq) // divisor
    edge = min(source, target) * rolloff / source
    reach = math.ceil(width / edge)
    shape = (*audio.shape[:-1], math.ceil(target * audio.shape[-1] / source))
    padded = np.pad(audio.astype(np.float64), [(0, 0)] * (audio.ndim - 1) + [(reach, reach + source)])
    if target * (source + 2 * reach) <= _MOST_WEIGHTS:
        distances = np.arange(-reach, reach + source) - np.arange(target)[:, None] * source / target
        kernel = filter_weights(distances * edge, width, beta) * edge
        windows = sliding_window_view(padded, kernel.shape[-1], -1)[..., ::source, :]
        return (windows @ kernel.T).reshape(*shape[:-1], -1)[..., : shape[-1]]
    # Of so many windows few meet the same weights, and most weights of a whole period are 0.
    out = np.empty(shape)
    windows = sliding_window_view(padded, 2 * reach + 2, -1)
    for first in range(0, shape[-1], _RESULTS_AT_ONCE):
        at = np.arange(first, min(first + _RESULTS_AT_ONCE, shape[-1])) * source
        distances = np.arange(-reach, reach + 2) - (at % target)[:, None] / target
        kernel = filter_weights(distances * edge, width, beta) * edge
        out[..., first : first + len(at)] = np.einsum("...nt,nt->...n", windows[..., at // target, :], kernel)
    return out


def filter_weights(times: np.ndarray, width: int, beta: float | None) -> np.ndarray:
    """The windowed sinc at these times, counted in its zero crossings; 0 beyond `width`."""
    times = np.clip(times, -width, width)
    if beta is None:
        window = np.cos(times * np.pi / width / 2) ** 2
    else:
        window = np.i0(beta * np.sqrt(1 - (times / width) ** 2)) / np.i0(beta)
    return np.sinc(times) * window


class Resample(AudioOperation):
    """A signal at another rate.

    Args:
        orig_freq: its rate, above 0; whole numbers count.
        new_freq: the wanted rate.
        resample_method: the filter's window.
        lowpass_filter_width: zero crossings of the filter on each side; more are sharper and slower.
        rolloff: the filter's edge, as a part of half the lower rate, above 0 and up to 1.
        beta: of Kaiser's window; 14.769656459379492 if not given.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Resample(2, 1)(np.ones(8)).round(2))
        [0.74 1.08 0.94 1.07]
    """

    def __init__(
        self,
        orig_freq: float = 16000,
        new_freq: float = 16000,
        resample_method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION,
        lowpass_filter_width: int = 6,
        rolloff: float = 0.99,
        beta: float | None = None,
    ) -> None:
        self.orig_freq = positive_float(orig_freq, "orig_freq", "Resample")
        self.new_freq = positive_float(new_freq, "new_freq", "Resample")
        self.resample_method = check_type(resample_method, "resample_method", "Resample", ResampleMethod)
        self.lowpass_filter_width = positive_int(lowpass_filter_width, "lowpass_filter_width", "Resample")
        self.rolloff = check_float_range(rolloff, "rolloff", "Resample", 0, 1.0, "(]")
        self.beta = 14.769656459379492 if beta is None else check_number(beta, "beta", "Resample")

    def prepare(self, audio: np.ndarray) -> np.ndarray:
        """Numbers as in other transforms; an array whose rate stays is not touched."""
        return audio if self.orig_freq == self.new_freq else super().prepare(audio)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Resample an array."""
        if self.orig_freq == self.new_freq:
            return audio
        beta = self.beta if self.resample_method is ResampleMethod.KAISER_WINDOW else None
        return resampled(audio, self.orig_freq, self.new_freq, self.lowpass_filter_width, self.rolloff, beta).astype(
            audio.dtype
        )
