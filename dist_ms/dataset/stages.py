"""The small stages: shuffle, repeat, take, skip, zip, concat, project, rename, filter, split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_non_negative_int, complaint
from dist_ms.dataset import config
from dist_ms.dataset.dataset import Dataset, Row, column_list
from dist_ms.dataset.samplers import DistributedSampler, RandomSampler


class ShuffleDataset(Dataset):
    """Draws rows at random from a buffer, anew every epoch, the same way on every rank."""

    def __init__(self, source: Dataset, buffer_size: int) -> None:
        if isinstance(buffer_size, bool) or not isinstance(buffer_size, int):
            raise TypeError(complaint("buffer_size", "shuffle", "an int", type(buffer_size).__name__))
        if buffer_size < 2:
            raise ValueError(
                f"Input buffer_size is not within the required interval of [2, 2147483647]: it is {buffer_size}."
            )
        super().__init__(source.columns, source)
        self.buffer_size = buffer_size

    def rows(self, epoch: int) -> Iterator[Row]:
        """The shuffled rows of one epoch."""
        draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
        buffer: list[Row] = []
        for row in self.inputs[0].rows(epoch):
            if len(buffer) < self.buffer_size:
                buffer.append(row)
                continue
            i = draw.randint(len(buffer))
            buffer[i], row = row, buffer[i]
            yield row
        draw.shuffle(buffer)
        yield from buffer


class RepeatDataset(Dataset):
    """Gives the rows several times in an epoch."""

    def __init__(self, source: Dataset, count: int | None) -> None:
        count = -1 if count is None else count
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(complaint("count", "repeat", "an int", type(count).__name__))
        if count != -1 and count < 1:
            raise ValueError(f"count should be either -1 or positive integer, range[1, INT32_MAX]. It is {count}.")
        super().__init__(source.columns, source)
        self.count = count

    def get_dataset_size(self) -> int:
        """Rows in an epoch (of the source, when it repeats for ever)."""
        return self.inputs[0].get_dataset_size() * max(self.count, 1)

    def get_repeat_count(self) -> int:
        """How often the rows are repeated."""
        return self.count * self.inputs[0].get_repeat_count()

    def rows(self, epoch: int) -> Iterator[Row]:
        """The rows of one epoch, each repetition shuffled anew."""
        turn = 0
        while self.count == -1 or turn < self.count:
            yield from self.inputs[0].rows(epoch * max(self.count, 1) + turn)
            turn += 1


class TakeDataset(Dataset):
    """Gives the first rows."""

    def __init__(self, source: Dataset, count: int) -> None:
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(complaint("count", "take", "an int", type(count).__name__))
        if count != -1 and count < 1:
            raise ValueError(
                f"count should be either -1 or within the required interval of (0, 2147483647], got {count}."
            )
        super().__init__(source.columns, source)
        self.count = count

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        size = self.inputs[0].get_dataset_size()
        return size if self.count == -1 else min(size, self.count)

    def rows(self, epoch: int) -> Iterator[Row]:
        """The first rows of one epoch."""
        return islice(self.inputs[0].rows(epoch), None if self.count == -1 else self.count)


class SkipDataset(Dataset):
    """Leaves out the first rows."""

    def __init__(self, source: Dataset, count: int) -> None:
        check_non_negative_int(count, "count", "skip")
        super().__init__(source.columns, source)
        self.count = count

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        return max(self.inputs[0].get_dataset_size() - self.count, 0)

    def rows(self, epoch: int) -> Iterator[Row]:
        """The remaining rows of one epoch."""
        return islice(self.inputs[0].rows(epoch), self.count, None)


class ZipDataset(Dataset):
    """Puts the columns of several datasets side by side; ends with the shortest."""

    def __init__(self, datasets: tuple) -> None:
        for d in datasets:
            if not isinstance(d, Dataset):
                raise TypeError(complaint("datasets", "zip", "datasets", type(d).__name__))
        columns = [c for d in datasets for c in d.columns]
        if len(set(columns)) != len(columns):
            raise ValueError(f"For 'zip', column names must differ, but got {columns}: use rename().")
        super().__init__(columns, *datasets)

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        return min(d.get_dataset_size() for d in self.inputs)

    def rows(self, epoch: int) -> Iterator[Row]:
        """The joined rows of one epoch."""
        for parts in zip(*(d.rows(epoch) for d in self.inputs)):
            yield tuple(a for part in parts for a in part)


class ConcatDataset(Dataset):
    """Gives the rows of several datasets one after another."""

    def __init__(self, datasets: list) -> None:
        for d in datasets:
            if not isinstance(d, Dataset):
                raise TypeError(complaint("datasets", "concat", "datasets", type(d).__name__))
            if d.columns != datasets[0].columns:
                raise ValueError(
                    f"For 'concat', the datasets must have the same columns, but got "
                    f"{datasets[0].columns} and {d.columns}."
                )
        super().__init__(datasets[0].columns, *datasets)

        self.sampler: Any = None

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

    def rows(self, epoch: int) -> Iterator[Row]:
        """The rows of one epoch."""
        if isinstance(self.sampler, RandomSampler):
            # Each row's dataset is drawn; its rows come in its own order.
            draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
            turns = draw.permutation(np.repeat(np.arange(len(self.inputs)), [len(d) for d in self.inputs]))
            sources = [d.rows(epoch) for d in self.inputs]
            for turn in turns:
                yield next(sources[turn])
            return
        every = (row for d in self.inputs for row in d.rows(epoch))
        if self.sampler is None:
            yield from every
        else:
            part = self.sampler.sampling
            yield from islice(every, part.shard_id, None, part.num_shards)


class ProjectDataset(Dataset):
    """Keeps some columns."""

    def __init__(self, source: Dataset, columns: list[str]) -> None:
        columns = column_list(columns, "columns")
        for name in columns:
            if name not in source.columns:
                raise ValueError(f"For 'project', 'columns' must be among {source.columns}, but got {name!r}.")
        super().__init__(columns, source)
        self.places = [source.columns.index(c) for c in columns]

    def rows(self, epoch: int) -> Iterator[Row]:
        """The kept columns of one epoch."""
        for row in self.inputs[0].rows(epoch):
            yield tuple(row[i] for i in self.places)


class RenameDataset(Dataset):
    """Gives columns other names."""

    def __init__(self, source: Dataset, input_columns: Any, output_columns: Any) -> None:
        old = column_list(input_columns, "input_columns")
        new = column_list(output_columns, "output_columns")
        if len(old) != len(new):
            raise ValueError(f"For 'rename', as many names must go in as come out, but got {old} and {new}.")
        for name in old:
            if name not in source.columns:
                raise ValueError(f"For 'rename', 'input_columns' must be among {source.columns}, but got {name!r}.")
        names = dict(zip(old, new))
        super().__init__(column_list([names.get(c, c) for c in source.columns], "output_columns"), source)

    def rows(self, epoch: int) -> Iterator[Row]:
        """The same rows."""
        return self.inputs[0].rows(epoch)


class FilterDataset(Dataset):
    """Keeps the rows that a function accepts."""

    runs_python = True

    def __init__(self, source: Dataset, predicate: Callable, input_columns: Any = None) -> None:
        if not callable(predicate):
            raise TypeError(complaint("predicate", "filter", "a function", type(predicate).__name__))
        names = source.columns if input_columns is None else column_list(input_columns, "input_columns")
        for name in names:
            if name not in source.columns:
                raise ValueError(f"For 'filter', 'input_columns' must be among {source.columns}, but got {name!r}.")
        super().__init__(source.columns, source)
        self.predicate = predicate
        self.places = [source.columns.index(n) for n in names]

    def get_dataset_size(self) -> int:
        """Rows in an epoch: the function is run over all of them to count."""
        return sum(1 for _ in self.rows(0))

    def rows(self, epoch: int) -> Iterator[Row]:
        """The accepted rows of one epoch."""
        for row in self.inputs[0].rows(epoch):
            if bool(np.asarray(self.predicate(*(row[i] for i in self.places)))):
                yield row


class _PartDataset(Dataset):
    """Some rows of another dataset, by number."""

    def __init__(self, source: Dataset, numbers: np.ndarray) -> None:
        super().__init__(source.columns, source)
        self.numbers = numbers

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        return len(self.numbers)

    def rows(self, epoch: int) -> Iterator[Row]:
        """The rows of this part; the source is read in its first epoch's order, so parts never overlap."""
        rows = list(self.inputs[0].rows(0))
        for i in self.numbers:
            yield rows[i]


def split_rows(source: Dataset, sizes: list, randomize: bool) -> list[Dataset]:
    """Cut a dataset into parts (see `Dataset.split`)."""
    check_bool(randomize, "randomize", "split")
    if not isinstance(sizes, (list, tuple)) or not sizes:
        raise TypeError(complaint("sizes", "split", "a list of row counts or fractions", sizes))
    total = source.get_dataset_size()
    if all(isinstance(s, int) and not isinstance(s, bool) for s in sizes):
        counts = list(sizes)
        if sum(counts) != total or min(counts) < 1:
            raise ValueError(f"Sum of split sizes {sum(counts)} is not equal to dataset size {total}.")
    elif all(isinstance(s, float) for s in sizes):
        if abs(sum(sizes) - 1.0) > 1e-9 or min(sizes) <= 0:
            raise ValueError(f"For 'split', fractions must be positive and add up to 1, but got {sizes}.")
        counts = [round(total * s) for s in sizes]
        counts[0] += total - sum(counts)
        if min(counts) < 1:
            raise ValueError(f"For 'split', every part must have a row, but {sizes} of {total} rows give {counts}.")
    else:
        raise TypeError(complaint("sizes", "split", "a list of ints or of floats", sizes))
    order = np.arange(total)
    if randomize:
        np.random.RandomState(config.shuffle_seed() % 2**32).shuffle(order)
    ends = np.cumsum(counts)
    return [_PartDataset(source, order[e - c : e]) for c, e in zip(counts, ends)]
