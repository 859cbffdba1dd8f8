"""Cepstral coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_type, complaint
from dist_ms.dataset.audio import filterbanks
from dist_ms.dataset.audio.complex_spectra import decibels
from dist_ms.dataset.audio.enums import NormMode
from dist_ms.dataset.audio.mel import MelSpectrogram
from dist_ms.dataset.audio.operation import AudioOperation, float_from_0, int_from_0, positive_int
from dist_ms.dataset.audio.spectrograms import Spectrogram

__all__ = ["LFCC", "MFCC"]


class _Cepstrum(AudioOperation):
    """The cosine transform of filters' outputs in decibels, or as logarithms."""

    def _choose(self, count: int, filters: int, dct_type: Any, norm: Any, log: Any) -> None:
        owner = type(self).__name__
        self.norm = check_type(norm, "norm", owner, NormMode)
        if dct_type != 2:
            raise ValueError(complaint("dct_type", owner, "2", repr(dct_type)))
        self._count, self._filters, self._log = count, filters, log

    def outputs(self, audio: np.ndarray) -> np.ndarray:
        """What the filters give, in float64."""
        raise NotImplementedError(f"{type(self).__name__} has no outputs.")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Take the cepstrum of an array."""
        outputs = self.outputs(audio)
        levels = np.log(outputs + 1e-6) if self._log else decibels(outputs, 10, 1.0, 1e-10, 80.0)
        return (filterbanks.dct(self._count, self._filters, self.norm).T @ levels).astype(np.float32)


class MFCC(_Cepstrum):
    """Cepstral coefficients on the mel scale: (..., coefficient, frame).

    Args:
        sample_rate: samples per second.
        n_mfcc: how many coefficients.
        dct_type: 2, the only one.
        norm: whether the cosine transform is orthonormal.
        log_mels: logarithms instead of decibels.
        melkwargs: further arguments of MelSpectrogram by name.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.MFCC(8000, 3, melkwargs={"n_fft": 16, "n_mels": 4})(np.arange(32.0)).shape)
        (3, 5)
    """

    def __init__(
        self,
        sample_rate: int = 16000,
        n_mfcc: int = 40,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_mels: bool = False,
        melkwargs: dict[str, Any] | None = None,
    ) -> None:
        int_from_0(sample_rate, "sample_rate", "MFCC")
        check_bool(log_mels, "log_mels", "MFCC")
        int_from_0(n_mfcc, "n_mfcc", "MFCC")
        self.melkwargs = {} if melkwargs is None else check_type(melkwargs, "melkwargs", "MFCC", dict)
        n_mels = positive_int(self.melkwargs.get("n_mels", 128), "n_mels", "MFCC")
        self._choose(n_mfcc, n_mels, dct_type, norm, log_mels)
        if n_mels < n_mfcc:
            raise ValueError(complaint("n_mfcc", "MFCC", f"at most n_mels, {n_mels}", n_mfcc))
        self._spectrogram = MelSpectrogram(sample_rate, **self.melkwargs)

    def outputs(self, audio: np.ndarray) -> np.ndarray:
        return self._spectrogram.powers(audio)


class LFCC(_Cepstrum):
    """Cepstral coefficients on a linear scale of frequencies: (..., coefficient, frame).

    Args:
        sample_rate: samples per second.
        n_filter: how many filters.
        n_lfcc: how many coefficients.
        f_min: where the first filter begins, in Hz.
        f_max: where the last one ends; half the rate if not given.
        dct_type: 2, the only one.
        norm: whether the cosine transform is orthonormal.
        log_lf: logarithms instead of decibels.
        speckwargs: arguments of Spectrogram by name.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.LFCC(8000, 4, 3, speckwargs={"n_fft": 16})(np.arange(32.0)).shape)
        (3, 5)
    """

    def __init__(
        self,
        sample_rate: int = 16000,
        n_filter: int = 128,
        n_lfcc: int = 40,
        f_min: float = 0.0,
        f_max: float | None = None,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_lf: bool = False,
        speckwargs: dict[str, Any] | None = None,
    ) -> None:
        int_from_0(sample_rate, "sample_rate", "LFCC")
        positive_int(n_filter, "n_filter", "LFCC")
        positive_int(n_lfcc, "n_lfcc", "LFCC")
        check_bool(log_lf, "log_lf", "LFCC")
        float_from_0(f_min, "f_min", "LFCC")
        if f_max is not None and f_min > float_from_0(f_max, "f_max", "LFCC"):
            raise ValueError(complaint("f_max", "LFCC", f"at least f_min, {f_min}", f_max))
        if f_max is None and f_min >= sample_rate // 2:
            raise ValueError(complaint("f_min", "LFCC", f"below half the rate, {sample_rate // 2}", f_min))
        self._choose(n_lfcc, n_filter, dct_type, norm, log_lf)
        self.speckwargs = {} if speckwargs is None else check_type(speckwargs, "speckwargs", "LFCC", dict)
        self._spectrogram = Spectrogram(**self.speckwargs)
        n_fft = self._spectrogram.n_fft
        if n_fft < n_lfcc:
            raise ValueError(complaint("n_lfcc", "LFCC", f"at most n_fft, {n_fft}", n_lfcc))
        highest = sample_rate // 2 if f_max is None else f_max
        self._bank = (n_fft // 2 + 1, f_min, highest, n_filter, sample_rate)

    def outputs(self, audio: np.ndarray) -> np.ndarray:
        return filterbanks.linear(*self._bank).T @ self._spectrogram.powers(audio)
