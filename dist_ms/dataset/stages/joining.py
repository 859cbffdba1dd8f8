"""Several datasets as one: side by side, or one after another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset import config
from dist_ms.dataset.dataset import Dataset, Key, Row, check_datasets
from dist_ms.dataset.samplers import DistributedSampler, RandomSampler


class ZipDataset(Dataset):
    """Puts the columns of several datasets side by side; ends with the shortest."""

    def __init__(self, datasets: tuple) -> None:
        check_datasets(datasets, "zip")
        columns = [c for d in datasets for c in d.columns]
        if len(set(columns)) != len(columns):
            raise ValueError(f"For 'zip', column names must differ, but got {columns}: use rename().")
        super().__init__(columns, *datasets)

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        return min(d.get_dataset_size() for d in self.inputs)

    def keys(self, epoch: int) -> Iterator[Key]:
        """The joined keys of one epoch."""
        for parts in zip(*(d.keys(epoch) for d in self.inputs)):
            yield parts[0][0], parts[0][1], parts

    def load(self, key: Key) -> Row:
        """The joined row."""
        return tuple(a for d, part in zip(self.inputs, key[2]) for a in d.load(part))


class ConcatDataset(Dataset):
    """Gives the rows of several datasets one after another."""

    def __init__(self, datasets: list) -> None:
        check_datasets(datasets, "concat")
        for d in datasets:
            if d.columns != datasets[0].columns:
                raise RuntimeError(
                    f"For 'concat', the datasets must have the same columns, but got "
                    f"{datasets[0].columns} and {d.columns}."
                )
        super().__init__(datasets[0].columns, *datasets)
        self.sampler: Any = None
        self._kinds: dict[int, list[Any]] = {}

    def use_sampler(self, new_sampler: Any) -> None:
        """Choose among the rows of all datasets.

        Args:
            new_sampler: a DistributedSampler without shuffling: every row is read by one shard, none twice. Or a
                RandomSampler: the datasets take turns at random, each in its own order.

        Raises:
            TypeError: if it is neither.
            ValueError: if it shuffles, replaces, or has a number of samples.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False) + ds.NumpySlicesDataset([3, 4], shuffle=False)
            >>> data.use_sampler(ds.DistributedSampler(num_shards=2, shard_id=1, shuffle=False))
            >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
            [2, 4]
        """
        if isinstance(new_sampler, RandomSampler):
            wrong = {"replacement": (new_sampler.replacement, False), "num_samples": (new_sampler.count, None)}
        elif isinstance(new_sampler, DistributedSampler):
            part = new_sampler.sampling
            wrong = {"shuffle": (part.shuffle, False), "num_samples": (part.num_samples, None)}
        else:
            found = type(new_sampler).__name__
            raise TypeError(complaint("new_sampler", "concat", "a DistributedSampler or a RandomSampler", found))
        for name, (value, wanted) in wrong.items():
            if value != wanted:
                raise ValueError(complaint(name, type(new_sampler).__name__, f"{wanted} for concat", value))
        self.sampler = new_sampler

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        total = sum(d.get_dataset_size() for d in self.inputs)
        if isinstance(self.sampler, DistributedSampler):
            part = self.sampler.sampling
            return len(range(part.shard_id, total, part.num_shards))
        return total

    def num_classes(self) -> int | None:
        """The largest number that a dataset tells."""
        return max((found for d in self.inputs if (found := d.num_classes()) is not None), default=None)

    def is_shuffled(self) -> bool:
        """Whether the datasets take turns at random, or one shuffles its rows."""
        return isinstance(self.sampler, RandomSampler) or super().is_shuffled()

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of one epoch, each with the number of its dataset."""
        if isinstance(self.sampler, RandomSampler):
            # Each row's dataset is drawn; its rows come in its own order.
            draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
            turns = draw.permutation(np.repeat(np.arange(len(self.inputs)), [len(d) for d in self.inputs]))
            sources = [d.keys(epoch) for d in self.inputs]
            return (self._key(int(turn), next(sources[turn])) for turn in turns)
        every = (self._key(i, key) for i, d in enumerate(self.inputs) for key in d.keys(epoch))
        if self.sampler is None:
            return every
        part = self.sampler.sampling
        return islice(every, part.shard_id, None, part.num_shards)

    @staticmethod
    def _key(which: int, key: Key) -> Key:
        return key[0], key[1], (which, key)

    def load(self, key: Key) -> Row:
        """The row, from its dataset.

        Raises:
            RuntimeError: if a column has another type or number of dimensions than in a dataset before.
        """
        which, inner = key[2]
        row = self.inputs[which].load(inner)
        if which not in self._kinds:
            self._compare(which, row)
        return row

    def _compare(self, which: int, row: Row) -> None:
        """Compare a dataset's first row with those of the others, and keep what it is like."""
        mine = [_kind(a) for a in row]
        for theirs in list(self._kinds.values()):
            for column, one, other in zip(self.columns, theirs, mine):
                if one != other:
                    raise RuntimeError(
                        f"For 'concat', the column '{column}' must have one type and number of dimensions in all "
                        f"datasets, but got {one} and {other}: change one with map() first."
                    )
        self._kinds[which] = mine


def _kind(value: Any) -> str:
    """The type and number of dimensions of what a column has."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return type(value).__name__
    name = "text" if value.dtype.kind == "U" else "bytes" if value.dtype.kind == "S" else str(value.dtype)
    return f"{name} of {value.ndim} dimensions"
