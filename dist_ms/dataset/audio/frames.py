"""Short-time Fourier transforms and back, as spectrograms use them."""

from __future__ import annotations

import numpy as np

from dist_ms.dataset.audio.complex_spectra import BORDERS
from dist_ms.dataset.audio.enums import BorderType, WindowType

_WINDOWS = {
    WindowType.BARTLETT: np.bartlett,
    WindowType.BLACKMAN: np.blackman,
    WindowType.HAMMING: np.hamming,
    WindowType.HANN: np.hanning,
    WindowType.KAISER: lambda length: np.kaiser(length, 12.0),
}


def window_of(kind: WindowType, length: int, size: int) -> np.ndarray:
    """A periodic window in the middle of `size` samples."""
    window = np.ones(1) if length == 1 else _WINDOWS[kind](length + 1)[:-1]
    before = (size - length) // 2
    return np.pad(window, (before, size - length - before))


def fourier(
    audio: np.ndarray,
    window: np.ndarray,
    hop_length: int,
    center: bool = True,
    pad_mode: BorderType = BorderType.REFLECT,
) -> np.ndarray:
    """The spectra (..., frequency, frame) of windowed frames, without negative frequencies."""
    size = window.size
    audio = audio.astype(np.float64)
    if center:
        audio = np.pad(audio, [(0, 0)] * (audio.ndim - 1) + [(size // 2, size // 2)], BORDERS[pad_mode])
    frames = np.lib.stride_tricks.sliding_window_view(audio, size, -1)[..., ::hop_length, :] * window
    return np.swapaxes(np.fft.rfft(frames), -1, -2)


def overlapped(
    spectra: np.ndarray,
    window: np.ndarray,
    hop_length: int,
    center: bool = True,
    length: int = 0,
) -> np.ndarray:
    """The signal of windowed frames' spectra (..., frequency, frame), weighted by the windows where they are not 0.

    Args:
        spectra: complex numbers, without negative frequencies.
        window: of one frame.
        hop_length: samples from a frame to the next one.
        center: whether the first frame's middle is the signal's start.
        length: of the result; 0 for what the frames hold.
    """
    size, count = window.size, spectra.shape[-1]
    spectra = np.swapaxes(spectra, -1, -2)
    frames = np.fft.irfft(spectra, size) * window
    whole = size + hop_length * (count - 1)
    signal = np.zeros((*frames.shape[:-2], whole))
    weight = np.zeros(whole)
    for i in range(count):
        signal[..., i * hop_length : i * hop_length + size] += frames[..., i, :]
        weight[i * hop_length : i * hop_length + size] += window**2
    start = size // 2 if center else 0
    stop = start + length if length else whole - start
    signal, weight = signal[..., start:stop], weight[start:stop]
    result = signal / np.where(weight > np.finfo(np.float32).tiny, weight, 1)
    if length > result.shape[-1]:
        result = np.pad(result, [(0, 0)] * (result.ndim - 1) + [(0, length - result.shape[-1])])
    return result
