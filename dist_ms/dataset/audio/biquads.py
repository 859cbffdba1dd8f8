"""Filters of second order, by what they do to frequencies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_choice, check_int_range, check_number_range, complaint
from dist_ms.dataset.audio.filtering import filtered
from dist_ms.dataset.audio.operation import INT32, AudioOperation, any_float, rate

__all__ = [
    "AllpassBiquad",
    "BandBiquad",
    "BandpassBiquad",
    "BandrejectBiquad",
    "BassBiquad",
    "Biquad",
    "DeemphBiquad",
    "EqualizerBiquad",
    "HighpassBiquad",
    "LowpassBiquad",
    "RiaaBiquad",
    "TrebleBiquad",
]

Coefficients = tuple[Sequence[float], Sequence[float]]


class _SecondOrder(AudioOperation):
    """A filter whose subclass gives its numerator and denominator, three numbers each."""

    real = False

    def _tuned(self, sample_rate: Any, frequency: Any, Q: Any, name: str = "central_freq") -> None:
        owner = type(self).__name__
        self.sample_rate = rate(sample_rate, "sample_rate", owner)
        self.frequency = any_float(frequency, name, owner)
        self.quality_factor = check_number_range(Q, "Q", owner, 0, 1, "(]")

    def _angle(self) -> tuple[float, float, float]:
        """The frequency's cosine and sine on the unit circle, and half its sine over Q."""
        w0 = 2 * math.pi * self.frequency / self.sample_rate
        return math.cos(w0), math.sin(w0), math.sin(w0) / 2 / self.quality_factor

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        raise NotImplementedError(f"{type(self).__name__} has no coefficients.")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Filter an array."""
        return filtered(audio, *self.coefficients())


class AllpassBiquad(_SecondOrder):
    """Let all frequencies pass, and turn their phases around one.

    Args:
        sample_rate: samples per second, not 0.
        central_freq: the frequency at its middle, in Hz.
        Q: how narrow it is, above 0 and up to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.AllpassBiquad(44100, 200.0)(np.array([0.5, 0.25, 0.0])).round(4))
        [ 0.4802  0.2014 -0.0565]
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707) -> None:
        self._tuned(sample_rate, central_freq, Q)

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        cos, _, alpha = self._angle()
        return (1 - alpha, -2 * cos, 1 + alpha), (1 + alpha, -2 * cos, 1 - alpha)


class BandBiquad(_SecondOrder):
    """Let a band pass that falls off slowly on both sides.

    Args:
        sample_rate: samples per second, not 0.
        central_freq: the frequency at its middle, in Hz.
        Q: how narrow it is, above 0 and up to 1.
        noise: the form for sounds without pitch.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.BandBiquad(44100, 200.0)(np.array([0.5, 0.25, 0.0])).round(4))
        [0.0007 0.0017 0.0027]
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707, noise: bool = False) -> None:
        self._tuned(sample_rate, central_freq, Q)
        self.noise = check_bool(noise, "noise", "BandBiquad")

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        w0 = 2 * math.pi * self.frequency / self.sample_rate
        a2 = math.exp(-2 * math.pi * self.frequency / self.quality_factor / self.sample_rate)
        a1 = -4 * a2 / (1 + a2) * math.cos(w0)
        b0 = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if self.noise:
            b0 *= math.sqrt(((1 + a2) ** 2 - a1 * a1) * (1 - a2) / (1 + a2)) / b0
        return (b0, 0.0, 0.0), (1.0, a1, a2)


class BandpassBiquad(_SecondOrder):
    """Let a band pass.

    Args:
        sample_rate: samples per second, not 0.
        central_freq: the frequency at its middle, in Hz.
        Q: how narrow it is, above 0 and up to 1.
        const_skirt_gain: a steady gain at the skirts, with Q at the peak; else 0 dB at the peak.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.BandpassBiquad(44100, 200.0)(np.array([0.5, 0.25, 0.0])).round(4))
        [0.0099 0.0243 0.0282]
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707, const_skirt_gain: bool = False) -> None:
        self._tuned(sample_rate, central_freq, Q)
        self.const_skirt_gain = check_bool(const_skirt_gain, "const_skirt_gain", "BandpassBiquad")

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        cos, sin, alpha = self._angle()
        peak = sin / 2 if self.const_skirt_gain else alpha
        return (peak, 0.0, -peak), (1 + alpha, -2 * cos, 1 - alpha)


class BandrejectBiquad(_SecondOrder):
    """Let all but a band pass.

    Args:
        sample_rate: samples per second, not 0.
        central_freq: the frequency at its middle, in Hz.
        Q: how narrow it is, above 0 and up to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.BandrejectBiquad(44100, 200.0)(np.array([0.5, 0.25, 0.0])).round(4))
        [ 0.4901  0.2257 -0.0282]
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707) -> None:
        self._tuned(sample_rate, central_freq, Q)

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        cos, _, alpha = self._angle()
        return (1.0, -2 * cos, 1.0), (1 + alpha, -2 * cos, 1 - alpha)


class _Shelf(_SecondOrder):
    """A filter that changes all frequencies on one side of one.

    Attributes:
        side: 1 for the low ones, -1 for the high ones.
    """

    gain: float
    side = 1.0

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        cos, _, alpha = self._angle()
        a = math.exp(self.gain / 40 * math.log(10))
        root = 2 * math.sqrt(a) * alpha
        mid, low, twice = self.side * (a - 1) * cos, self.side * (a + 1) * cos, self.side * 2
        b = (a * (a + 1 - mid + root), twice * a * (a - 1 - low), a * (a + 1 - mid - root))
        return b, (a + 1 + mid + root, -twice * (a - 1 + low), a + 1 + mid - root)


class BassBiquad(_Shelf):
    """Raise or lower the low frequencies.

    Args:
        sample_rate: samples per second, not 0.
        gain: of the changed frequencies, in dB.
        central_freq: the frequency at its middle, in Hz.
        Q: how narrow it is, above 0 and up to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.BassBiquad(44100, 20.0)(np.array([0.5, 0.25, 0.0])).round(4))
        [0.5062 0.2655 0.0187]
    """

    def __init__(self, sample_rate: int, gain: float, central_freq: float = 100.0, Q: float = 0.707) -> None:
        self._tuned(sample_rate, central_freq, Q)
        self.gain = any_float(gain, "gain", "BassBiquad")


class TrebleBiquad(_Shelf):
    """Raise or lower the high frequencies.

    Args:
        sample_rate: samples per second, not 0.
        gain: of the changed frequencies, in dB.
        central_freq: the frequency at its middle, in Hz.
        Q: how narrow it is, above 0 and up to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.TrebleBiquad(44100, 20.0)(np.array([0.5, 0.25, 0.0])).round(4))
        [ 1.     -0.5423 -1.    ]
    """

    side = -1.0

    def __init__(self, sample_rate: int, gain: float, central_freq: float = 3000, Q: float = 0.707) -> None:
        self._tuned(sample_rate, central_freq, Q)
        self.gain = any_float(gain, "gain", "TrebleBiquad")


class EqualizerBiquad(_SecondOrder):
    """Raise or lower a band.

    Args:
        sample_rate: samples per second, not 0.
        center_freq: the frequency at its middle, in Hz.
        gain: of the changed frequencies, in dB.
        Q: how narrow it is, above 0 and up to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.EqualizerBiquad(44100, 1500, 5.5)(np.array([0.5, 0.25, 0.0])).round(4))
        [0.5435 0.3485 0.095 ]
    """

    def __init__(self, sample_rate: int, center_freq: float, gain: float, Q: float = 0.707) -> None:
        self._tuned(sample_rate, center_freq, Q, "center_freq")
        self.gain = any_float(gain, "gain", "EqualizerBiquad")

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        cos, _, alpha = self._angle()
        a = math.exp(self.gain / 40 * math.log(10))
        return (1 + alpha * a, -2 * cos, 1 - alpha * a), (1 + alpha / a, -2 * cos, 1 - alpha / a)


class HighpassBiquad(_SecondOrder):
    """Let frequencies above one pass.

    Args:
        sample_rate: samples per second, not 0.
        cutoff_freq: where it begins, in Hz.
        Q: how narrow it is, above 0 and up to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.HighpassBiquad(44100, 1500)(np.array([0.5, 0.25, 0.0])).round(4))
        [ 0.4298  0.0858 -0.1719]
    """

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707) -> None:
        self._tuned(sample_rate, cutoff_freq, Q, "cutoff_freq")

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        cos, _, alpha = self._angle()
        return ((1 + cos) / 2, -1 - cos, (1 + cos) / 2), (1 + alpha, -2 * cos, 1 - alpha)


class LowpassBiquad(_SecondOrder):
    """Let frequencies below one pass.

    Args:
        sample_rate: samples per second, not 0.
        cutoff_freq: where it begins, in Hz.
        Q: how narrow it is, above 0 and up to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.LowpassBiquad(44100, 4000)(np.array([0.5, 0.25, 0.0])).round(4))
        [0.0286 0.1064 0.174 ]
    """

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707) -> None:
        self._tuned(sample_rate, cutoff_freq, Q, "cutoff_freq")

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        cos, _, alpha = self._angle()
        return ((1 - cos) / 2, 1 - cos, (1 - cos) / 2), (1 + alpha, -2 * cos, 1 - alpha)


class Biquad(_SecondOrder):
    """The filter with six given coefficients.

    Args:
        b0: of the input, delayed by 0.
        b1: of the input, delayed by 1.
        b2: of the input, delayed by 2.
        a0: of the result, delayed by 0; not 0.
        a1: of the result, delayed by 1.
        a2: of the result, delayed by 2.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Biquad(0.01, 0.02, 0.13, 1, 0.12, 0.3)(np.array([0.5, 0.25, 0.0])).round(4))
        [0.005  0.0119 0.0671]
    """

    def __init__(self, b0: float, b1: float, b2: float, a0: float, a1: float, a2: float) -> None:
        values = [b0, b1, b2, a0, a1, a2]
        for name, value in zip(["b0", "b1", "b2", "a0", "a1", "a2"], values, strict=True):
            any_float(value, name, "Biquad")
        if a0 == 0:
            raise ValueError(complaint("a0", "Biquad", "a number other than 0", "0"))
        self.b0, self.b1, self.b2, self.a0, self.a1, self.a2 = values

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        return (self.b0, self.b1, self.b2), (self.a0, self.a1, self.a2)


class DeemphBiquad(_SecondOrder):
    """Take back the emphasis of high frequencies on compact discs.

    Args:
        sample_rate: 44100 or 48000.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.DeemphBiquad(44100)(np.array([0.5, 0.25, 0.0])).round(4))
        [0.2302 0.2156 0.1123]
    """

    def __init__(self, sample_rate: int) -> None:
        check_int_range(sample_rate, "sample_rate", "DeemphBiquad", -INT32, INT32)
        check_choice(sample_rate, "sample_rate", "DeemphBiquad", _DEEMPHASIS)
        self.sample_rate = sample_rate

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        frequency, slope, gain = _DEEMPHASIS[self.sample_rate]
        w0 = 2 * math.pi * frequency / self.sample_rate
        a = math.exp(gain / 40 * math.log(10))
        cos = math.cos(w0)
        alpha = math.sin(w0) / 2 * math.sqrt((a + 1 / a) * (1 / slope - 1) + 2)
        root = 2 * math.sqrt(a) * alpha
        mid, low = (a - 1) * cos, (a + 1) * cos
        b = (a * (a + 1 + mid + root), -2 * a * (a - 1 + low), a * (a + 1 + mid - root))
        return b, (a + 1 - mid + root, 2 * (a - 1 - low), a + 1 - mid - root)


class RiaaBiquad(_SecondOrder):
    """Take back the emphasis of long-playing records, with 0 dB at 1 kHz.

    Args:
        sample_rate: 44100, 48000, 88200 or 96000.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.RiaaBiquad(44100)(np.array([0.5, 0.25, 0.0])).round(4))
        [0.119  0.176  0.1506]
    """

    def __init__(self, sample_rate: int) -> None:
        check_int_range(sample_rate, "sample_rate", "RiaaBiquad", -INT32, INT32)
        check_choice(sample_rate, "sample_rate", "RiaaBiquad", _RIAA)
        self.sample_rate = sample_rate

    def coefficients(self) -> Coefficients:
        """The numerator and the denominator."""
        zeros, poles = _RIAA[self.sample_rate]
        b, a = np.poly(np.float32(zeros)), np.poly(np.float32(poles))
        turn = np.exp(-2j * np.pi * 1000 / self.sample_rate * np.arange(3))
        return b * abs(np.dot(a, turn) / np.dot(b, turn)), a


# Per rate: the middle's frequency, the slope and the gain of the shelf.
_DEEMPHASIS = {44100: (5283, 0.4845, -9.477), 48000: (5356, 0.479, -9.62)}

# Per rate: the zeros and the poles.
_RIAA = {
    44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
    48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
    88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
    96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946)),
}
