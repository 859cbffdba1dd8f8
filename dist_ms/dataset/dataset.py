"""Dataset: a pipeline of rows; every method adds a stage.

A row is a tuple of NumPy arrays or dicts, one per column. A stage gives the rows of one
epoch from `rows(epoch)`, so iterating again starts again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from dist_ms.dataset import config

Row = tuple


class Dataset:
    """Base class of all stages.

    Attributes:
        columns: names of the columns.
        inputs: the stages this one reads from.
    """

    runs_python = False  # the stage calls functions of the user

    def __init__(self, columns: list[str], *inputs: Dataset) -> None:
        self.columns = list(columns)
        self.inputs = inputs
        self._epoch = 0

    # ---- what a stage defines
    def rows(self, epoch: int) -> Iterator[Row]:
        """The rows of one epoch."""
        raise NotImplementedError(f"For '{type(self).__name__}', rows(epoch) is not defined.")

    def get_dataset_size(self) -> int:
        """The number of rows (batches after `batch`) in an epoch."""
        return self.inputs[0].get_dataset_size()

    def get_batch_size(self) -> int:
        """Rows per batch; 1 before `batch`."""
        return self.inputs[0].get_batch_size() if self.inputs else 1

    def get_repeat_count(self) -> int:
        """How often the rows are repeated in an epoch."""
        return self.inputs[0].get_repeat_count() if self.inputs else 1

    # ---- about the columns
    def get_col_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def _first(self) -> Row:
        return next(iter(self.rows(0)))

    def output_shapes(self, estimate: bool = False) -> list[list[int]]:
        """The shape of each column in the first row, [0] of a dict."""
        return [[0] if isinstance(a, dict) else list(a.shape) for a in self._first()]

    def output_types(self) -> list[np.dtype]:
        """The NumPy dtype of each column in the first row, object of a dict."""
        return [np.dtype(object) if isinstance(a, dict) else a.dtype for a in self._first()]

    def shard_seeds(self) -> list[int]:
        """The seeds of the sources whose rows are a shard of a shuffled order; all ranks must have the same."""
        found = [seed for d in self.inputs for seed in d.shard_seeds()]
        sampling = getattr(self, "sampling", None)
        return [*found, config.shuffle_seed()] if sampling is not None and sampling.is_shuffled_shard else found

    @contextmanager
    def without_padding(self) -> Iterator[None]:
        """Meanwhile shards repeat no row to be of one length: the shards of all ranks have every row once."""
        sampling = getattr(self, "sampling", None)
        with ExitStack() as stack:
            for part in (*self.inputs, sampling) if sampling is not None else self.inputs:
                stack.enter_context(part.without_padding())
            yield

    def _calls_python(self) -> bool:
        return self.runs_python or any(d._calls_python() for d in self.inputs)

    # ---- iteration
    def __len__(self) -> int:
        return self.get_dataset_size()

    def __iter__(self) -> Iterator:
        return iter(self.create_tuple_iterator(num_epochs=1))

    def create_tuple_iterator(
        self, columns: list[str] | None = None, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> Any:
        """Iterate over rows as lists of Tensors (or NumPy arrays), a new epoch at each iteration.

        Args:
            columns: the columns to give, in this order; all by default.
            num_epochs: how many epochs may be iterated; -1 for any number.
            output_numpy: give NumPy arrays.
            do_copy: give copies that nothing else holds (always so for NumPy-sourced batches).

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False)
            >>> [int(row[0]) for row in data.create_tuple_iterator(output_numpy=True)]
            [1, 2]
        """
        from dist_ms.dataset.iterators import RowIterator

        source = self if columns is None else self.project(columns)
        return RowIterator(source, num_epochs, output_numpy, do_copy, as_dict=False)

    def create_dict_iterator(self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False) -> Any:
        """Iterate over rows as dicts column name -> Tensor (or NumPy array)."""
        from dist_ms.dataset.iterators import RowIterator

        return RowIterator(self, num_epochs, output_numpy, do_copy, as_dict=True)

    # ---- stages
    def batch(
        self, batch_size: Any, drop_remainder: bool = False, num_parallel_workers: int | None = None, **kwargs: Any
    ) -> Dataset:
        """Stack rows into batches along a new first axis.

        Args:
            batch_size: rows per batch.
            drop_remainder: leave out a last, smaller batch.
            num_parallel_workers: threads (batches are stacked in order either way).
            kwargs: `per_batch_map` (function of the columns, as lists of rows, and a BatchInfo),
                `input_columns`, `output_columns`.
        """
        from dist_ms.dataset.batching import BatchDataset

        return BatchDataset(self, batch_size, drop_remainder, **kwargs)

    def shuffle(self, buffer_size: int) -> Dataset:
        """Draw rows at random from a buffer of `buffer_size` (2 or more)."""
        from dist_ms.dataset.stages import ShuffleDataset

        return ShuffleDataset(self, buffer_size)

    def map(
        self,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Apply functions to columns, one after another.

        Args:
            operations: a function or a list of them; each takes the columns and returns the new ones:
                arrays, numbers, or dicts, which later stages get as dicts and `batch` stacks key by key.
            input_columns: names; the first columns by default.
            output_columns: names of the results; the input names by default.
            num_parallel_workers: threads that run the functions; rows keep their order.
        """
        from dist_ms.dataset.mapping import MapDataset

        return MapDataset(self, operations, input_columns, output_columns, num_parallel_workers, **kwargs)

    def filter(
        self, predicate: Callable, input_columns: Any = None, num_parallel_workers: int | None = None
    ) -> Dataset:
        """Keep the rows for which `predicate(columns...)` is true."""
        from dist_ms.dataset.stages import FilterDataset

        return FilterDataset(self, predicate, input_columns)

    def repeat(self, count: int | None = None) -> Dataset:
        """Give the rows `count` times in an epoch."""
        from dist_ms.dataset.stages import RepeatDataset

        return RepeatDataset(self, count)

    def take(self, count: int = -1) -> Dataset:
        """Give the first `count` rows; -1 for all."""
        from dist_ms.dataset.stages import TakeDataset

        return TakeDataset(self, count)

    def skip(self, count: int) -> Dataset:
        """Leave out the first `count` rows."""
        from dist_ms.dataset.stages import SkipDataset

        return SkipDataset(self, count)

    def zip(self, datasets: Any) -> Dataset:
        """Put the columns of other datasets beside these."""
        from dist_ms.dataset.stages import ZipDataset

        return ZipDataset((self, *(datasets if isinstance(datasets, tuple) else (datasets,))))

    def concat(self, datasets: Any) -> Dataset:
        """Give the rows of other datasets after these."""
        from dist_ms.dataset.stages import ConcatDataset

        return ConcatDataset([self, *(datasets if isinstance(datasets, list) else [datasets])])

    def __add__(self, other: Dataset) -> Dataset:
        return self.concat(other)

    def project(self, columns: Any) -> Dataset:
        """Keep some columns, in this order."""
        from dist_ms.dataset.stages import ProjectDataset

        return ProjectDataset(self, [columns] if isinstance(columns, str) else list(columns))

    def rename(self, input_columns: Any, output_columns: Any) -> Dataset:
        """Give columns other names."""
        from dist_ms.dataset.stages import RenameDataset

        return RenameDataset(self, input_columns, output_columns)

    def split(self, sizes: list, randomize: bool = True) -> list[Dataset]:
        """Split the rows into parts.

        Args:
            sizes: row counts that add up to all rows, or fractions that add up to 1.
            randomize: shuffle the rows (the same way every time) before splitting.
        """
        from dist_ms.dataset.stages import split_rows

        return split_rows(self, sizes, randomize)

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Return `apply_func(self)`."""
        result = apply_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(f"For 'apply', 'apply_func' must return a dataset, but got {type(result).__name__}.")
        return result


def column_list(value: Any, name: str) -> list[str]:
    """A list of column names from one name or several.

    Raises:
        TypeError: if something is no str.
    """
    names = [value] if isinstance(value, str) else list(value)
    for n in names:
        if not isinstance(n, str):
            raise TypeError(f"For 'Dataset', '{name}' must be column names, but got {n!r}.")
    if len(set(names)) != len(names):
        raise ValueError(f"For 'Dataset', '{name}' must not name a column twice, but got {names}.")
    return names
