"""Spectrograms, what is made of them, and signals from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_number, check_type, complaint
from dist_ms.dataset import draws
from dist_ms.dataset.audio.enums import BorderType, WindowType
from dist_ms.dataset.audio.frames import fourier, overlapped, window_of
from dist_ms.dataset.audio.operation import (
    AudioOperation,
    ComplexOperation,
    as_complex,
    as_pairs,
    float_from_0,
    int_from_0,
    positive_float,
    positive_int,
)

__all__ = ["GriffinLim", "InverseSpectrogram", "SpectralCentroid", "Spectrogram"]


def frame_lengths(n_fft: Any, win_length: Any, hop_length: Any, owner: str, parts: int = 2) -> tuple[int, int, int]:
    """The sizes of a transform, of its window and of its step, which is a part of the window if not given."""
    positive_int(n_fft, "n_fft", owner)
    if win_length is not None and positive_int(win_length, "win_length", owner) > n_fft:
        raise ValueError(complaint("win_length", owner, f"at most n_fft, {n_fft}", win_length))
    if hop_length is not None:
        positive_int(hop_length, "hop_length", owner)
    win_length = win_length or n_fft
    return n_fft, win_length, hop_length or win_length // parts


class Spectrogram(AudioOperation):
    """How strong each frequency is in each frame: (..., frequency, frame).

    Args:
        n_fft: samples of a frame's transform.
        win_length: samples of the window, `n_fft` if not given.
        hop_length: samples from a frame to the next one, half the window if not given.
        pad: zeros on both sides of the signal.
        window: the window.
        power: the magnitudes' exponent; 0 for complex numbers in pairs.
        normalized: divide by the window's length as a vector.
        center: whether frames have their middles at their times; the ends are continued then.
        pad_mode: how.
        onesided: leave the negative frequencies out; else they repeat the positive ones, not conjugated.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Spectrogram(4, window=audio.WindowType.HANN)(np.array([1.0, 0, -1, 0, 1, 0])).round(4))
        [[1. 1. 1. 1.]
         [1. 1. 1. 1.]
         [1. 1. 1. 1.]]
    """

    def __init__(
        self,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ) -> None:
        owner = type(self).__name__
        self.n_fft, self.win_length, self.hop_length = frame_lengths(n_fft, win_length, hop_length, owner)
        self.pad = int_from_0(pad, "pad", owner)
        self.window = check_type(window, "window", owner, WindowType)
        self.power = float_from_0(power, "power", owner)
        self.normalized = check_bool(normalized, "normalized", owner)
        self.center = check_bool(center, "center", owner)
        self.pad_mode = check_type(pad_mode, "pad_mode", owner, BorderType)
        self.onesided = check_bool(onesided, "onesided", owner)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the spectrogram of an array."""
        return self.powers(audio).astype(audio.dtype)

    def powers(self, audio: np.ndarray) -> np.ndarray:
        """The spectrogram in float64."""
        if self.pad:
            audio = np.pad(audio, [(0, 0)] * (audio.ndim - 1) + [(self.pad, self.pad)])
        longest = audio.shape[-1] + (self.n_fft // 2 * 2 if self.center else 0)
        if self.n_fft > longest:
            raise RuntimeError(
                f"For '{type(self).__name__}', 'n_fft' must be so small that a frame fits into the signal of "
                f"{audio.shape[-1]} samples, but got {self.n_fft}."
            )
        window = window_of(self.window, self.win_length, self.n_fft)
        spectra = fourier(audio, window, self.hop_length, self.center, self.pad_mode)
        if not self.onesided:
            positive = spectra[..., 1 : self.n_fft - self.n_fft // 2, :]
            spectra = np.concatenate([spectra, positive[..., ::-1, :]], -2)
        if self.normalized:
            spectra = spectra / np.sqrt((window**2).sum())
        if self.power == 0:
            return as_pairs(spectra, np.dtype(np.float64))
        return np.abs(spectra) ** self.power


class SpectralCentroid(AudioOperation):
    """The mean frequency of each frame in Hz, weighted by the magnitudes: (..., 1, frame).

    Args:
        sample_rate: samples per second; 0 is refused when an array is given.
        n_fft: samples of a frame's transform.
        win_length: samples of the window, `n_fft` if not given.
        hop_length: samples from a frame to the next one, half the window if not given.
        pad: zeros on both sides of the signal.
        window: the window.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.SpectralCentroid(8000, 4)(np.array([1.0, 0, -1, 0, 1, 0])).round(4))
        [[2000. 2000. 2000. 2000.]]
    """

    def __init__(
        self,
        sample_rate: int,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
    ) -> None:
        self.sample_rate = int_from_0(sample_rate, "sample_rate", "SpectralCentroid")
        self._spectrogram = Spectrogram(n_fft, win_length, hop_length, pad, window, 1.0)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the centroids of an array."""
        if not self.sample_rate:
            raise RuntimeError(complaint("sample_rate", "SpectralCentroid", "greater than 0", self.sample_rate))
        magnitudes = self._spectrogram.powers(audio)
        frequencies = np.linspace(0, self.sample_rate // 2, magnitudes.shape[-2])[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            centroids = (frequencies * magnitudes).sum(-2, keepdims=True) / magnitudes.sum(-2, keepdims=True)
        return centroids.astype(audio.dtype)


class InverseSpectrogram(ComplexOperation):
    """The signal of a complex spectrogram (..., frequency, frame, 2).

    Args:
        length: samples of the signal; what the frames hold if not given.
        n_fft: samples of a frame's transform.
        win_length: samples of the window, `n_fft` if not given.
        hop_length: samples from a frame to the next one, half the window if not given.
        pad: zeros that were put on both sides of the signal.
        window: the window.
        normalized: whether the spectrogram was divided by the window's length as a vector.
        center: whether frames have their middles at their times.
        pad_mode: how the ends were continued; nothing depends on it.
        onesided: whether the negative frequencies are left out.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> spectrum = audio.Spectrogram(4, power=0)(np.array([1.0, 2.0, 3.0, 4.0]))
        >>> print(audio.InverseSpectrogram(n_fft=4)(spectrum).round(4))
        [1. 2. 3. 4.]
    """

    axes = 3

    def __init__(
        self,
        length: int | None = None,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ) -> None:
        owner = type(self).__name__
        self.length = 0 if length is None else int_from_0(length, "length", owner)
        self.n_fft, self.win_length, self.hop_length = frame_lengths(n_fft, win_length, hop_length, owner)
        self.window = check_type(window, "window", owner, WindowType)
        self.normalized = check_bool(normalized, "normalized", owner)
        self.center = check_bool(center, "center", owner)
        self.pad_mode = check_type(pad_mode, "pad_mode", owner, BorderType)
        self.onesided = check_bool(onesided, "onesided", owner)
        self.pad = int_from_0(pad, "pad", owner)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the signal of a spectrogram."""
        spectra = as_complex(audio.astype(np.float64))
        frequencies = self.n_fft // 2 + 1 if self.onesided else self.n_fft
        if spectra.shape[-2] != frequencies:
            raise RuntimeError(
                complaint("audio", type(self).__name__, f"of {frequencies} frequencies", spectra.shape[-2])
            )
        window = window_of(self.window, self.win_length, self.n_fft)
        if self.normalized:
            spectra = spectra * np.sqrt((window**2).sum())
        frames = (spectra.shape[-1] - 1) * self.hop_length
        length = self.length + 2 * self.pad if self.length else frames
        signal = overlapped(spectra[..., : self.n_fft // 2 + 1, :], window, self.hop_length, self.center, length)
        if self.pad:
            signal = signal[..., self.pad : -self.pad]
        return np.ascontiguousarray(signal).astype(audio.dtype)


class GriffinLim(AudioOperation):
    """A signal with a given spectrogram (..., frequency, frame), whose angles are found step by step.

    As in MindSpore, several dimensions before the frequencies become one.

    Args:
        n_fft: samples of a frame's transform.
        n_iter: steps.
        win_length: samples of the window, `n_fft` if not given.
        hop_length: samples from a frame to the next one, half the window if not given.
        window_type: the window.
        power: the magnitudes' exponent in the spectrogram.
        momentum: how far a step goes beyond the last one's result, below 1.
        length: samples of the signal; what the frames hold if not given.
        rand_init: begin with drawn angles, else with 0.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.GriffinLim(4, 8, rand_init=False)(np.ones((3, 3))).round(4))
        [0. 0. 0. 0.]
    """

    axes = 2

    def __init__(
        self,
        n_fft: int = 400,
        n_iter: int = 32,
        win_length: int | None = None,
        hop_length: int | None = None,
        window_type: WindowType = WindowType.HANN,
        power: float = 2.0,
        momentum: float = 0.99,
        length: int | None = None,
        rand_init: bool = True,
    ) -> None:
        owner = "GriffinLim"
        positive_int(n_iter, "n_iter", owner)
        self.n_fft, self.win_length, self.hop_length = frame_lengths(
            n_fft, None if win_length == 0 else win_length, None if hop_length == 0 else hop_length, owner
        )
        self.window_type = check_type(window_type, "window_type", owner, WindowType)
        self.power = positive_float(power, "power", owner)
        self.momentum = float_from_0(momentum, "momentum", owner)
        self.length = 0 if length is None else int_from_0(length, "length", owner)
        self.n_iter, self.rand_init = n_iter, check_bool(rand_init, "rand_init", owner)
        if momentum >= 1:
            raise ValueError(complaint("momentum", owner, "below 1", momentum))
        check_number(power, "power", owner)

    @property
    def random(self) -> bool:
        """Whether the first angles are drawn."""
        return self.rand_init

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Find the signal of a spectrogram."""
        if audio.shape[-2] != self.n_fft // 2 + 1:
            raise RuntimeError(
                complaint("audio", "GriffinLim", f"of {self.n_fft // 2 + 1} frequencies", audio.shape[-2])
            )
        window = window_of(self.window_type, self.win_length, self.n_fft)
        magnitudes = audio.astype(np.float64) ** (1 / self.power)
        angles = np.ones(audio.shape, np.complex128)
        if self.rand_init:
            numbers = draws.generator()
            angles = numbers.random(audio.shape) + 1j * numbers.random(audio.shape)
        last: np.ndarray | float = 0.0
        for _ in range(self.n_iter):
            signal = overlapped(magnitudes * angles, window, self.hop_length)
            found = fourier(signal, window, self.hop_length)
            angles = found - last * (self.momentum / (1 + 2 * self.momentum))
            angles = angles / (np.abs(angles) + 1e-16)
            last = found
        signal = overlapped(magnitudes * angles, window, self.hop_length, length=self.length).astype(audio.dtype)
        return signal.reshape(-1, signal.shape[-1]) if signal.ndim > 2 else signal
