"""Sets of sentences that are read aloud: CMUArcticDataset, LJSpeechDataset and LibriTTSDataset."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string, complaint
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage
from dist_ms.dataset.sources.sounds.recordings import Recordings, listed, text

__all__ = ["CMUArcticDataset", "LJSpeechDataset", "LibriTTSDataset"]

_SPEAKERS = ("aew ahw aup awb axb bdl clb eey fem gka jmk ksp ljm lnh rms rxr slp slt").split()
_PARTS = (
    "dev-clean",
    "dev-other",
    "test-clean",
    "test-other",
    "train-clean-100",
    "train-clean-360",
    "train-other-500",
)


class CMUArcticDataset(Recordings):
    """CMU Arctic: single speakers who read about 1150 sentences each (Kominek and Black, 2004).

    Columns are `waveform` float32 of shape (1, samples), `sample_rate` uint32, `transcript` and `utterance_id` str.

    Args:
        dataset_dir: the folder with a folder per speaker, such as cmu_us_aew_arctic.
        name: the speaker; "aew" by default.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        TypeError: if `name` is no str.
        ValueError: if the folder does not exist, or there is no such speaker.
        RuntimeError: if there is no list of the speaker's sentences, or it is damaged.

    Examples:
        >>> import pathlib, tempfile, wave
        >>> import dist_ms.dataset as ds
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "cmu_us_aew_arctic/wav/arctic_a0001.wav"
        >>> path.parent.mkdir(parents=True, exist_ok=True)
        >>> with wave.open(str(path), "wb") as file:
        ...     file.setparams((1, 2, 16000, 0, "NONE", ""))
        ...     file.writeframes(bytes(6))
        >>> (path.parent.parent / "etc").mkdir()
        >>> _ = (path.parent.parent / "etc/txt.done.data").write_text('( arctic_a0001 "Hello." )')
        >>> data = ds.CMUArcticDataset(str(path.parent.parent.parent))
        >>> [[str(column) for column in row[1:]] for row in data.create_tuple_iterator(output_numpy=True)]
        [['16000', 'Hello.', 'a0001']]
    """

    rate = 16000
    rate_type = np.uint32

    def __init__(
        self,
        dataset_dir: str,
        name: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "CMUArcticDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        if name is not None and not isinstance(name, str):
            raise TypeError(complaint("name", owner, "a speaker such as 'aew'", repr(name)))
        speaker = check_string("aew" if name is None else name, "name", owner, _SPEAKERS)
        columns = ["waveform", "sample_rate", "transcript", "utterance_id"]
        super().__init__(columns, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        folder = folder / f"cmu_us_{speaker}_arctic"
        self.paths = []
        for line in listed(folder / "etc" / "txt.done.data", owner):
            match = re.match(r'\s*\(\s*(\S+)\s+"([^"]*)"', line)
            if match is None:
                raise RuntimeError(
                    f"For '{owner}', the sentences of {speaker!r} must be listed like '( arctic_a0001 \"Text.\" )', "
                    f"but got {line[:60]!r}."
                )
            file, sentence = match.groups()
            self.paths.append((folder / "wav" / f"{file}.wav", sentence, file.removeprefix("arctic_")))

    def read(self, number: int) -> Row:
        """A recording, its sentence and its name."""
        path, sentence, name = self.paths[number]
        return (*self.sound(path), text(sentence), text(name))


class LJSpeechDataset(Recordings):
    """LJ Speech: one woman reads 13100 passages from books (Ito and Johnson, 2017).

    Columns are `waveform` float32 of shape (1, samples), `sample_rate` int32, `transcription` and
    `normalized_transcription` str, where numbers and abbreviations are written out.

    Args:
        dataset_dir: the folder with metadata.csv and wavs.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist.
        RuntimeError: if there is no metadata.csv, or it is damaged.

    Examples:
        >>> import pathlib, tempfile, wave
        >>> import dist_ms.dataset as ds
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "wavs/LJ001-0001.wav"
        >>> path.parent.mkdir(parents=True, exist_ok=True)
        >>> with wave.open(str(path), "wb") as file:
        ...     file.setparams((1, 2, 22050, 0, "NONE", ""))
        ...     file.writeframes(bytes(6))
        >>> _ = (path.parent.parent / "metadata.csv").write_text("LJ001-0001|In 1.|In one.")
        >>> data = ds.LJSpeechDataset(str(path.parent.parent))
        >>> [[str(column) for column in row[1:]] for row in data.create_tuple_iterator(output_numpy=True)]
        [['22050', 'In 1.', 'In one.']]
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
        owner = "LJSpeechDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        columns = ["waveform", "sample_rate", "transcription", "normalized_transcription"]
        super().__init__(columns, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.paths = []
        for line in listed(folder / "metadata.csv", owner):
            entries = line.split("|")
            if len(entries) != 3:
                raise RuntimeError(
                    f"For '{owner}', a line of metadata.csv must have a name and two texts with '|' between them, but "
                    f"got {line[:60]!r}."
                )
            self.paths.append((folder / "wavs" / f"{entries[0]}.wav", *entries[1:]))

    def read(self, number: int) -> Row:
        """A recording, its text as printed and as spoken."""
        path, printed, spoken = self.paths[number]
        return (*self.sound(path), text(printed), text(spoken))


class LibriTTSDataset(Recordings):
    r"""LibriTTS: 585 hours of many people who read from books (Zen et al., 2019).

    Columns are `waveform` float32 of shape (1, samples), `sample_rate` uint32, `original_text` and `normalized_text`
    str, `speaker_id` and `chapter_id` uint32, and `utterance_id` str. Chapters are read in the order of their folders'
    names, where MindSpore takes them as the file system lists them.

    Args:
        dataset_dir: the folder with a folder per part, such as dev-clean.
        usage: "dev-clean", "dev-other", "test-clean", "test-other", "train-clean-100", "train-clean-360",
            "train-other-500" or "all" (the default).
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such part.
        RuntimeError: if there is no list of a chapter's sentences, or one is damaged.

    Examples:
        >>> import pathlib, tempfile, wave
        >>> import dist_ms.dataset as ds
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev-clean/116/288045/116_288045_000003_000000.wav"
        >>> path.parent.mkdir(parents=True, exist_ok=True)
        >>> with wave.open(str(path), "wb") as file:
        ...     file.setparams((1, 2, 24000, 0, "NONE", ""))
        ...     file.writeframes(bytes(6))
        >>> _ = (path.parent / "116_288045.trans.tsv").write_text("116_288045_000003_000000\tIn 1.\tIn one.")
        >>> data = ds.LibriTTSDataset(str(path.parents[3]))
        >>> [[str(column) for column in row[1:6]] for row in data.create_tuple_iterator(output_numpy=True)]
        [['24000', 'In 1.', 'In one.', '116', '288045']]
    """

    rate = 24000
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
        owner = "LibriTTSDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, (*_PARTS, "all"))
        columns = [
            "waveform",
            "sample_rate",
            "original_text",
            "normalized_text",
            "speaker_id",
            "chapter_id",
            "utterance_id",
        ]
        super().__init__(columns, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        parts = _PARTS if part == "all" else (part,)
        lists = [path for name in parts for path in sorted((folder / name).glob("*/*/*.trans.tsv"))]
        if not lists:
            raise RuntimeError(
                f"For '{owner}', 'dataset_dir' must hold lists such as dev-clean/116/288045/116_288045.trans.tsv of "
                f"{part!r}, but there are none."
            )
        self.paths = []
        for path in lists:
            for line in listed(path, owner):
                entries = line.split("\t")
                numbers = entries[0].split("_")[:2]
                if len(entries) != 3 or len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
                    raise RuntimeError(
                        f"For '{owner}', a line of {str(path)!r} must have a name such as '116_288045_000003_000000' "
                        f"and two texts with tabs between them, but got {line[:60]!r}."
                    )
                ids = [np.array(int(number), np.uint32) for number in numbers]
                self.paths.append((path.parent / f"{entries[0]}.wav", *entries[1:], *ids, entries[0]))

    def read(self, number: int) -> Row:
        """A recording, its text as printed and as spoken, who reads, the chapter and the recording's name."""
        path, printed, spoken, speaker, chapter, name = self.paths[number]
        return (*self.sound(path), text(printed), text(spoken), speaker.copy(), chapter.copy(), text(name))
