"""NumpySlicesDataset: rows of arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor
from dist_ms.dataset.columns import to_column
from dist_ms.dataset.dataset import Row, column_list
from dist_ms.dataset.sources.indexed import IndexedSource

__all__ = ["NumpySlicesDataset"]


class NumpySlicesDataset(IndexedSource):
    """Rows cut from arrays along their first axis.

    Args:
        data: an array or list (one column), a tuple of them, or a dict name -> array.
        column_names: names; "column_0", "column_1", ... by default.
        num_samples: read at most so many rows.
        num_parallel_workers: accepted; slicing needs no threads.
        shuffle: draw a new order every epoch (True by default).
        sampler: an iterable of row numbers, instead of shuffle / shards.
        num_shards, shard_id: read every num_shards-th row, the part of one rank.

    Raises:
        ValueError: if the arrays have different lengths or names do not fit.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset(([1, 2, 3], [4, 5, 6]), ["a", "b"], shuffle=False)
        >>> print(data.batch(2).get_dataset_size())
        2
    """

    runs_python = False
    shards_of_job = False  # the program may have cut its rows itself

    def __init__(
        self,
        data: Any,
        column_names: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        if isinstance(data, dict):
            names, parts = list(data), list(data.values())
        elif isinstance(data, tuple):
            names, parts = [f"column_{i}" for i in range(len(data))], list(data)
        elif isinstance(data, (list, np.ndarray, Tensor)):
            names, parts = ["column_0"], [data]
        else:
            raise TypeError(
                "Unsupported data type, expected to be list, tuple, dict or numpy.ndarray, but got "
                f"{type(data).__name__}."
            )
        for name, part in zip(names, parts, strict=True):
            if part is None:
                raise TypeError(complaint("data", "NumpySlicesDataset", "arrays or lists", f"None for {name!r}"))
        self.arrays = [_rows_of(p) for p in parts]
        if not self.arrays or any(a.ndim == 0 or not len(a) for a in self.arrays):
            raise ValueError("Argument data cannot be empty")
        if len({len(a) for a in self.arrays}) > 1:
            raise ValueError(f"Data length in each column is not equal: {[len(a) for a in self.arrays]}.")
        if column_names is not None:
            names = column_list(column_names, "column_names")
        if len(names) != len(self.arrays):
            raise ValueError(f"Num of input column names is {len(names)}, but required is {len(self.arrays)}.")
        super().__init__(names, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)

    def count(self) -> int:
        """How many rows the arrays have."""
        return len(self.arrays[0])

    def read(self, number: int) -> Row:
        """Row `number` of each array."""
        return tuple(a[number] for a in self.arrays)

    def read_many(self, numbers: np.ndarray) -> Row | None:
        """Rows of each array; None where they differ in shape."""
        return None if any(a.dtype == object for a in self.arrays) else tuple(a[numbers] for a in self.arrays)


def _rows_of(part: Any) -> np.ndarray:
    """A column as an array; of lists of several lengths, one of the arrays of the rows."""
    try:
        return to_column(part)
    except ValueError:
        rows = np.empty(len(part), object)
        rows[:] = [np.asarray(row) for row in part]
        return rows
