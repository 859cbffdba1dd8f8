"""The pitch of voices."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset.audio.operation import AudioOperation, positive_float, positive_int, rate

__all__ = ["DetectPitchFrequency"]


class DetectPitchFrequency(AudioOperation):
    """The pitch of each frame in Hz, by the delay at which the signal is most like itself.

    Args:
        sample_rate: samples per second, not 0.
        frame_time: a frame's seconds.
        win_length: frames of the median that smooths the result.
        freq_low: the lowest pitch in Hz.
        freq_high: the highest one.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> wave = np.sin(np.arange(4000) * 2 * np.pi * 200 / 8000)
        >>> print(audio.DetectPitchFrequency(8000, win_length=3)(wave)[:3])
        [200. 200. 200.]
    """

    real = False

    def __init__(
        self,
        sample_rate: int,
        frame_time: float = 0.01,
        win_length: int = 30,
        freq_low: float = 85,
        freq_high: float = 3400,
    ) -> None:
        owner = "DetectPitchFrequency"
        self.sample_rate = rate(sample_rate, "sample_rate", owner)
        self.frame_time = positive_float(frame_time, "frame_time", owner)
        self.win_length = positive_int(win_length, "win_length", owner)
        self.freq_low = positive_float(freq_low, "freq_low", owner)
        self.freq_high = positive_float(freq_high, "freq_high", owner)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Find the pitches of an array."""
        size = int(np.ceil(self.sample_rate * self.frame_time))
        lags = int(np.ceil(self.sample_rate / self.freq_low))
        lowest = int(np.ceil(self.sample_rate / self.freq_high))
        length = audio.shape[-1]
        count = int(np.ceil(length / size))
        if count + (self.win_length - 1) // 2 < self.win_length:
            wanted = f"of so many samples that {self.win_length} frames of {size} have a median"
            raise RuntimeError(complaint("audio", "DetectPitchFrequency", wanted, length))
        signal = np.pad(audio.astype(np.float64), [(0, 0)] * (audio.ndim - 1) + [(0, lags + count * size - length)])
        frames = signal[..., : count * size].reshape(*audio.shape[:-1], count, size)
        likeness = np.empty((*frames.shape[:-1], lags))
        own = np.sqrt((frames**2).sum(-1))
        for lag in range(1, lags + 1):
            later = signal[..., lag : lag + count * size].reshape(frames.shape)
            norms = (1e-9 + own) * (1e-9 + np.sqrt((later**2).sum(-1)))
            likeness[..., lag - 1] = (frames * later).sum(-1) / norms**1
        best = likeness[..., lowest:].max(-1), likeness[..., lowest:].argmax(-1)
        half = likeness[..., lowest : lags // 2].max(-1), likeness[..., lowest : lags // 2].argmax(-1)
        lag = np.where(half[0] > 0.99 * best[0], half[1], best[1]) + lowest + 1
        before = (self.win_length - 1) // 2
        padded = np.concatenate([np.repeat(lag[..., :1], before, -1), lag], -1)
        windows = np.lib.stride_tricks.sliding_window_view(padded, self.win_length, -1)
        median = np.sort(windows, -1)[..., (self.win_length - 1) // 2]
        return (self.sample_rate / (median + 1e-9)).astype(np.float32)
