"""MindDataset: the rows of MindRecord files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_int, check_type, complaint
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.samplers import (
    DistributedSampler,
    PKSampler,
    RandomSampler,
    SequentialSampler,
    SubsetSampler,
    as_sampler,
)
from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.file_order import check_shuffle
from dist_ms.dataset.sources.indexed import IndexedSource
from dist_ms.dataset.sources.records.mind_order import RecordSampling
from dist_ms.mindrecord.index import open_index
from dist_ms.mindrecord.shards import Shards

__all__ = ["MindDataset"]

_SAMPLERS = (DistributedSampler, PKSampler, RandomSampler, SequentialSampler, SubsetSampler)


class MindDataset(IndexedSource):
    """Rows of MindRecord files.

    Numbers become arrays of no dimension, bytes an array of one item of type "S", arrays what they were.

    Args:
        dataset_files: one of the files that were written together, or a list of files with the same fields.
        columns_list: the fields to read, in this order; all by default.
        num_parallel_workers: how many workers read rows.
        shuffle: a bool or a Shuffle: among all rows, the files, or the rows of each file (True by default).
        num_shards, shard_id: read every num_shards-th row, the part of one rank.
        sampler: a Distributed, PK, Random, Sequential, Subset or SubsetRandomSampler, which chooses the rows.
        padded_sample: a dict that is given as a row, `num_padded` times after the others.
        num_padded: how often.
        num_samples: read at most so many rows.
        cache: a DatasetCache.

    Raises:
        ValueError: if a file is missing, or arguments contradict each other.
        RuntimeError: if a file is damaged or a column is not there.

    Examples:
        >>> import tempfile
        >>> import dist_ms.dataset as ds
        >>> from dist_ms.mindrecord import FileWriter
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = FileWriter(folder.name + "/rows.mindrecord")
        >>> writer.add_schema({"label": {"type": "int32"}, "image": {"type": "bytes"}})
        >>> writer.write_raw_data([{"label": k, "image": b"abc"} for k in range(3)])
        >>> writer.commit()
        >>> data = ds.MindDataset(folder.name + "/rows.mindrecord", ["label"], shuffle=False)
        >>> [int(label) for (label,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [0, 1, 2]
        >>> folder.cleanup()
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        columns_list: list[str] | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Any = None,
        padded_sample: dict | None = None,
        num_padded: int | None = None,
        num_samples: int | None = None,
        cache: Any = None,
    ) -> None:
        if dataset_files == []:
            raise ValueError(complaint("dataset_files", "MindDataset", "a path or a list of paths", "an empty list"))
        for path in dataset_files if isinstance(dataset_files, list) else [dataset_files]:
            if not isinstance(path, str):
                raise TypeError(complaint("dataset_files", "MindDataset", "a path or a list of paths", repr(path)))
            if not os.path.isfile(path):
                raise ValueError(f"For 'MindDataset', the file {path} does not exist.")
        mode = check_shuffle(shuffle, "MindDataset")
        if num_samples and mode in (Shuffle.FILES, Shuffle.INFILE):
            raise ValueError("For 'MindDataset', 'num_samples' cannot be given with Shuffle.FILES or Shuffle.INFILE.")
        if sampler is not None and not isinstance(sampler, _SAMPLERS):
            names = ", ".join(kind.__name__ for kind in _SAMPLERS)
            raise ValueError(complaint("sampler", "MindDataset", f"a {names}", type(sampler).__name__))
        if (padded_sample is None) != (not num_padded):
            raise RuntimeError("For 'MindDataset', 'padded_sample' and 'num_padded' must be given together.")
        if columns_list is not None and not isinstance(columns_list, list):
            raise TypeError(complaint("columns_list", "MindDataset", "a list", type(columns_list).__name__))
        self.files = Shards(dataset_files)
        fields = self.files.schema.fields
        columns = list(columns_list or fields)
        for name in columns:
            if name not in fields:
                raise RuntimeError(complaint("columns_list", "MindDataset", f"among {list(fields)}", repr(name)))
        super().__init__(columns, None, num_parallel_workers, None, None, None, None, cache)
        if sampler is not None and (shuffle is not None or num_shards is not None or num_samples is not None):
            raise RuntimeError(
                "For 'MindDataset', 'sampler' must be None with shuffle, num_shards, shard_id or num_samples."
            )
        self.sampling = RecordSampling(
            mode,
            num_shards,
            shard_id,
            num_samples,
            sampler and as_sampler(sampler),
            self.shards_of_job,
            lanes=0,
        )
        self.num_padded = 0
        self._padding: Row | None = None
        if num_padded is not None and padded_sample is not None:
            self.num_padded = check_positive_int(num_padded, "num_padded", "MindDataset")
            missing = [name for name in columns if name not in padded_sample]
            if missing:
                raise RuntimeError(
                    complaint("padded_sample", "MindDataset", f"a dict with {missing[0]!r}", padded_sample)
                )
            self._padding = tuple(self._entry(name, padded_sample[name]) for name in columns)

    def count(self) -> int:
        """How many rows the files have, and the padding."""
        return len(self.files) + self.num_padded

    def file_rows(self) -> list[int]:
        """How many rows each file has."""
        return self.files.counts

    def read(self, number: int) -> Row:
        """Row `number`, of the files or of the padding."""
        if number >= len(self.files):
            assert self._padding is not None
            return self._padding
        values = self.files.values(number, self.columns)
        return tuple(self._entry(name, values[name]) for name in self.columns)

    def __getitem__(self, index: int) -> list[np.ndarray]:
        """The columns of row `index` of the files.

        Raises:
            TypeError: if it is no int.
            ValueError: if it is negative.
            IndexError: if there is no such row.
        """
        check_type(index, "index", "MindDataset", (int, np.integer))
        if index < 0:
            raise ValueError(complaint("index", "MindDataset", "0 or more", index))
        if index >= self.count():
            raise IndexError(complaint("index", "MindDataset", f"less than {self.count()}", index))
        return list(self.read(int(index)))

    def _entry(self, name: str, value: Any) -> np.ndarray:
        """A value as a column has it."""
        if isinstance(value, np.ndarray):
            return value
        if isinstance(value, bytes):
            return np.frombuffer(value or b"\0", f"S{max(len(value), 1)}")
        kind = self.files.schema.fields[name]["type"]
        return np.array(value, None if kind == "string" else kind)

    def labels(self, column: str) -> np.ndarray:
        """The labels of all rows, from the index where it has them."""
        if column not in self.files.header.index_fields:
            return super().labels(column)
        found = []
        for path in self.files.paths:
            connection = open_index(path)
            try:
                found += connection.execute(f"SELECT {column}_0 FROM INDEXES ORDER BY ROW_ID").fetchall()
            finally:
                connection.close()
        return np.array([label for (label,) in found])
