"""Tempo without pitch, and pitch without tempo."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import check_int_range, check_type, complaint
from dist_ms.dataset.audio.enums import WindowType
from dist_ms.dataset.audio.frames import fourier, overlapped, window_of
from dist_ms.dataset.audio.operation import (
    INT32,
    AudioOperation,
    ComplexOperation,
    as_complex,
    as_pairs,
    int_from_0,
    positive_float,
    positive_int,
    rate,
)
from dist_ms.dataset.audio.resampling import resampled
from dist_ms.dataset.audio.spectrograms import frame_lengths

__all__ = ["PhaseVocoder", "PitchShift", "TimeStretch"]


def stretched(spectra: np.ndarray, speed: float, advance: np.ndarray) -> np.ndarray:
    """A complex spectrogram at another speed, whose angles go on as they did."""
    frames = np.arange(0, spectra.shape[-1], speed)
    padded = np.pad(spectra, [(0, 0)] * (spectra.ndim - 1) + [(0, 2)])
    first = np.floor(frames).astype(np.int64)
    now, following = padded[..., first], padded[..., first + 1]
    part = frames % 1
    magnitudes = part * np.abs(following) + (1 - part) * np.abs(now)
    steps = np.angle(following) - np.angle(now) - advance
    steps = steps - 2 * np.pi * np.round(steps / (2 * np.pi)) + advance
    angles = np.concatenate([np.angle(padded[..., :1]), steps[..., :-1]], -1).cumsum(-1)
    return magnitudes * np.exp(1j * angles)


class PhaseVocoder(ComplexOperation):
    """A complex spectrogram (..., frequency, frame, 2) at another speed, with the same pitch.

    As in MindSpore, what comes before the frequencies becomes one dimension at a rate of 1.

    Args:
        rate: the speed, above 0.
        phase_advance: how far each frequency's angle turns from a frame to the next, of shape (frequency, 1).

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.PhaseVocoder(2, np.zeros((3, 1)))(np.ones((3, 8, 2))).shape)
        (3, 4, 2)
    """

    axes = 3

    def __init__(self, rate: float, phase_advance: np.ndarray) -> None:
        self.rate = positive_float(rate, "rate", "PhaseVocoder")
        self.phase_advance = check_type(phase_advance, "phase_advance", "PhaseVocoder", np.ndarray)

    def prepare(self, audio: np.ndarray) -> np.ndarray:
        """Require the type of the phases, too."""
        prepared = super().prepare(audio)
        if self.phase_advance.dtype != audio.dtype:
            wanted = f"of the input's type, {audio.dtype}"
            raise RuntimeError(complaint("phase_advance", "PhaseVocoder", wanted, self.phase_advance.dtype))
        return prepared

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Stretch a spectrogram."""
        if self.phase_advance.shape != (audio.shape[-3], 1):
            wanted = f"of shape ({audio.shape[-3]}, 1)"
            raise RuntimeError(complaint("phase_advance", "PhaseVocoder", wanted, self.phase_advance.shape))
        if self.rate == 1:
            return audio.reshape(-1, *audio.shape[-3:])
        spectra = as_complex(audio.astype(np.float64))
        return as_pairs(stretched(spectra, self.rate, self.phase_advance.astype(np.float64)), audio.dtype)


class TimeStretch(ComplexOperation):
    """A complex spectrogram (..., frequency, frame, 2) at another speed, with the same pitch.

    As in MindSpore, what comes before the frequencies becomes one dimension at a rate of 1.

    Args:
        hop_length: samples from a frame to the next one; n_freq - 1 if not given.
        n_freq: the spectrogram's frequencies; only the step's default follows from it.
        fixed_rate: the speed, above 0; 1 if not given.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.TimeStretch(2, 3, 0.5)(np.ones((3, 4, 2))).shape)
        (3, 8, 2)
    """

    axes = 3

    def __init__(self, hop_length: int | None = None, n_freq: int = 201, fixed_rate: float | None = None) -> None:
        if hop_length is not None:
            positive_int(hop_length, "hop_length", "TimeStretch")
        self.n_freq = positive_int(n_freq, "n_freq", "TimeStretch")
        self.fixed_rate = 1 if fixed_rate is None else positive_float(fixed_rate, "fixed_rate", "TimeStretch")
        self.hop_length = n_freq - 1 if hop_length is None else hop_length

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Stretch a spectrogram."""
        if self.fixed_rate == 1:
            return audio.reshape(-1, *audio.shape[-3:])
        advance = np.linspace(0, np.pi * self.hop_length, audio.shape[-3])[:, None]
        return as_pairs(stretched(as_complex(audio.astype(np.float64)), self.fixed_rate, advance), audio.dtype)


class PitchShift(AudioOperation):
    """A signal at another pitch, with the same length.

    Args:
        sample_rate: samples per second.
        n_steps: the steps by which it gets higher.
        bins_per_octave: steps of an octave, not 0.
        n_fft: samples of a frame's transform.
        win_length: samples of the window, `n_fft` if not given.
        hop_length: samples from a frame to the next one, a quarter of the window if not given.
        window: the window.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.PitchShift(8000, 4, n_fft=16)(np.ones(100)).shape)
        (100,)
    """

    def __init__(
        self,
        sample_rate: int,
        n_steps: int,
        bins_per_octave: int = 12,
        n_fft: int = 512,
        win_length: int | None = None,
        hop_length: int | None = None,
        window: WindowType = WindowType.HANN,
    ) -> None:
        owner = "PitchShift"
        self.sample_rate = int_from_0(sample_rate, "sample_rate", owner)
        self.n_steps = check_int_range(n_steps, "n_steps", owner, -INT32 - 1, INT32)
        self.bins_per_octave = rate(bins_per_octave, "bins_per_octave", owner)
        self.n_fft, self.win_length, self.hop_length = frame_lengths(n_fft, win_length, hop_length, owner, 4)
        self.window = check_type(window, "window", owner, WindowType)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Shift an array."""
        length = audio.shape[-1]
        window = window_of(self.window, self.win_length, self.n_fft)
        spectra = fourier(audio, window, self.hop_length)
        speed = 2.0 ** (-self.n_steps / self.bins_per_octave)
        advance = np.linspace(0, np.pi * self.hop_length, spectra.shape[-2])[:, None]
        slower = overlapped(
            stretched(spectra, speed, advance), window, self.hop_length, length=int(length / speed + 0.5)
        )
        shifted = resampled(slower, int(self.sample_rate / speed), self.sample_rate, 6, 0.99, None)
        short = max(0, length - shifted.shape[-1])
        shifted = np.pad(shifted[..., :length], [(0, 0)] * (audio.ndim - 1) + [(0, short)])
        return shifted.astype(audio.dtype)
