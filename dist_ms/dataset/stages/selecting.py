"""Which columns and rows go on: project, rename, filter, split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_callable, check_positive_int, complaint
from dist_ms.dataset import config
from dist_ms.dataset.dataset import Dataset, Key, Row, column_list, columns_among
from dist_ms.dataset.execution.threads import in_threads
from dist_ms.dataset.orders import permutation
from dist_ms.dataset.stages.same_rows import SameRows
from dist_ms.dataset.user_functions import call


class ProjectDataset(SameRows):
    """Keeps some columns."""

    def __init__(self, source: Dataset, columns: list[str]) -> None:
        columns = columns_among(columns, "columns", "project", source)
        if not columns:
            raise ValueError(complaint("columns", "project", "the name of a column, or a list of names", "none"))
        super().__init__(columns, source)
        self.places = [source.columns.index(c) for c in columns]

    def load(self, key: Key) -> Row:
        """The kept columns."""
        row = self.inputs[0].load(key)
        return tuple(row[i] for i in self.places)

    def load_many(self, keys: list[Key]) -> Row | None:
        """The kept columns of several rows."""
        many = self.inputs[0].load_many(keys)
        return None if many is None else tuple(many[i] for i in self.places)


class RenameDataset(SameRows):
    """Gives columns other names."""

    def __init__(self, source: Dataset, input_columns: Any, output_columns: Any) -> None:
        old = columns_among(input_columns, "input_columns", "rename", source)
        new = column_list(output_columns, "output_columns")
        if len(old) != len(new):
            raise ValueError(f"For 'rename', as many names must go in as come out, but got {old} and {new}.")
        names = dict(zip(old, new))
        super().__init__(column_list([names.get(c, c) for c in source.columns], "output_columns"), source)

    def load_many(self, keys: list[Key]) -> Row | None:
        """The same rows."""
        return self.inputs[0].load_many(keys)


class FilterDataset(Dataset):
    """Keeps the rows that a function accepts; they are made as the keys are asked for."""

    runs_python = True

    def __init__(
        self, source: Dataset, predicate: Callable, input_columns: Any = None, num_parallel_workers: int | None = None
    ) -> None:
        check_callable(predicate, "predicate", "filter")
        names = (
            source.columns if input_columns is None else columns_among(input_columns, "input_columns", "filter", source)
        )
        super().__init__(source.columns, source)
        if num_parallel_workers is not None:
            self.workers = check_positive_int(num_parallel_workers, "num_parallel_workers", "filter")
        self.predicate = predicate
        self.places = [source.columns.index(n) for n in names]

    def get_dataset_size(self) -> int:
        """Rows in an epoch: the function is run over all of them to count."""
        return sum(1 for _ in self.keys(0))

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of accepted rows, each with its row."""
        workers = self.number_of_workers()
        rows = in_threads(self.inputs[0].keys(epoch), self._accepted, workers, 4 * workers)
        next(rows)
        for accepted in rows:
            if accepted is not None:
                yield accepted

    def _accepted(self, key: Key) -> Key | None:
        row = self.inputs[0].load(key)
        accepted = call("filter", self.predicate, *(row[i] for i in self.places))
        if np.size(accepted) != 1:
            wanted = "a function that returns one bool"
            raise RuntimeError(complaint("predicate", "filter", wanted, f"one that returned {accepted}"))
        return (key[0], key[1], row) if bool(np.asarray(accepted)) else None

    def load(self, key: Key) -> Row:
        """The row that the key brings."""
        return key[2]


class PartDataset(Dataset):
    """Some rows of another dataset, by their number in its first epoch's order, so that parts never overlap."""

    def __init__(self, source: Dataset, numbers: np.ndarray) -> None:
        super().__init__(source.columns, source)
        self.numbers = numbers

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        return len(self.numbers)

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of this part."""
        keys = list(islice(self.inputs[0].keys(0), int(self.numbers.max()) + 1))
        for i in self.numbers:
            yield epoch, *keys[i][1:]


def split_rows(source: Dataset, sizes: list, randomize: bool) -> list[Dataset]:
    """Cut a dataset into parts (see `Dataset.split`)."""
    check_bool(randomize, "randomize", "split")
    if not isinstance(sizes, (list, tuple)) or not sizes:
        kind = TypeError if not isinstance(sizes, (list, tuple)) else ValueError
        raise kind(complaint("sizes", "split", "a list of row counts or fractions", sizes))
    total = source.get_dataset_size()
    if all(isinstance(s, int) and not isinstance(s, bool) for s in sizes):
        counts = list(sizes)
        if min(counts) < 1:
            raise ValueError(complaint("sizes", "split", "positive", sizes))
        if sum(counts) != total:
            raise RuntimeError(f"Sum of split sizes {sum(counts)} is not equal to dataset size {total}.")
    elif all(isinstance(s, float) for s in sizes):
        if abs(sum(sizes) - 1.0) > 1e-9 or min(sizes) <= 0:
            raise ValueError(f"For 'split', fractions must be positive and add up to 1, but got {sizes}.")
        counts = [round(total * s) for s in sizes]
        counts[0] += total - sum(counts)
        if min(counts) < 1:
            raise RuntimeError(f"For 'split', every part must have a row, but {sizes} of {total} rows give {counts}.")
    else:
        raise ValueError(complaint("sizes", "split", "a list of ints or of floats", sizes))
    order = permutation(config.shuffle_seed(), total) if randomize else np.arange(total)
    ends = np.cumsum(counts)
    return [PartDataset(source, order[e - c : e]) for c, e in zip(counts, ends)]
