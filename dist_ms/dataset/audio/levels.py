"""Transforms of each sample by itself, or with its neighbours: loudness, distortion, coding."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import check_bool, check_number, check_number_range, check_type
from dist_ms.dataset import draws
from dist_ms.dataset.audio.enums import DensityFunction, FadeShape, GainType
from dist_ms.dataset.audio.filtering import signal
from dist_ms.dataset.audio.operation import (
    AudioOperation,
    any_float,
    float_from_0,
    floats,
    int_from_0,
    positive_float,
    positive_int,
)

__all__ = [
    "Contrast",
    "DCShift",
    "Dither",
    "Fade",
    "Gain",
    "MuLawDecoding",
    "MuLawEncoding",
    "Overdrive",
    "Vol",
]


class DCShift(AudioOperation):
    """A constant added to the signal, with a soft limit so that it stays within [-1, 1].

    Args:
        shift: the constant, from -2 to 2.
        limiter_gain: how much of the range is for peaks that meet the limit; without it `shift`.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.DCShift(0.25, 0.02)(np.array([0.5, -0.5])))
        [ 0.75 -0.25]
    """

    def __init__(self, shift: float, limiter_gain: float | None = None) -> None:
        self.shift = check_number_range(shift, "shift", "DCShift", -2, 2)
        if limiter_gain is not None:
            check_number(limiter_gain, "limiter_gain", "DCShift")
        self.limiter_gain = limiter_gain or shift

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Shift an array."""
        gain, shift, shifted = self.limiter_gain, self.shift, audio + self.shift
        if gain != shift and shift != 0:
            limit = 1 - (abs(shift) - gain)
            with np.errstate(divide="ignore", invalid="ignore"):
                if shift > 0:
                    peaks = np.minimum((audio - limit) * gain / (1 - limit) + limit + shift, limit)
                    shifted = np.where(audio > limit, peaks, shifted)
                else:
                    peaks = np.maximum((audio + limit) * gain / (1 - limit) + limit + shift, -limit)
                    shifted = np.where(audio < -limit, peaks, shifted)
        return np.clip(shifted, -1, 1).astype(audio.dtype)


class Contrast(AudioOperation):
    """A louder impression by bending each sample's level.

    Args:
        enhancement_amount: from 0 to 100; 0 still bends a little.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Contrast()(np.array([0.5, 1.0])).round(4))
        [0.7071 1.    ]
    """

    def __init__(self, enhancement_amount: float = 75.0) -> None:
        self.enhancement_amount = check_number_range(enhancement_amount, "enhancement_amount", "Contrast", 0, 100)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Bend an array."""
        angle = audio * (np.pi / 2)
        return np.sin(angle + self.enhancement_amount / 750 * np.sin(angle * 4)).astype(audio.dtype)


class Gain(AudioOperation):
    """Louder or quieter by decibels.

    Args:
        gain_db: decibels.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Gain(20.0)(np.array([0.5, -0.25])))
        [ 5.  -2.5]
    """

    def __init__(self, gain_db: float = 1.0) -> None:
        self.gain_db = any_float(gain_db, "gain_db", "Gain")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Scale an array."""
        return audio * audio.dtype.type(10 ** (self.gain_db / 20))


class Vol(AudioOperation):
    """Louder or quieter, kept within [-1, 1].

    Args:
        gain: how much.
        gain_type: whether it is a factor, a ratio of powers, or decibels.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Vol(4.0, audio.GainType.POWER)(np.array([0.25, -0.75])))
        [ 0.5 -1. ]
    """

    def __init__(self, gain: float, gain_type: GainType = GainType.AMPLITUDE) -> None:
        check_number(gain, "gain", "Vol")
        check_type(gain_type, "gain_type", "Vol", GainType)
        if gain_type is GainType.AMPLITUDE:
            float_from_0(gain, "gain", "Vol")
        elif gain_type is GainType.POWER:
            positive_float(gain, "gain", "Vol")
        else:
            any_float(gain, "gain", "Vol")
        self.gain, self.gain_type = gain, gain_type

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Scale an array."""
        factor = self.gain
        if self.gain_type is GainType.POWER:
            factor **= 0.5
        elif self.gain_type is GainType.DB:
            factor = 10 ** (factor / 20)
        return np.clip(audio * audio.dtype.type(factor), -1, 1)


class Overdrive(AudioOperation):
    """The distortion of an amplifier that is turned up too far.

    Args:
        gain: decibels before the distortion, from 0 to 100.
        color: how much of even overtones, from 0 to 100.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Overdrive()(np.array([0.05, -0.05])).round(4))
        [ 0.421 -0.311]
    """

    def __init__(self, gain: float = 20.0, color: float = 20.0) -> None:
        self.gain = check_number_range(gain, "gain", "Overdrive", 0, 100)
        self.color = check_number_range(color, "color", "Overdrive", 0, 100)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Distort an array."""
        bent = audio * 10 ** (self.gain / 20) + self.color / 200
        bent = np.where(np.abs(bent) < 1, bent - bent**3 / 3, np.sign(bent) * (2 / 3))
        steady = signal.lfilter([1.0, -1.0], [1.0, -0.995], bent.astype(np.float64), axis=-1)
        return np.clip(audio * 0.5 + steady * 0.75, -1, 1).astype(audio.dtype)


class Fade(AudioOperation):
    """A signal that comes in slowly and goes out slowly.

    Args:
        fade_in_len: samples that it takes to come in.
        fade_out_len: samples that it takes to go out.
        fade_shape: the curve.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Fade(3, 2)(np.ones(6)))
        [0.  0.5 1.  1.  1.  0. ]
    """

    def __init__(self, fade_in_len: int = 0, fade_out_len: int = 0, fade_shape: FadeShape = FadeShape.LINEAR) -> None:
        self.fade_in_len = int_from_0(fade_in_len, "fade_in_len", "Fade")
        self.fade_out_len = int_from_0(fade_out_len, "fade_out_len", "Fade")
        self.fade_shape = check_type(fade_shape, "fade_shape", "Fade", FadeShape)

    def prepare(self, audio: np.ndarray) -> np.ndarray:
        """Numbers as in other transforms; their type is kept if there is nothing to do."""
        prepared = super().prepare(audio)
        return prepared if self.fade_in_len or self.fade_out_len else audio

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Fade an array."""
        length = audio.shape[-1]
        for name in ("fade_in_len", "fade_out_len"):
            if getattr(self, name) > length:
                raise RuntimeError(
                    f"For 'Fade', '{name}' must be at most the signal's length, {length}, but got "
                    f"{getattr(self, name)}."
                )
        result = audio.copy()
        if self.fade_in_len:
            result[..., : self.fade_in_len] *= self._curve(self.fade_in_len, False).astype(audio.dtype)
        if self.fade_out_len:
            result[..., length - self.fade_out_len :] *= self._curve(self.fade_out_len, True).astype(audio.dtype)
        return result

    def _curve(self, length: int, out: bool) -> np.ndarray:
        """From 0 to 1, or, for the end of a signal, from 1 to 0."""
        at = np.linspace(0, 1, length, dtype=np.float32)
        if out and self.fade_shape is FadeShape.EXPONENTIAL:
            curve = np.exp2(-at) * (1 - at)
        elif out and self.fade_shape is FadeShape.LOGARITHMIC:
            curve = np.log10(np.float32(1.1) - at) + 1
        elif self.fade_shape is FadeShape.EXPONENTIAL:
            curve = np.exp2(at - 1) * at
        elif self.fade_shape is FadeShape.LOGARITHMIC:
            curve = np.log10(np.float32(0.1) + at) + 1
        elif self.fade_shape is FadeShape.QUARTER_SINE:
            curve = np.sin((1 - at if out else at) * np.pi / 2)
        elif self.fade_shape is FadeShape.HALF_SINE:
            curve = np.sin((0.5 - at if out else at - 0.5) * np.pi) / 2 + 0.5
        else:
            curve = 1 - at if out else at
        return curve


class MuLawEncoding(AudioOperation):
    """Samples from -1 to 1 as whole numbers, finer for quiet ones.

    Args:
        quantization_channels: how many numbers there are.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.MuLawEncoding()(np.array([0.0, 0.1, 1.0])))
        [128 203 255]
    """

    def __init__(self, quantization_channels: int = 256) -> None:
        self.quantization_channels = positive_int(quantization_channels, "quantization_channels", "MuLawEncoding")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Encode an array as int32."""
        mu = audio.dtype.type(self.quantization_channels - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            curve = np.sign(audio) * np.log1p(mu * np.abs(audio)) / np.log1p(mu)
            return ((curve + 1) / 2 * mu + audio.dtype.type(0.5)).astype(np.int32)


class MuLawDecoding(AudioOperation):
    """Samples from -1 to 1 from the whole numbers of MuLawEncoding.

    Args:
        quantization_channels: how many numbers there are.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.MuLawDecoding()(np.array([0, 128, 255])).round(4))
        [-1.e+00  1.e-04  1.e+00]
    """

    def __init__(self, quantization_channels: int = 256) -> None:
        self.quantization_channels = positive_int(quantization_channels, "quantization_channels", "MuLawDecoding")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Decode an array."""
        mu = audio.dtype.type(self.quantization_channels - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            curve = audio / mu * 2 - 1
            return np.sign(curve) * np.expm1(np.abs(curve) * np.log1p(mu)) / mu


class Dither(AudioOperation):
    """Samples at the steps of 16 bits, with a noise below one step that hides the rounding.

    Args:
        density_function: the noise's distribution. A triangular one is the same for each signal, as in MindSpore.
        noise_shaping: add the rounding's error to the next sample.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Dither()(np.array([0.5, 0.25])) * 32768)
        [16383.  8193.]
    """

    def __init__(self, density_function: DensityFunction = DensityFunction.TPDF, noise_shaping: bool = False) -> None:
        self.density_function = check_type(density_function, "density_function", "Dither", DensityFunction)
        self.noise_shaping = check_bool(noise_shaping, "noise_shaping", "Dither")

    @property
    def random(self) -> bool:
        """Whether the noise is drawn."""
        return self.density_function is not DensityFunction.TPDF

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Add noise to an array and round it."""
        kind = audio.dtype.type
        scaled = audio * kind(32766)
        if self.density_function is DensityFunction.TPDF:
            scaled = scaled + np.bartlett(audio.shape[-1] + 1)[:-1].astype(kind)
        else:
            numbers = draws.generator()
            channel = numbers.integers(0, scaled.reshape(-1, audio.shape[-1]).shape[0])
            drawn = scaled.reshape(-1, audio.shape[-1])[channel, int(numbers.integers(0, audio.shape[-1]))]
            if self.density_function is DensityFunction.RPDF:
                scaled = scaled + kind(drawn - np.floor(drawn) - 0.5)
            else:
                row = scaled.reshape(-1, audio.shape[-1])[channel]
                noise = sum(row[int(numbers.integers(0, row.size))] for _ in range(6)) / 6
                scaled = scaled + kind(noise)
        rounded = np.floor(scaled + 0.5) / kind(32768)
        if self.noise_shaping:
            error = rounded - audio
            rounded = rounded.copy()
            rounded[..., 1:] += error[..., :-1]
        return floats(rounded)
