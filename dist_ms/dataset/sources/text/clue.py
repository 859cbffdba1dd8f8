"""CLUEDataset: the tasks of the Chinese language understanding evaluation."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.text.files import ParsedSource, find_files

__all__ = ["CLUEDataset"]

_PAIR = ("sentence1", "sentence2")
_SPANS = ("target/span1_index", "target/span1_text", "target/span2_index", "target/span2_text")
# For each task the keys of a line, of training and evaluation, and of test.
_KEYS = {
    "AFQMC": (("label", *_PAIR), ("id", *_PAIR)),
    "CMNLI": (("label", *_PAIR), ("id", *_PAIR)),
    "TNEWS": (("keywords", "label", "label_desc", "sentence"), ("id", "keywords", "sentence")),
    "IFLYTEK": (("label", "label_des", "sentence"), ("id", "sentence")),
    "WSC": (("idx", "label", *_SPANS, "text"), ("idx", *_SPANS, "text")),
    "CSL": (("abst", "id", "keyword", "label"), ("abst", "id", "keyword")),
}


class CLUEDataset(ParsedSource):
    """The lines of a CLUE task's files, each a JSON object; columns in the order of their names.

    Args:
        dataset_files: a file, a pattern or a list of them; the files are read in the order of their names.
        task: "AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "WSC" or "CSL".
        usage: "train", "test" or "eval", which have different columns.
        num_samples: read at most so many rows.
        num_parallel_workers: how many workers read.
        shuffle: True or Shuffle.GLOBAL: all rows; Shuffle.FILES: the files; False: nothing.
        num_shards, shard_id: read the part of one rank.
        cache: a DatasetCache.

    Raises:
        ValueError: if there is no such file, task or usage.
        RuntimeError: if a line is wrong.

    Examples:
        >>> import tempfile
        >>> import dist_ms.dataset as ds
        >>> file = tempfile.NamedTemporaryFile("w", suffix=".json")
        >>> print('{"id": 0, "sentence": "a"}', file=file, flush=True)
        >>> ds.CLUEDataset(file.name, "IFLYTEK", "test").get_col_names()
        ['id', 'sentence']
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        task: str = "AFQMC",
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        files = find_files(dataset_files, "CLUEDataset")
        check_string(task, "task", "CLUEDataset", tuple(_KEYS))
        check_string(usage, "usage", "CLUEDataset", ("train", "test", "eval"))
        self.keys_of_line = _KEYS[task][usage == "test"]
        names = [key.rpartition("/")[2] for key in self.keys_of_line]
        super().__init__(names, files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def parse(self, path: str) -> list[tuple]:
        """The rows of a file.

        Raises:
            RuntimeError: if a line is wrong.
        """
        rows = []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    rows.append(self._values(json.loads(line)))
                except (ValueError, KeyError, TypeError) as error:
                    raise RuntimeError(
                        f"For 'CLUEDataset', {path}, line {number} has not the keys {list(self.keys_of_line)} of the "
                        f"task ({type(error).__name__}: {error}): choose its 'task' and 'usage'."
                    ) from None
        return rows

    def _values(self, entry: dict) -> Row:
        values = []
        for key in self.keys_of_line:
            value: Any = entry
            for part in key.split("/"):
                value = value[part]
            values.append(np.array(value, np.uint32 if isinstance(value, int) else None))
        return tuple(values)
