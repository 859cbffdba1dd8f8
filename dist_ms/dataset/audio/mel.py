"""Spectrograms on the mel scale, there and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_float, check_type, complaint
from dist_ms.dataset import draws
from dist_ms.dataset.audio import filterbanks
from dist_ms.dataset.audio.enums import BorderType, MelType, NormType, WindowType
from dist_ms.dataset.audio.operation import (
    AudioOperation,
    any_float,
    float_from_0,
    int_from_0,
    positive_float,
    positive_int,
)
from dist_ms.dataset.audio.spectrograms import Spectrogram

__all__ = ["InverseMelScale", "MelScale", "MelSpectrogram"]


def check_limits(f_min: Any, f_max: Any, sample_rate: int, owner: str) -> float:
    """Require f_min below f_max, which is half the rate if not given; return the latter."""
    any_float(f_min, "f_min", owner)
    highest = sample_rate // 2 if f_max is None else positive_float(f_max, "f_max", owner)
    if f_min >= highest:
        raise ValueError(complaint("f_min", owner, f"below f_max, {highest}", f_min))
    return highest


class _Scaled(AudioOperation):
    """The filters that a mel spectrogram is made with."""

    axes = 2

    def _scale(
        self, n_mels: Any, sample_rate: Any, f_min: Any, f_max: Any, n_stft: Any, norm: Any, mel_type: Any
    ) -> None:
        owner = type(self).__name__
        self.n_mels = positive_int(n_mels, "n_mels", owner)
        self.sample_rate = positive_int(sample_rate, "sample_rate", owner)
        self.f_max = check_limits(f_min, f_max, sample_rate, owner)
        self.f_min = f_min
        self.n_stft = positive_int(n_stft, "n_stft", owner)
        self.norm = check_type(norm, "norm", owner, NormType)
        self.mel_type = check_type(mel_type, "mel_type", owner, MelType)

    def _filters(self) -> np.ndarray:
        return filterbanks.mel(
            self.n_stft, self.f_min, self.f_max, self.n_mels, self.sample_rate, self.norm, self.mel_type
        )


class MelScale(_Scaled):
    """A spectrogram (..., frequency, frame) on the mel scale: (..., mel, frame).

    Args:
        n_mels: how many filters.
        sample_rate: samples per second.
        f_min: where the first filter begins, in Hz.
        f_max: where the last one ends; half the rate if not given.
        n_stft: the spectrogram's frequencies.
        norm: whether each filter is divided by its width.
        mel_type: the scale's formula.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.MelScale(2, 8000, n_stft=5)(np.ones((5, 1))).round(4))
        [[0.6759]
         [1.6824]]
    """

    def __init__(
        self,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        n_stft: int = 201,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ) -> None:
        self._scale(n_mels, sample_rate, f_min, f_max, n_stft, norm, mel_type)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Scale a spectrogram."""
        if audio.shape[-2] != self.n_stft:
            raise RuntimeError(
                complaint("audio", "MelScale", f"of n_stft, {self.n_stft}, frequencies", audio.shape[-2])
            )
        return (self._filters().T @ audio.astype(np.float64)).astype(audio.dtype)


class InverseMelScale(_Scaled):
    """A spectrogram whose mel spectrogram is a given one, found by gradient descent from a drawn start.

    Args:
        n_stft: the spectrogram's frequencies.
        n_mels: how many filters.
        sample_rate: samples per second.
        f_min: where the first filter begins, in Hz.
        f_max: where the last one ends; half the rate if not given.
        max_iter: the most steps.
        tolerance_loss: the loss at which to stop.
        tolerance_change: the change of the loss at which to stop.
        sgdargs: {"sgd_lr": step, "sgd_momentum": momentum}; 0.1 and 0.9 if not given.
        norm: whether each filter is divided by its width.
        mel_type: the scale's formula.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> mel = audio.MelScale(2, 8000, n_stft=5)(np.ones((5, 1)))
        >>> found = audio.InverseMelScale(5, 2, 8000)(mel)
        >>> print(abs(audio.MelScale(2, 8000, n_stft=5)(found) - mel).max() < 0.1)
        True
    """

    random = True

    def __init__(
        self,
        n_stft: int,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        max_iter: int = 100000,
        tolerance_loss: float = 1e-5,
        tolerance_change: float = 1e-8,
        sgdargs: dict[str, float] | None = None,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ) -> None:
        self._scale(n_mels, sample_rate, f_min, f_max, n_stft, norm, mel_type)
        self.max_iter = positive_int(max_iter, "max_iter", "InverseMelScale")
        self.tolerance_loss = positive_float(tolerance_loss, "tolerance_loss", "InverseMelScale")
        self.tolerance_change = positive_float(tolerance_change, "tolerance_change", "InverseMelScale")
        self.sgdargs = {"sgd_lr": 0.1, "sgd_momentum": 0.9} if sgdargs is None else sgdargs
        for name in ("sgd_lr", "sgd_momentum"):
            float_from_0(self.sgdargs[name], name, "InverseMelScale")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Find the spectrogram of a mel spectrogram."""
        if audio.shape[-2] != self.n_mels:
            raise RuntimeError(complaint("audio", "InverseMelScale", f"of {self.n_mels} mels", audio.shape[-2]))
        filters = self._filters().T
        flat = audio.astype(np.float64).reshape(-1, *audio.shape[-2:])
        found = draws.generator().random((flat.shape[0], self.n_stft, flat.shape[-1]))
        speed = np.zeros_like(found)
        before = np.inf
        for _ in range(self.max_iter):
            error = flat - filters @ found
            loss = (error**2).mean(0).sum() / flat.shape[-1]
            if loss < self.tolerance_loss or abs(before - loss) < self.tolerance_change:
                break
            before = loss
            gradient = filters.T @ error * (-2 / (flat.shape[0] * flat.shape[-1]))
            speed = self.sgdargs["sgd_momentum"] * speed + gradient
            found = np.maximum(found - self.sgdargs["sgd_lr"] * speed, 0)
        return found.reshape(*audio.shape[:-2], self.n_stft, audio.shape[-1]).astype(audio.dtype)


class MelSpectrogram(AudioOperation):
    """A signal's spectrogram on the mel scale: (..., mel, frame).

    Args:
        sample_rate: samples per second.
        n_fft: samples of a frame's transform.
        win_length: samples of the window, `n_fft` if not given.
        hop_length: samples from a frame to the next one, half the window if not given.
        f_min: where the first filter begins, in Hz, a float.
        f_max: where the last one ends; half the rate if not given.
        pad: zeros on both sides of the signal.
        n_mels: how many filters.
        window: the window.
        power: the magnitudes' exponent, above 0.
        normalized: divide by the window's length as a vector.
        center: whether frames have their middles at their times.
        pad_mode: how the ends are continued.
        onesided: leave the negative frequencies out; there are no filters for them.
        norm: whether each filter is divided by its width.
        mel_scale: the scale's formula.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.MelSpectrogram(8000, 8, n_mels=2)(np.arange(12.0)).shape)
        (2, 4)
    """

    def __init__(
        self,
        sample_rate: int = 16000,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        f_min: float = 0.0,
        f_max: float | None = None,
        pad: int = 0,
        n_mels: int = 128,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
        norm: NormType = NormType.NONE,
        mel_scale: MelType = MelType.HTK,
    ) -> None:
        owner = "MelSpectrogram"
        int_from_0(sample_rate, "sample_rate", owner)
        int_from_0(n_mels, "n_mels", owner)
        check_float(f_min, "f_min", owner)
        if f_max is not None and f_min > float_from_0(f_max, "f_max", owner):
            raise ValueError(complaint("f_max", owner, f"at least f_min, {f_min}", f_max))
        if f_max is None and f_min >= sample_rate // 2:
            raise ValueError(complaint("f_min", owner, f"below half the rate, {sample_rate // 2}", f_min))
        positive_float(power, "power", owner)
        check_type(norm, "norm", owner, NormType)
        check_type(mel_scale, "mel_scale", owner, MelType)
        self._spectrogram = Spectrogram(
            n_fft, win_length, hop_length, pad, window, power, normalized, center, pad_mode, onesided
        )
        highest = sample_rate // 2 if f_max is None else f_max
        self._filters = (n_fft // 2 + 1, f_min, highest, n_mels, sample_rate, norm, mel_scale)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the mel spectrogram of an array."""
        return self.powers(audio).astype(audio.dtype)

    def powers(self, audio: np.ndarray) -> np.ndarray:
        """The mel spectrogram in float64."""
        if not self._spectrogram.onesided:
            raise RuntimeError(complaint("onesided", "MelSpectrogram", "True", "False"))
        return filterbanks.mel(*self._filters).T @ self._spectrogram.powers(audio)
