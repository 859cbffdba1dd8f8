"""Sets of film reviews: SST-2 and IMDB."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dist_ms.dataset.dataset import Row
from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.indexed import IndexedSource
from dist_ms.dataset.sources.text.files import ParsedSource, check_folder, check_usage, files_of

__all__ = ["IMDBDataset", "SST2Dataset"]


class SST2Dataset(ParsedSource):
    """The sentences of SST-2: the columns "sentence" and "label" are text; the part for test has no label.

    Args:
        dataset_dir: the folder with `train.tsv`, `dev.tsv` and `test.tsv`.
        usage: "train" (the default), "dev" or "test".
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if a file is missing or wrong.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> lines = [chr(9).join(("sentence", "label")), chr(9).join(("a fine film ", "1"))]
        >>> _ = pathlib.Path(folder.name, "dev.tsv").write_text(chr(10).join(lines))
        >>> ds.SST2Dataset(folder.name, "dev").get_dataset_size()
        1
        >>> folder.cleanup()
    """

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
        owner = "SST2Dataset"
        self.usage = check_usage(usage, ("train", "test", "dev"), owner, "train")
        files = files_of(check_folder(dataset_dir, owner), [f"{self.usage}.tsv"], owner)
        columns = ["sentence"] if self.usage == "test" else ["sentence", "label"]
        super().__init__(columns, files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def parse(self, path: str) -> list[tuple]:
        """The sentences of a file."""
        rows: list[tuple] = []
        with open(path, encoding="utf-8", newline="\n") as file:
            next(file, None)
            for number, line in enumerate(file, 2):
                if not line.strip("\r\n"):
                    continue
                entries = line.rstrip("\r\n").split("\t")
                if len(entries) != 2:
                    raise ValueError(f"line {number} has {len(entries)} entries instead of 2")
                rows.append((entries[1],) if self.usage == "test" else tuple(entries))
        return rows


class IMDBDataset(IndexedSource):
    """The reviews of IMDB: the column "text", and "label", int32: 1 for a positive one, 0 for a negative.

    Args:
        dataset_dir: the folder with the folders `train` and `test`, each with `pos` and `neg`.
        usage: "train", "test" or "all" (the default).
        num_samples: read at most so many reviews.
        num_parallel_workers: how many workers read.
        shuffle: draw a new order every epoch (True by default).
        sampler: chooses the rows.
        num_shards, shard_id: read the part of one rank.
        cache: a DatasetCache.

    Raises:
        RuntimeError: if there are no reviews.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> for kind in ("pos", "neg"):
        ...     place = pathlib.Path(folder.name, "test", kind)
        ...     place.mkdir(parents=True)
        ...     _ = (place / "0_5.txt").write_text(f"a {kind} review")
        >>> data = ds.IMDBDataset(folder.name, "test", shuffle=False)
        >>> [int(label) for _, label in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [1, 0]
        >>> folder.cleanup()
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
        check_folder(dataset_dir, "IMDBDataset")
        usage = check_usage(usage, ("train", "test", "all"), "IMDBDataset")
        self.reviews: list[tuple[str, int]] = []
        for part in ("train", "test") if usage == "all" else (usage,):
            for kind, label in (("pos", 1), ("neg", 0)):
                place = os.path.join(dataset_dir, part, kind)
                if not os.path.isdir(place):
                    raise RuntimeError(f"For 'IMDBDataset', {place} does not exist: unpack the set into its folder.")
                names = sorted(name for name in os.listdir(place) if name.endswith(".txt"))
                self.reviews += [(os.path.join(place, name), label) for name in names]
        if not self.reviews:
            raise RuntimeError(f"For 'IMDBDataset', there are no reviews in {dataset_dir}: unpack the set there.")
        super().__init__(
            ["text", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )

    def count(self) -> int:
        """How many reviews there are."""
        return len(self.reviews)

    def read(self, number: int) -> Row:
        """Review `number`, and its label.

        Raises:
            RuntimeError: if it is no UTF-8 text.
        """
        path, label = self.reviews[number]
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            raise RuntimeError(f"For 'IMDBDataset', {path} is no UTF-8 text: unpack the set again.") from None
        return np.array(text.rstrip("\n")), np.array(label, np.int32)

    def labels(self, column: str) -> np.ndarray:
        """The labels of all reviews."""
        return np.array([label for _, label in self.reviews]) if column == "label" else super().labels(column)
