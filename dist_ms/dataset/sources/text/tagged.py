"""Sets of sentences whose words have tags: CoNLL-2000 and UDPOS."""

from __future__ import annotations

from typing import Any

from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.text.files import ParsedSource, check_folder, check_usage, files_of

__all__ = ["CoNLL2000Dataset", "UDPOSDataset"]


class _Tagged(ParsedSource):
    """Base of the sets with a word and its tags in each line, and an empty line after each sentence."""

    names: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    separator: str | None = None

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = type(self).__name__
        parts = dict(self.parts)
        usage = check_usage(usage, (*parts, "all"), owner)
        names = sorted(parts.values()) if usage == "all" else [parts[usage]]
        files = files_of(check_folder(dataset_dir, owner), names, owner)
        super().__init__(self.names, files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def parse(self, path: str) -> list[tuple]:
        """The sentences of a file; one that no empty line ends is left out, as in MindSpore."""
        sentences: list[tuple] = []
        words: list[list[str]] = []
        with open(path, encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                line = line.rstrip("\r\n")
                if line:
                    entries = line.split(self.separator)
                    if len(entries) != len(self.names):
                        raise ValueError(f"line {number} has {len(entries)} entries for {', '.join(self.names)}")
                    words.append(entries)
                elif words:
                    sentences.append(tuple(list(column) for column in zip(*words)))
                    words = []
        return sentences


class CoNLL2000Dataset(_Tagged):
    """The sentences of CoNLL-2000: the columns "word", "pos_tag" and "chunk_tag" hold an array of text each.

    Args:
        dataset_dir: the folder with `train.txt` and `test.txt`.
        usage: "train", "test" or "all" (the default).
        num_samples, shuffle, num_shards, shard_id, num_parallel_workers, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if a file is missing or wrong.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> lines = ["He PRP B-NP", "is VBZ B-VP", "", ""]
        >>> _ = pathlib.Path(folder.name, "test.txt").write_text(chr(10).join(lines))
        >>> data = ds.CoNLL2000Dataset(folder.name, "test")
        >>> [row[0].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [['He', 'is']]
        >>> folder.cleanup()
    """

    names = ("word", "pos_tag", "chunk_tag")
    parts = (("train", "train.txt"), ("test", "test.txt"))
    separator = " "


class UDPOSDataset(_Tagged):
    """The sentences of UDPOS: the columns "word", "universal" and "stanford" hold an array of text each.

    Args:
        dataset_dir: the folder with `en-ud-tag.v2.train.txt`, `en-ud-tag.v2.test.txt` and `en-ud-tag.v2.dev.txt`.
        usage: "train", "test", "valid" or "all" (the default).
        num_samples, shuffle, num_shards, shard_id, num_parallel_workers, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if a file is missing or wrong.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> entries = chr(9).join(["He", "PRON", "PRP"])
        >>> _ = pathlib.Path(folder.name, "en-ud-tag.v2.dev.txt").write_text(entries + 2 * chr(10))
        >>> ds.UDPOSDataset(folder.name, "valid").get_dataset_size()
        1
        >>> folder.cleanup()
    """

    names = ("word", "universal", "stanford")
    parts = tuple((k, f"en-ud-tag.v2.{v}.txt") for k, v in (("train", "train"), ("test", "test"), ("valid", "dev")))
    separator = "\t"
