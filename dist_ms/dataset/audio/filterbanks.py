"""Matrices that make filters' outputs of spectra, and cepstra of them."""

from __future__ import annotations

import math

import numpy as np

from dist_ms.common.checks import check_number, check_type, complaint
from dist_ms.dataset.audio.enums import MelType, NormMode, NormType
from dist_ms.dataset.audio.operation import float_from_0, int_from_0, positive_float, positive_int

__all__ = ["create_dct", "linear_fbanks", "melscale_fbanks"]


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> np.ndarray:
    """The cosine transform's matrix, of shape (n_mels, n_mfcc).

    Args:
        n_mfcc: how many coefficients, 1 or more.
        n_mels: how many filters they are made of, 1 or more.
        norm: whether its columns have unit length.

    Examples:
        >>> from dist_ms.dataset import audio
        >>> print(audio.create_dct(2, 3).round(4))
        [[ 2.      1.7321]
         [ 2.      0.    ]
         [ 2.     -1.7321]]
    """
    positive_int(n_mfcc, "n_mfcc", "create_dct")
    positive_int(n_mels, "n_mels", "create_dct")
    check_type(norm, "norm", "create_dct", NormMode)
    return dct(n_mfcc, n_mels, norm).astype(np.float32)


def dct(n_mfcc: int, n_mels: int, norm: NormMode) -> np.ndarray:
    """What `create_dct` gives, in float64."""
    matrix = np.cos(np.pi / n_mels * np.outer(np.arange(n_mels) + 0.5, np.arange(n_mfcc)))
    if norm is NormMode.NONE:
        return matrix * 2
    matrix[:, 0] *= math.sqrt(0.5)
    return matrix * math.sqrt(2 / n_mels)


def linear_fbanks(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int) -> np.ndarray:
    """Triangular filters of equal widths, of shape (n_freqs, n_filter).

    Args:
        n_freqs: the spectrum's frequencies, from 0 to half the rate.
        f_min: where the first filter begins, in Hz.
        f_max: where the last one ends.
        n_filter: how many filters.
        sample_rate: samples per second.

    Examples:
        >>> from dist_ms.dataset import audio
        >>> print(audio.linear_fbanks(5, 0.0, 4000.0, 2, 8000).round(2))
        [[0.   0.  ]
         [0.75 0.  ]
         [0.5  0.5 ]
         [0.   0.75]
         [0.   0.  ]]
    """
    owner = "linear_fbanks"
    int_from_0(n_freqs, "n_freqs", owner)
    float_from_0(f_min, "f_min", owner)
    positive_float(f_max, "f_max", owner)
    if f_min > f_max:
        raise ValueError(complaint("f_max", owner, f"at least f_min, {f_min}", f_max))
    positive_int(n_filter, "n_filter", owner)
    positive_int(sample_rate, "sample_rate", owner)
    return linear(n_freqs, f_min, f_max, n_filter, sample_rate).astype(np.float32)


def linear(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int) -> np.ndarray:
    """What `linear_fbanks` gives, in float64."""
    return _triangles(np.linspace(0, sample_rate // 2, n_freqs), np.linspace(f_min, f_max, n_filter + 2))


def melscale_fbanks(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: int,
    norm: NormType = NormType.NONE,
    mel_type: MelType = MelType.HTK,
) -> np.ndarray:
    """Triangular filters of equal widths on the mel scale, of shape (n_freqs, n_mels).

    Args:
        n_freqs: the spectrum's frequencies, from 0 to half the rate.
        f_min: where the first filter begins, in Hz.
        f_max: where the last one ends.
        n_mels: how many filters.
        sample_rate: samples per second.
        norm: whether each is divided by its width.
        mel_type: the scale's formula.

    Examples:
        >>> from dist_ms.dataset import audio
        >>> print(audio.melscale_fbanks(5, 0.0, 4000.0, 2, 8000).round(4))
        [[0.     0.    ]
         [0.6759 0.3241]
         [0.     0.9055]
         [0.     0.4528]
         [0.     0.    ]]
    """
    owner = "melscale_fbanks"
    positive_int(n_freqs, "n_freqs", owner)
    check_number(f_min, "f_min", owner)
    float_from_0(f_min, "f_min", owner)
    positive_float(f_max, "f_max", owner)
    if f_min > f_max:
        raise ValueError(complaint("f_max", owner, f"at least f_min, {f_min}", f_max))
    positive_int(n_mels, "n_mels", owner)
    positive_int(sample_rate, "sample_rate", owner)
    check_type(norm, "norm", owner, NormType)
    check_type(mel_type, "mel_type", owner, MelType)
    return mel(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type).astype(np.float32)


def mel(
    n_freqs: int, f_min: float, f_max: float, n_mels: int, sample_rate: int, norm: NormType, mel_type: MelType
) -> np.ndarray:
    """What `melscale_fbanks` gives, in float64."""
    ends = np.linspace(_mels(f_min, mel_type), _mels(f_max, mel_type), n_mels + 2)
    if mel_type is MelType.HTK:
        edges = 700 * (10 ** (ends / 2595) - 1)
    else:
        edges = np.where(ends >= 15, 1000 * np.exp(math.log(6.4) / 27 * (ends - 15)), ends * 200 / 3)
    filters = _triangles(np.linspace(0, sample_rate // 2, n_freqs), edges)
    if norm is NormType.SLANEY:
        filters *= 2 / (edges[2:] - edges[:-2])
    return filters


def _mels(frequency: float, mel_type: MelType) -> float:
    if mel_type is MelType.HTK:
        return 2595 * math.log10(1 + frequency / 700)
    return frequency * 3 / 200 if frequency < 1000 else 15 + math.log(frequency / 1000) * 27 / math.log(6.4)


def _triangles(frequencies: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Filters that rise from each edge to the next one, and fall to the one after it."""
    slopes = edges[None] - frequencies[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        widths = np.diff(edges)
        return np.maximum(0, np.minimum(-slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:])) + 0.0
