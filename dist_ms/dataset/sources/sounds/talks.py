"""TedliumDataset: the sentences of talks, with what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string, complaint
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage
from dist_ms.dataset.sources.sounds.recordings import Recordings, listed, scaled, text

__all__ = ["TedliumDataset"]

_RELEASES = ("release1", "release2", "release3")
_KNOWN = {"channel_count": "1", "sample_n_bytes": "2", "sample_coding": "pcm"}


class TedliumDataset(Recordings):
    r"""TED-LIUM: talks cut into sentences (Rousseau et al., 2012).

    Columns are `waveform` float32 of shape (1, samples), `sample_rate` int32, and `transcript`, `talk_id`, `speaker_id`
    and `identifier` str. Without shuffling, the first sentences of all talks come first, then the numbers of the
    sentences in the order of their digits, as MindSpore does. Samples are scaled as in the other sets of sounds;
    MindSpore 2.10 gives 0 for nearly all of them.

    Args:
        dataset_dir: the folder with a folder per part (of release 3 with "data") that has folders sph and stm.
        release: "release1", "release2" or "release3".
        usage: "train", "test", "dev" or "all" (the default, and of release 3 the only one).
        extensions: of the recordings: ".sph".
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        TypeError: if `release` or `extensions` is no str.
        ValueError: if the folder does not exist, or there is no such release, part or ending.
        RuntimeError: if there are no texts of a part, or they are damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("sph", "stm"):
        ...     (folder / "data" / name).mkdir(parents=True)
        >>> head = "NIST_1A\n   1024\nsample_rate -i 16000\nsample_byte_format -s2 10\nend_head\n".ljust(1024)
        >>> _ = (folder / "data/sph/a.sph").write_bytes(head.encode() + bytes(32000))
        >>> _ = (folder / "data/stm/a.stm").write_text("a 1 me 0.25 0.75 <o> hello there")
        >>> data = ds.TedliumDataset(str(folder), "release3")
        >>> [(row[0].shape, str(row[2])) for row in data.create_tuple_iterator(output_numpy=True)]
        [((1, 8000), 'hello there')]
    """

    def __init__(
        self,
        dataset_dir: str,
        release: str,
        usage: str | None = None,
        extensions: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "TedliumDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        if not isinstance(release, str):
            raise TypeError(complaint("release", owner, f"one of {', '.join(_RELEASES)}", repr(release)))
        check_string(release, "release", owner, _RELEASES)
        choices = ("all",) if release == "release3" else ("train", "test", "dev", "all")
        part = check_usage(usage, owner, choices)
        if extensions is not None and not isinstance(extensions, str):
            raise TypeError(complaint("extensions", owner, "'.sph'", repr(extensions)))
        check_string(".sph" if extensions is None else extensions, "extensions", owner, [".sph"])
        columns = ["waveform", "sample_rate", "transcript", "talk_id", "speaker_id", "identifier"]
        super().__init__(columns, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        if release == "release3":
            parts = ["data"]
        else:
            parts = ["dev", "test", "train"] if part == "all" else [part]
        found = []
        for name in parts:
            texts = sorted((folder / name / "stm").glob("*.stm"))
            if not texts:
                raise RuntimeError(
                    f"For '{owner}', 'dataset_dir' must hold texts like {name}/stm/AalaElKhani.stm, but has none."
                )
            for path in texts:
                sound = folder / name / "sph" / f"{path.stem}.sph"
                found += [
                    ((str(number), path.stem, name), (sound, *_sentence(line, path)))
                    for number, line in enumerate(listed(path, owner))
                ]
        self.paths = [row for _, row in sorted(found, key=lambda pair: pair[0])]

    def read(self, number: int) -> Row:
        """What is said in a sentence, the sound, and who says it in which talk."""
        path, begin, end, *texts = self.paths[number]
        head, rate, order = _head(path)
        first, stop = int(begin * rate), int(end * rate)
        try:
            samples = np.fromfile(path, f"{order}i2", stop - first, offset=head + 2 * first)
        except OSError as error:
            raise RuntimeError(f"For 'TedliumDataset', {str(path)!r} must be readable, but {error}.") from error
        if len(samples) != stop - first:
            raise RuntimeError(
                f"For 'TedliumDataset', {str(path)!r} must reach from {begin} to {end} seconds, but it is shorter."
            )
        return (scaled(samples), np.array(rate, np.int32), *map(text, texts))


def _sentence(line: str, path: Path) -> tuple[float, float, str, str, str, str]:
    """When a sentence begins and ends, what is said, the talk, who speaks and the group the speaker belongs to."""
    try:
        talk, _, speaker, begin, end, group, *said = line.split(" ", 6)
        times = float(begin), float(end)
        if not 0 <= times[0] <= times[1]:
            raise ValueError
    except ValueError:
        raise RuntimeError(
            f"For 'TedliumDataset', a line of {str(path)!r} must have a talk, a channel, a speaker, when the sentence "
            f"begins and ends, a group and a text, but got {line[:60]!r}."
        ) from None
    return *times, "".join(said), talk, speaker, group


def _head(path: Path) -> tuple[int, int, str]:
    """How long the head of an SPH file is, the sample rate and the order of a sample's bytes.

    Raises:
        RuntimeError: if the file cannot be read, or its samples are not of one channel and 16 bits.
    """
    try:
        with open(path, "rb") as file:
            kind, size = file.readline().strip(), int(file.readline())
            lines = file.read(size).decode("ascii", "replace").split("end_head")[0].splitlines()
        fields = {line.split()[0]: line.split()[2] for line in lines if len(line.split()) == 3}
        rate, order = int(fields["sample_rate"]), fields.get("sample_byte_format", "10")
        whole = [fields.get(name, known) == known for name, known in _KNOWN.items()]
    except (OSError, ValueError, KeyError) as error:
        raise RuntimeError(
            f"For 'TedliumDataset', {str(path)!r} must be an SPH file, but {type(error).__name__}: {error}."
        ) from error
    if kind != b"NIST_1A" or not all(whole) or order not in ("01", "10"):
        raise RuntimeError(
            f"For 'TedliumDataset', {str(path)!r} must be an SPH file of one channel with PCM of 16 bits, "
            f"but has {fields}."
        )
    return size, rate, "<" if order == "01" else ">"
