"""TFRecordDataset: the examples in TensorFlow's files of records."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_choice, check_type, complaint
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.records.schema import Schema, shaped
from dist_ms.dataset.sources.text.files import FileSource, find_files
from dist_ms.mindrecord.tfrecord import RecordFile, features

__all__ = ["TFRecordDataset"]


class TFRecordDataset(FileSource):
    """The examples in TFRecord files.

    Without a schema, all features of an example are columns, in the order of their names, each an array of one
    dimension: int64, float32, or uint8 for bytes.

    Args:
        dataset_files: a file, a pattern or a list of them; the files are read in the order of their names.
        schema: a Schema or the path of one, in JSON: the columns to read, their types and shapes.
        columns_list: the columns to read, in this order.
        num_samples: read at most so many examples; by default what the schema says, or all.
        num_parallel_workers: how many workers read; without shuffling, so many files (8 by default) give a row each in
            turn.
        shuffle: True or Shuffle.GLOBAL: all examples; Shuffle.FILES: the files; False: nothing.
        num_shards, shard_id: read the part of one rank: every num_shards-th file, or with `shard_equal_rows` as many
            examples as the others.
        shard_equal_rows: deal examples, not files.
        cache: a DatasetCache.
        compression_type: "GZIP", "ZLIB", or "" for plain files. Compressed ones are unpacked as a whole.

    Raises:
        ValueError: if there is no such file, or an argument is wrong.
        RuntimeError: if a file is damaged, or a column is missing.

    Examples:
        >>> import tempfile
        >>> import dist_ms.dataset as ds
        >>> record = bytes.fromhex("1200000000000000241f64250a100a0e0a056c6162656c12051a030a0107368c84b9")
        >>> file = tempfile.NamedTemporaryFile(suffix=".tfrecord")
        >>> _ = file.write(3 * record)  # a label of 7 each, as TensorFlow writes it
        >>> file.flush()
        >>> schema = ds.Schema()
        >>> schema.add_column("label", "int32", [])
        >>> data = ds.TFRecordDataset(file.name, schema, shuffle=False)
        >>> [int(label) for (label,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [7, 7, 7]
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        schema: Schema | str | None = None,
        columns_list: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = False,
        cache: Any = None,
        compression_type: str | None = None,
    ) -> None:
        owner = "TFRecordDataset"
        files = find_files(dataset_files, owner)
        check_type(columns_list or [], "columns_list", owner, list)
        check_bool(shard_equal_rows or False, "shard_equal_rows", owner)
        check_choice(compression_type, "compression_type", owner, (None, "", "GZIP", "ZLIB"))
        self.compression = compression_type or ""
        self.schema = {c["name"]: c for c in _schema(schema).columns} if schema is not None else None
        if schema is not None and not num_samples:
            num_samples = Schema.get_num_rows(_schema(schema)) or None
        if num_shards is not None and (self.compression or not shard_equal_rows):
            if len(files) < num_shards:
                raise RuntimeError(
                    f"For '{owner}', there must be {num_shards} files or more, but got {len(files)}:"
                    " set 'shard_equal_rows' to True, or write more files."
                )
            if shard_id is None or not 0 <= shard_id < num_shards:
                raise ValueError(complaint("shard_id", owner, f"from 0 to {num_shards - 1}", shard_id))
            files, num_shards, shard_id = files[shard_id::num_shards], 1, 0
        columns = list(columns_list or ()) or None
        if columns is None and self.schema is not None:
            columns = list(self.schema)
        super().__init__(columns or [], files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self._opened: dict[int, RecordFile] = {}
        known = self.schema if self.schema is not None else self._first_example()
        if columns is None:
            self.columns = sorted(known)
        for name in self.columns:
            if name not in known:
                raise RuntimeError(complaint("columns_list", owner, f"among {sorted(known)}", repr(name)))

    def __getstate__(self) -> dict:
        return super().__getstate__() | {"_opened": {}}

    def _first_example(self) -> dict:
        for file in range(len(self.files)):
            if self.rows_of(file):
                return features(self._record(file, 0), self.files[file])
        return dict.fromkeys(self.columns)

    def _file(self, file: int) -> RecordFile:
        found = self._opened.get(file)
        if found is None:
            found = self._opened[file] = RecordFile(self.files[file], self.compression)
        return found

    def _record(self, file: int, row: int) -> bytes:
        return self._file(file).record(row)

    def rows_of(self, file: int) -> int:
        """How many examples a file has."""
        return len(self._file(file))

    def read(self, number: int) -> Row:
        """Example `number`.

        Raises:
            RuntimeError: if it is damaged, or has not the columns.
        """
        file, row = self.place(number)
        place = f"{os.fspath(self.files[file])}, record {row}"
        found = features(self._record(file, row), place)
        values = []
        for name in self.columns:
            if name not in found:
                raise RuntimeError(f"For 'TFRecordDataset', {place} has no feature {name!r}, only {sorted(found)}.")
            value = found[name]
            if self.schema is not None:
                values.append(shaped(value, self.schema[name], place))
            elif isinstance(value, list):
                values.append(np.frombuffer(b"".join(value), np.uint8))
            else:
                values.append(value)
        return tuple(values)


def _schema(schema: Schema | str) -> Schema:
    return schema if isinstance(schema, Schema) else Schema(schema)
