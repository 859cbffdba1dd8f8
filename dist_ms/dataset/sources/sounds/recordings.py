"""What sources of recordings share: the samples in WAV files, scaled as MindSpore does."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.dataset.sources.folders import check_file
from dist_ms.dataset.sources.indexed import IndexedSource

__all__ = ["Recordings", "listed", "scaled", "text"]

_LARGEST = np.float32(np.iinfo(np.int16).max)


def scaled(samples: np.ndarray) -> np.ndarray:
    """Samples of 16 bits as float32 of shape (1, samples), the largest as 1."""
    return (samples.astype(np.float32) / _LARGEST)[None]


def text(value: str) -> np.ndarray:
    """A row's entry of text."""
    return np.array(value)


def listed(path: Path, owner: str) -> list[str]:
    """The lines of a data set's list.

    Raises:
        RuntimeError: if there is no such file, or it holds no line.
    """
    try:
        lines = check_file(path, "dataset_dir", owner).read_text(encoding="utf-8").split("\n")
    except ValueError:
        raise RuntimeError(
            f"For '{owner}', 'dataset_dir' must hold the list {str(path)!r}, but it is missing."
        ) from None
    lines = [line.removesuffix("\r") for line in lines]
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise RuntimeError(f"For '{owner}', the list {str(path)!r} must name recordings, but it is empty.")
    return lines


class Recordings(IndexedSource):
    """Base of the sets of WAV files.

    Attributes:
        rate: the sample rate that the set's files have; None for any.
        rate_type: of the column "sample_rate".
        paths: the files that rows read, and all that a row needs besides.
    """

    rate: int | None = None
    rate_type: type[np.generic] = np.int32
    paths: list[tuple[Any, ...]]

    def count(self) -> int:
        """How many recordings there are."""
        return len(self.paths)

    def sound(self, path: str | Path) -> tuple[np.ndarray, np.ndarray]:
        """The samples of a file as float32 of shape (1, samples), and their rate.

        Raises:
            RuntimeError: if the file cannot be read, or is no WAV of 16 bits of the set's rate.
        """
        owner = type(self).__name__
        try:
            with wave.open(str(path), "rb") as file:
                rate, width, count = file.getframerate(), file.getsampwidth(), file.getnframes() * file.getnchannels()
                data = file.readframes(file.getnframes())
        except (OSError, EOFError, wave.Error) as error:
            raise RuntimeError(
                f"For '{owner}', {str(path)!r} must be a WAV file of 16 bits, but {type(error).__name__}: {error}."
            ) from error
        if width != 2 or len(data) != 2 * count:
            found = f"of {8 * width} bits" if width != 2 else f"cut off after {len(data)} of {2 * count} bytes"
            raise RuntimeError(f"For '{owner}', {str(path)!r} must be a whole WAV file of 16 bits, but it is {found}.")
        if self.rate not in (None, rate):
            raise RuntimeError(
                f"For '{owner}', {str(path)!r} must have {self.rate} samples per second, but it has {rate}."
            )
        return scaled(np.frombuffer(data, "<i2")), np.array(rate, self.rate_type)
