"""GTZANDataset: music of ten genres."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage
from dist_ms.dataset.sources.sounds.recordings import Recordings, text

__all__ = ["GTZANDataset"]

# The tracks of each part, as MindSpore reads them.
_TRACKS = {
    "train": {
        "blues": "29-49 73-97",
        "classical": "30-33 43-48 50-67 80-99",
        "country": "19-26 28-29 65-99",
        "disco": "5 15-20 22-37 39-45 47 49 53-54 56-57 59 61 70 73-74 89",
        "hiphop": "2-25 28-29 31-38 41-42 55-61 77-80",
        "jazz": "0-1 11-24 41 47-72",
        "metal": "2-3 5 21 24 35 46-57 59-66 69 71-72 79-80 84 86 89-99",
        "pop": "2-9 11-12 16-20 23-29 31-36 38-42 44 46 49-50 80 97-99",
        "reggae": "0-2 4 6 9 11-12 14-32 42-45 49-51 54-60 63 69",
        "rock": "0-9 16-26 57-70 91-99",
    },
    "valid": {
        "blues": "0-11 50-60",
        "classical": "0-10 68-76",
        "country": "0-7 9-18 27 41-42 45 49",
        "disco": "0 2-4 6-14 46 48 52 67-68 72 75 90 95",
        "hiphop": "81-98",
        "jazz": "2-10 25-32",
        "metal": "0-1 6-11 16-20 36-37 68 76-77 81-82",
        "pop": "10 53 55 58-62 81 83-86",
        "reggae": "61-62 70 72 74 76-78 85 92-99",
        "rock": "38 49-56 71-85",
    },
    "test": {
        "blues": "12-28 61-72 98-99",
        "classical": "11-29 34-41 49 77-79",
        "country": "30-40 43-44 46-48 50-51 53-64",
        "disco": "1 21 58 62-66 69 76-88 91-94 96-97 99",
        "hiphop": "0 26-27 30 40 43-45 51-54 62-75 99",
        "jazz": "73-99",
        "metal": "12-15 22-23 25-33 38-39 67 70 73-75 78 83 85 87-88",
        "pop": "0-1 13-14 43 63-66 69-79 82 88-96",
        "reggae": "34-40 46-48 52-53 64-68 71 79 82-84 87-90",
        "rock": "10-15 27-37 39-48 86-90",
    },
}
_GENRES = tuple(_TRACKS["train"])


def _numbers(stretches: str) -> set[int]:
    """The numbers in stretches like "1-3 7"."""
    ends = [stretch.split("-") for stretch in stretches.split()]
    return {number for pair in ends for number in range(int(pair[0]), int(pair[-1]) + 1)}


class GTZANDataset(Recordings):
    """GTZAN: thousand pieces of music of half a minute in ten genres (Tzanetakis and Cook, 2002).

    Columns are `waveform` float32 of shape (1, samples), `sample_rate` uint32, and `label` str, the genre. The tracks
    are read in the order of their names, where MindSpore takes them as the file system lists them.

    Args:
        dataset_dir: the folder with a folder per genre.
        usage: "train", "valid" or "test", which leave out repeated and damaged tracks; or "all" (the default).
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such part.
        RuntimeError: if there is no track of the part.

    Examples:
        >>> import pathlib, tempfile, wave
        >>> import dist_ms.dataset as ds
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "blues/blues.00029.wav"
        >>> path.parent.mkdir(parents=True, exist_ok=True)
        >>> with wave.open(str(path), "wb") as file:
        ...     file.setparams((1, 2, 22050, 0, "NONE", ""))
        ...     file.writeframes(bytes(6))
        >>> data = ds.GTZANDataset(str(path.parent.parent), "train")
        >>> [(sound.shape, str(label)) for sound, _, label in data.create_tuple_iterator(output_numpy=True)]
        [((1, 3), 'blues')]
    """

    rate = 22050
    rate_type = np.uint32

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "GTZANDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "valid", "test", "all"))
        columns = ["waveform", "sample_rate", "label"]
        super().__init__(columns, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.paths = []
        for genre in _GENRES:
            kept = None if part == "all" else _numbers(_TRACKS[part][genre])
            for path in sorted((folder / genre).glob("*.wav")):
                match = re.fullmatch(r"([a-z]+)\.(\d+)\.wav", path.name)
                if match and (kept is None or (match[1] == genre and int(match[2]) in kept)):
                    self.paths.append((path, genre))
        if not self.paths:
            raise RuntimeError(
                f"For '{owner}', 'dataset_dir' must hold tracks like blues/blues.00029.wav of {part!r}, but has none."
            )

    def read(self, number: int) -> Row:
        """A track and its genre."""
        path, genre = self.paths[number]
        return (*self.sound(path), text(genre))
