"""Effects whose delay is moved by a wave."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_number_range, check_type
from dist_ms.dataset.audio.enums import Interpolation, Modulation
from dist_ms.dataset.audio.operation import INT32, AudioOperation, rate

__all__ = ["Flanger", "Phaser"]


def wave(sinusoidal: bool, length: int, low: float, high: float, phase: float, whole: bool) -> np.ndarray:
    """One period of a sine or a triangle from `low` to `high`, at `length` places."""
    turn = int(phase / np.pi / 2 * length + 0.5)
    at = (np.arange(length) + turn) % length
    if sinusoidal:
        values = (np.sin(at / length * np.pi * 2) + 1) / 2
    else:
        values = at * 2 / length
        quarter = at * 4 // length
        shifts = np.array([0.5, 1.5, 1.5, -1.5])[quarter]
        values = np.where((quarter == 1) | (quarter == 2), shifts - values, shifts + values)
    values = values * (high - low) + low
    if whole:
        return np.where(values < 0, values - 0.5, values + 0.5).astype(np.int64)
    return values


class Phaser(AudioOperation):
    """Notches that wander through the frequencies: the signal and a copy whose short delay a wave moves.

    Args:
        sample_rate: samples per second.
        gain_in: the factor of the input, from 0 to 1.
        gain_out: the factor of the result, from 0 to 1e9.
        delay_ms: the longest delay in milliseconds, from 0 to 5.
        decay: how much is fed back, from 0 to 0.99.
        mod_speed: the wave's periods per second, from 0.1 to 2.
        sinusoidal: a sine, else a triangle.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Phaser(8000)(np.array([0.5, 0.25, 0.0])).round(4))
        [0.148  0.1332 0.0533]
    """

    def __init__(
        self,
        sample_rate: int,
        gain_in: float = 0.4,
        gain_out: float = 0.74,
        delay_ms: float = 3.0,
        decay: float = 0.4,
        mod_speed: float = 0.5,
        sinusoidal: bool = True,
    ) -> None:
        self.sample_rate = check_int_range(sample_rate, "sample_rate", "Phaser", -INT32 - 1, INT32)
        self.gain_in = check_number_range(gain_in, "gain_in", "Phaser", 0, 1)
        self.gain_out = check_number_range(gain_out, "gain_out", "Phaser", 0, 1e9)
        self.delay_ms = check_number_range(delay_ms, "delay_ms", "Phaser", 0, 5)
        self.decay = check_number_range(decay, "decay", "Phaser", 0, 0.99)
        self.mod_speed = check_number_range(mod_speed, "mod_speed", "Phaser", 0.1, 2)
        self.sinusoidal = check_bool(sinusoidal, "sinusoidal", "Phaser")

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Change an array."""
        length = int(self.delay_ms * 0.001 * self.sample_rate + 0.5)
        period = int(self.sample_rate / self.mod_speed + 0.5)
        if length < 1 or period < 1:
            raise RuntimeError(
                "For 'Phaser', 'sample_rate' must be so high that 'delay_ms' is a sample or more, "
                f"but got {self.sample_rate} and {self.delay_ms}."
            )
        places = wave(self.sinusoidal, period, 1, length, np.pi / 2, True)
        rows = audio.reshape(-1, audio.shape[-1]).T * self.gain_in
        delayed = [np.zeros(rows.shape[1])] * length
        result = np.empty(rows.shape)
        for i, row in enumerate(rows):
            now = row + delayed[(i + places[i % period]) % length] * self.decay
            delayed[(i + 1) % length] = now
            result[i] = now
        result = np.clip(result * self.gain_out, -1, 1)
        return np.ascontiguousarray(result.T).reshape(audio.shape).astype(audio.dtype)


class Flanger(AudioOperation):
    """A sweeping sound: the signal and a copy whose delay of some milliseconds a wave moves.

    Channels, at most 4, are along the last axis but one and have waves of different phases.

    Args:
        sample_rate: samples per second, not 0.
        delay: the least delay in milliseconds, from 0 to 30.
        depth: how much the wave adds to it in milliseconds, from 0 to 10.
        regen: percent of the delayed signal that are fed back, from -95 to 95.
        width: percent of the delayed signal in the result, from 0 to 100.
        speed: the wave's periods per second, from 0.1 to 10.
        phase: percent of a period between one channel's wave and the next one's.
        modulation: the wave.
        interpolation: how to read between two samples.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.Flanger(8000)(np.array([[0.5, 0.25, 0.0]])).round(4))
        [[0.5  0.25 0.  ]]
    """

    def __init__(
        self,
        sample_rate: int,
        delay: float = 0.0,
        depth: float = 2.0,
        regen: float = 0.0,
        width: float = 71.0,
        speed: float = 0.5,
        phase: float = 25.0,
        modulation: Modulation = Modulation.SINUSOIDAL,
        interpolation: Interpolation = Interpolation.LINEAR,
    ) -> None:
        self.sample_rate = rate(sample_rate, "sample_rate", "Flanger")
        self.delay = check_number_range(delay, "delay", "Flanger", 0, 30)
        self.depth = check_number_range(depth, "depth", "Flanger", 0, 10)
        self.regen = check_number_range(regen, "regen", "Flanger", -95, 95)
        self.width = check_number_range(width, "width", "Flanger", 0, 100)
        self.speed = check_number_range(speed, "speed", "Flanger", 0.1, 10)
        self.phase = check_number_range(phase, "phase", "Flanger", 0, 100)
        self.modulation = check_type(modulation, "modulation", "Flanger", Modulation)
        self.interpolation = check_type(interpolation, "interpolation", "Flanger", Interpolation)

    axes = 2

    def prepare(self, audio: np.ndarray) -> np.ndarray:
        """Numbers of any type, which is the result's."""
        super().prepare(audio)
        return audio

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Change an array."""
        channels = audio.shape[-2]
        if channels > 4:
            raise RuntimeError(f"For 'Flanger', 'audio' must be of at most 4 channels, but got {channels}.")
        rows = np.moveaxis(audio.reshape(-1, channels, audio.shape[-1]), -1, 0).astype(np.float64)
        regen, width = self.regen / 100, self.width / 100
        delay, depth, phase = self.delay / 1000, self.depth / 1000, self.phase / 100
        into, delayed_gain = 1 / (1 + width), width / (1 + width) * (1 - abs(regen))
        size = int((delay + depth) * self.sample_rate + 0.5) + 2
        period = int(self.sample_rate / self.speed)
        sweep = wave(
            self.modulation is Modulation.SINUSOIDAL,
            period,
            np.floor(delay * self.sample_rate + 0.5),
            size - 2.0,
            3 * np.pi / 2,
            False,
        ).astype(np.float32)
        starts = (np.arange(channels) * period * phase + 0.5).astype(np.int64)
        memory = np.zeros((size, *rows.shape[1:]))
        last = np.zeros(rows.shape[1:])
        result = np.empty(rows.shape)
        one = np.arange(channels)
        quadratic = self.interpolation is Interpolation.QUADRATIC
        for i, row in enumerate(rows):
            place = -i % size
            memory[place] = row + last * regen
            behind = sweep[(i + starts) % period]
            whole = np.floor(behind).astype(np.int64)
            part = behind - whole
            first = memory[(place + whole) % size, :, one].T
            second = memory[(place + whole + 1) % size, :, one].T
            if quadratic:
                third = memory[(place + whole + 2) % size, :, one].T - first
                step = second - first
                last = first + (third * 0.5 - step) * part * part + (step * 2 - third * 0.5) * part
            else:
                last = first + (second - first) * part
            result[i] = row * into + last * delayed_gain
        return np.clip(np.moveaxis(result, 0, -1).reshape(audio.shape), -1, 1).astype(audio.dtype)
