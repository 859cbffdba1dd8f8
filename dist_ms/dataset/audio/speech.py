"""Vad: cuts off what comes before a voice."""

from __future__ import annotations

import math

import numpy as np

from dist_ms.common.checks import check_number, complaint
from dist_ms.dataset.audio.operation import AudioOperation, float_from_0, positive_float, positive_int

__all__ = ["Vad"]


class Vad(AudioOperation):
    """Cut off what comes before a voice, as SoX does: the cepstrum above the noise tells where one begins.

    Without a voice, the end of the sound that was searched last is left. MindSpore 2.10 was seen to
    leave it with a voice, too, at any level above 0.

    Args:
        sample_rate: samples per second.
        trigger_level: the measure from which on there is a voice.
        trigger_time: seconds over which the measure is smoothed, against short bursts.
        search_time: seconds before the voice that are searched for quieter beginnings.
        allowed_gap: seconds that may lie between quieter beginnings.
        pre_trigger_time: seconds to keep before the voice.
        boot_time: seconds at the start from which the noise is first estimated.
        noise_up_time, noise_down_time: seconds over which the noise is smoothed, where it rises and falls.
        noise_reduction_amount: how many times the noise is taken off.
        measure_freq: measures per second.
        measure_duration: seconds of one measure; by default the time of two.
        measure_smooth_time: seconds over which spectra are smoothed.
        hp_filter_freq, lp_filter_freq: the lowest and highest frequencies that are looked at, in Hz.
        hp_lifter_freq, lp_lifter_freq: the lowest and highest pitch that is looked for, in Hz.

    Raises:
        TypeError: if an argument is no number.
        ValueError: if one is out of its range.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Vad(600)(np.zeros(1000)).shape)
        (660,)
    """

    def __init__(
        self,
        sample_rate: int,
        trigger_level: float = 7.0,
        trigger_time: float = 0.25,
        search_time: float = 1.0,
        allowed_gap: float = 0.25,
        pre_trigger_time: float = 0.0,
        boot_time: float = 0.35,
        noise_up_time: float = 0.1,
        noise_down_time: float = 0.01,
        noise_reduction_amount: float = 1.35,
        measure_freq: float = 20.0,
        measure_duration: float | None = None,
        measure_smooth_time: float = 0.4,
        hp_filter_freq: float = 50.0,
        lp_filter_freq: float = 6000.0,
        hp_lifter_freq: float = 150.0,
        lp_lifter_freq: float = 2000.0,
    ) -> None:
        rate = positive_int(sample_rate, "sample_rate", "Vad")
        self.trigger_level = check_number(trigger_level, "trigger_level", "Vad")
        float_from_0(trigger_time, "trigger_time", "Vad")
        float_from_0(search_time, "search_time", "Vad")
        float_from_0(allowed_gap, "allowed_gap", "Vad")
        float_from_0(pre_trigger_time, "pre_trigger_time", "Vad")
        float_from_0(boot_time, "boot_time", "Vad")
        float_from_0(noise_up_time, "noise_up_time", "Vad")
        float_from_0(noise_down_time, "noise_down_time", "Vad")
        if noise_up_time < noise_down_time:
            raise ValueError(
                complaint("noise_up_time", "Vad", f"at least noise_down_time, {noise_down_time}", noise_up_time)
            )
        self.reduction = float_from_0(noise_reduction_amount, "noise_reduction_amount", "Vad")
        positive_float(measure_freq, "measure_freq", "Vad")
        if measure_duration is not None:
            float_from_0(measure_duration, "measure_duration", "Vad")
        float_from_0(measure_smooth_time, "measure_smooth_time", "Vad")
        positive_float(hp_filter_freq, "hp_filter_freq", "Vad")
        positive_float(lp_filter_freq, "lp_filter_freq", "Vad")
        positive_float(hp_lifter_freq, "hp_lifter_freq", "Vad")
        positive_float(lp_lifter_freq, "lp_lifter_freq", "Vad")
        duration = 2 / measure_freq if measure_duration is None else measure_duration
        self.size, self.period = int(rate * duration + 0.5), int(rate / measure_freq + 0.5)
        self.points = max(16, 1 << max(self.size - 1, 0).bit_length())
        self.measures = math.ceil(search_time * measure_freq)
        self.gap = int(allowed_gap * measure_freq + 0.5)
        self.kept = int(pre_trigger_time * rate + 0.5) + self.measures * self.period + self.size
        self.boot = int(boot_time * measure_freq - 0.5)
        self.window = _window(self.size)
        low = max(1, int(hp_filter_freq / rate * self.points + 0.5))
        high = min(self.points // 2, int(lp_filter_freq / rate * self.points + 0.5))
        first = math.ceil(rate * 0.5 / lp_lifter_freq)
        last = min(self.points // 4, math.floor(rate * 0.5 / hp_lifter_freq))
        if low >= high or first >= last or not self.size or not self.period or not self.measures:
            raise ValueError(
                "For 'Vad', the frequencies and times must leave something to measure, but got hp_filter_freq "
                f"{hp_filter_freq}, lp_filter_freq {lp_filter_freq}, hp_lifter_freq {hp_lifter_freq}, lp_lifter_freq "
                f"{lp_lifter_freq}, measure_freq {measure_freq}, measure_duration {duration} and search_time "
                f"{search_time} at {rate} samples per second."
            )
        self.band, self.pitches = slice(low, high), slice(first, last)
        self.lifter = _window(high - low)
        self.up, self.down = _decay(noise_up_time, measure_freq), _decay(noise_down_time, measure_freq)
        self.smooth, self.trigger = _decay(measure_smooth_time, measure_freq), _decay(trigger_time, measure_freq)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Cut an array; all channels are cut where the first of them has a voice."""
        sound = audio.reshape(-1, audio.shape[-1])
        length, channels = sound.shape[1], len(sound)
        padded = np.pad(sound.astype(np.float64), [(0, 0), (1, 0)])
        bins = self.band.stop - self.band.start
        spectrum, noise = np.zeros((channels, bins)), np.zeros((channels, bins))
        mean = np.zeros(channels)
        found: list[np.ndarray] = []
        end = length
        flushed = 0
        for count, stop in enumerate(range(self.size, length + 1, self.period)):
            boot = count if count <= self.boot else -1
            measure = self._measure(padded[:, stop - self.size : stop], spectrum, noise, boot)
            found.append(measure)
            mean = mean * self.trigger + measure * (1 - self.trigger)
            voiced = mean >= self.trigger_level
            if voiced.any():
                back = max(self._back(found, channel) for channel in range(int(voiced.argmax()), channels))
                end, flushed = stop, (self.measures - back) * self.period
                break
        start = max(0, end - self.kept + flushed)
        return sound[:, start:].reshape(*audio.shape[:-1], -1)

    def _measure(self, part: np.ndarray, spectrum: np.ndarray, noise: np.ndarray, boot: int) -> np.ndarray:
        """How much of a voice is in each channel's part; the spectra of sound and noise follow it."""
        size = np.abs(np.fft.rfft(part * self.window, self.points)[:, self.band])
        mult = boot / (1 + boot) if boot >= 0 else self.smooth
        spectrum *= mult
        spectrum += size * (1 - mult)
        power = spectrum**2
        slow = 0.0 if boot >= 0 else np.where(power > noise, self.up, self.down)
        noise *= slow
        noise += power * (1 - slow)
        above = np.zeros((len(part), self.points // 2))
        above[:, self.band] = np.sqrt(np.maximum(0, power - self.reduction * noise)) * self.lifter
        cepstrum = np.fft.rfft(above)[:, self.pitches]
        mean = np.mean(np.abs(cepstrum) ** 2, -1)
        return np.maximum(0, 21 + np.log(mean, out=np.full(len(part), -np.inf), where=mean > 0))

    def _back(self, found: list[np.ndarray], channel: int) -> int:
        """How many measures before the trigger a channel's voice begins."""
        count = self.measures
        triggered = silent = count
        for place in range(count):
            measure = found[-1 - place][channel] if place < len(found) else 0.0
            if measure >= self.trigger_level and place <= triggered + self.gap:
                triggered = silent = place
            elif measure == 0 and triggered >= silent:
                silent = place
        return min(count - 1, silent)


def _window(size: int) -> np.ndarray:
    """Hann's window of twice the root of its length."""
    return (1 - np.cos(2 * np.pi * np.arange(size) / max(size, 1))) / math.sqrt(max(size, 1))


def _decay(time: float, rate: float) -> float:
    """What is left of a value after one measure."""
    return math.exp(-1 / (time * rate)) if time else 0.0
