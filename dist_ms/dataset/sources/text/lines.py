"""Datasets of lines: any text files, and the sets for language models."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.dataset.dataset import Row
from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.text.files import (
    OffsetSource,
    check_folder,
    check_usage,
    files_of,
    find_files,
    line_spans,
)

__all__ = ["EnWik9Dataset", "PennTreebankDataset", "TextFileDataset", "WikiTextDataset"]

_USAGES = ("train", "test", "valid", "all")


class _Lines(OffsetSource):
    """Base of the datasets of lines."""

    keeps_empty = False

    def scan(self, data: np.ndarray, file: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the lines begin and end."""
        return line_spans(data, self.keeps_empty)

    def parse(self, file: int, data: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> Row:
        """The lines' text."""
        return (self.texts(file, data, np.stack([begins, ends], 1)),)


class TextFileDataset(_Lines):
    """The lines of text files, without empty ones, in the column "text".

    Args:
        dataset_files: a file, a pattern or a list of them; the files are read in the order of their names.
        num_samples: read at most so many lines.
        num_parallel_workers: how many workers read; without shuffling, so many files (8 by default) give a line each
            in turn.
        shuffle: True or Shuffle.GLOBAL: all lines; Shuffle.FILES: the files; False: nothing.
        num_shards, shard_id: read the part of one rank.
        cache: a DatasetCache.

    Raises:
        ValueError: if there is no such file.

    Examples:
        >>> import tempfile
        >>> import dist_ms.dataset as ds
        >>> file = tempfile.NamedTemporaryFile("w", suffix=".txt")
        >>> print("one", "", "two", sep=chr(10), file=file, flush=True)
        >>> data = ds.TextFileDataset(file.name, shuffle=False)
        >>> [str(line) for (line,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        ['one', 'two']
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        files = find_files(dataset_files, "TextFileDataset")
        super().__init__(["text"], files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


class EnWik9Dataset(_Lines):
    """The lines of EnWik9, empty ones too, in the column "text".

    Args:
        dataset_dir: the folder with the file `enwik9`.
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if the file is missing.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> _ = pathlib.Path(folder.name, "enwik9").write_text("<page>")
        >>> ds.EnWik9Dataset(folder.name).get_dataset_size()
        1
        >>> folder.cleanup()
    """

    keeps_empty = True

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle = True,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        files = files_of(check_folder(dataset_dir, "EnWik9Dataset"), ["enwik9"], "EnWik9Dataset")
        super().__init__(["text"], files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


class _Parts(_Lines):
    """Base of the sets with a file of lines for training, test and validation."""

    pattern = ""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = type(self).__name__
        usage = check_usage(usage, _USAGES, owner)
        parts = _USAGES[:3] if usage == "all" else (usage,)
        files = files_of(check_folder(dataset_dir, owner), [self.pattern.format(part) for part in sorted(parts)], owner)
        super().__init__(["text"], files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


class PennTreebankDataset(_Parts):
    """The lines of Penn Treebank, in the column "text".

    Args:
        dataset_dir: the folder with `ptb.train.txt`, `ptb.test.txt` and `ptb.valid.txt`.
        usage: "train", "test", "valid" or "all" (the default).
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if a file is missing.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> _ = pathlib.Path(folder.name, "ptb.test.txt").write_text(" no it was n't ")
        >>> ds.PennTreebankDataset(folder.name, "test").get_dataset_size()
        1
        >>> folder.cleanup()
    """

    pattern = "ptb.{}.txt"


class WikiTextDataset(_Parts):
    """The lines of WikiText-2 or WikiText-103, in the column "text".

    Args:
        dataset_dir: the folder with `wiki.train.tokens`, `wiki.test.tokens` and `wiki.valid.tokens`.
        usage: "train", "test", "valid" or "all" (the default).
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if a file is missing.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> _ = pathlib.Path(folder.name, "wiki.test.tokens").write_text(" = Title = ")
        >>> ds.WikiTextDataset(folder.name, "test").get_dataset_size()
        1
        >>> folder.cleanup()
    """

    pattern = "wiki.{}.tokens"
