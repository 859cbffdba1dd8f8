"""What transforms of audio have in common: what they take, and the checks of their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_number_range, complaint

INT32 = 2147483647
LARGEST = 16777216  # the largest of the consecutive whole numbers of float32


class AudioOperation:
    """A transform of one array whose last axis is time, unless it says otherwise.

    A subclass has `transform`, which gets an array of its `axes` dimensions or more that is not empty.
    """

    random = False
    axes = 1
    real = True
    """Whether other numbers than floats are taken, as float32; float16 becomes float32, too."""

    def __call__(self, *audio: Any) -> Any:
        """Transform one array."""
        owner = type(self).__name__
        for value in audio:
            if not isinstance(value, np.ndarray):
                raise TypeError(complaint("audio", owner, "a NumPy array", type(value).__name__))
        if len(audio) != 1:
            raise RuntimeError(complaint("audio", owner, "one array", f"{len(audio)}"))
        return self.transform(self.prepare(audio[0]))

    def prepare(self, audio: np.ndarray) -> np.ndarray:
        """Require numbers and dimensions; make floats of them."""
        owner = type(self).__name__
        kinds = "biuf" if self.real else "f"
        if audio.dtype.kind not in kinds:
            wanted = "an array of numbers" if self.real else "an array of floats"
            raise RuntimeError(complaint("audio", owner, wanted, f"one of {audio.dtype}"))
        if audio.ndim < self.axes or audio.size == 0:
            wanted = f"an array of {self.axes} or more dimensions that is not empty"
            raise RuntimeError(complaint("audio", owner, wanted, f"the shape {audio.shape}"))
        return floats(audio) if self.real else audio

    def transform(self, audio: np.ndarray) -> Any:
        """Transform an array that `prepare` gave."""
        raise NotImplementedError(f"{type(self).__name__} has no transform.")


class ComplexOperation(AudioOperation):
    """A transform of complex numbers whose real and imaginary parts are the last axis."""

    axes = 1

    def prepare(self, audio: np.ndarray) -> np.ndarray:
        """Require pairs of numbers."""
        audio = super().prepare(audio)
        if audio.shape[-1] != 2:
            wanted = "pairs of a real and an imaginary part along the last axis"
            raise RuntimeError(complaint("audio", type(self).__name__, wanted, f"the shape {audio.shape}"))
        return audio


def floats(audio: np.ndarray) -> np.ndarray:
    """The array in float64 if it is that, else in float32."""
    return audio if audio.dtype == np.float64 else np.asarray(audio, np.float32)


def as_complex(audio: np.ndarray) -> np.ndarray:
    """Complex numbers from pairs along the last axis."""
    return audio[..., 0] + 1j * audio[..., 1]


def as_pairs(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Pairs along a new last axis from complex numbers."""
    return np.stack([values.real, values.imag], -1).astype(dtype)


def any_float(value: Any, name: str, owner: str) -> float:
    """A number that float32 holds well."""
    return check_number_range(value, name, owner, -LARGEST, LARGEST)


def positive_float(value: Any, name: str, owner: str) -> float:
    """A number above 0."""
    return check_number_range(value, name, owner, 0, LARGEST, "(]")


def float_from_0(value: Any, name: str, owner: str) -> float:
    """A number that is not negative."""
    return check_number_range(value, name, owner, 0, LARGEST)


def positive_int(value: Any, name: str, owner: str) -> int:
    """A whole number from 1."""
    return check_int_range(value, name, owner, 1, INT32)


def int_from_0(value: Any, name: str, owner: str) -> int:
    """A whole number from 0."""
    return check_int_range(value, name, owner, 0, INT32)


def rate(value: Any, name: str, owner: str) -> int:
    """A whole number other than 0."""
    if check_int_range(value, name, owner, -INT32 - 1, INT32) == 0:
        raise ValueError(complaint(name, owner, "an int other than 0", "0"))
    return value
