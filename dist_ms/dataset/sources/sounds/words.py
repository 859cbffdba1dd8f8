"""Sets of single words: SpeechCommandsDataset and YesNoDataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage, matching
from dist_ms.dataset.sources.sounds.recordings import Recordings, listed, text

__all__ = ["SpeechCommandsDataset", "YesNoDataset"]


class SpeechCommandsDataset(Recordings):
    """Speech Commands: short words that many people say (Warden, 2018).

    Columns are `waveform` float32 of shape (1, samples), `sample_rate` int32, `label` and `speaker_id` str, and
    `utterance_number` int32.

    Args:
        dataset_dir: the folder with a folder per word, testing_list.txt and validation_list.txt.
        usage: "train", "test", "valid" or "all" (the default).
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such part.
        RuntimeError: if there is no recording or list, or a file is named otherwise.

    Examples:
        >>> import pathlib, tempfile, wave
        >>> import dist_ms.dataset as ds
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "cat/b433eff_nohash_0.wav"
        >>> path.parent.mkdir(parents=True, exist_ok=True)
        >>> with wave.open(str(path), "wb") as file:
        ...     file.setparams((1, 2, 16000, 0, "NONE", ""))
        ...     file.writeframes(bytes(6))
        >>> data = ds.SpeechCommandsDataset(str(path.parent.parent))
        >>> [row[2:] for row in data.create_tuple_iterator(output_numpy=True)]
        [[array('cat', dtype='<U3'), array('b433eff', dtype='<U7'), array(0, dtype=int32)]]
    """

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
        owner = "SpeechCommandsDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "test", "valid", "all"))
        columns = ["waveform", "sample_rate", "label", "speaker_id", "utterance_number"]
        super().__init__(columns, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        lists = {"test": "testing_list.txt", "valid": "validation_list.txt"}
        if part in lists:
            found = [folder / line.strip() for line in listed(folder / lists[part], owner)]
        else:
            found = [path for path in matching(folder, "*/*.wav", owner) if path.parent.name != "_background_noise_"]
            if part == "train":
                others = {folder / line.strip() for name in lists.values() for line in listed(folder / name, owner)}
                found = [path for path in found if path not in others]
        if not found:
            raise RuntimeError(f"For '{owner}', 'dataset_dir' must hold recordings of {part!r}, but there are none.")
        self.paths = [self._named(path) for path in sorted(found)]

    def _named(self, path: Path) -> tuple[Path, str, str, np.ndarray]:
        speaker, nohash, number = (*path.stem.split("_"), "", "")[:3]
        if nohash != "nohash" or not number.isdecimal():
            raise RuntimeError(
                f"For 'SpeechCommandsDataset', {str(path)!r} must be named like 'b433eff_nohash_0.wav', but is not."
            )
        return path, path.parent.name, speaker, np.array(int(number), np.int32)

    def read(self, number: int) -> Row:
        """A recording, its word, who speaks and which of the speaker's recordings of the word it is."""
        path, label, speaker, utterance = self.paths[number]
        return (*self.sound(path), text(label), text(speaker), utterance.copy())


class YesNoDataset(Recordings):
    """YesNo: one man says "yes" or "no" in Hebrew eight times in each of sixty recordings.

    Columns are `waveform` float32 of shape (1, samples), `sample_rate` int32, and `label` int32, 1 for each "yes" and 0
    for each "no".

    Args:
        dataset_dir: the folder with the recordings.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist.
        RuntimeError: if there is no recording, or one is named otherwise.

    Examples:
        >>> import pathlib, tempfile, wave
        >>> import dist_ms.dataset as ds
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "1_0_1_0_0_1_1_0.wav"
        >>> path.parent.mkdir(parents=True, exist_ok=True)
        >>> with wave.open(str(path), "wb") as file:
        ...     file.setparams((1, 2, 8000, 0, "NONE", ""))
        ...     file.writeframes(bytes(6))
        >>> data = ds.YesNoDataset(str(path.parent))
        >>> [(sound.shape, label.tolist()) for sound, _, label in data.create_tuple_iterator(output_numpy=True)]
        [((1, 3), [1, 0, 1, 0, 0, 1, 1, 0])]
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "YesNoDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        columns = ["waveform", "sample_rate", "label"]
        super().__init__(columns, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.paths = []
        for path in matching(folder, "*.wav", owner):
            answers = path.stem.split("_")
            if not all(answer.isdecimal() for answer in answers):
                raise RuntimeError(
                    f"For '{owner}', {str(path)!r} must be named after its answers like '1_0_0_1.wav', but is not."
                )
            self.paths.append((path, np.array([int(answer) for answer in answers], np.int32)))

    def read(self, number: int) -> Row:
        """A recording and its answers."""
        path, answers = self.paths[number]
        return (*self.sound(path), answers.copy())
