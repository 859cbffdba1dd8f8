"""Samplers: which rows of a source are read, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any

import numpy as np

from dist_ms.common.checks import (
    check_bool,
    check_int_range,
    check_non_negative_int,
    check_positive_int,
    check_string,
    complaint,
)
from dist_ms.dataset import config
from dist_ms.dataset.orders import places_with_replacement, reshuffled
from dist_ms.dataset.sharding import Sampling
from dist_ms.dataset.shuffles import Shuffle

__all__ = [
    "BuiltinSampler",
    "DistributedSampler",
    "IterSampler",
    "PKSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
    "as_sampler",
    "sampler_of",
]

_STRETCH, _MANY = 10**6, 10**8  # rows that are shuffled among themselves; more than which are shuffled so


def _count(value: Any, owner: str) -> int | None:
    """Check a number of rows; 0 stands for all, as in MindSpore."""
    if value is None:
        return None
    return check_non_negative_int(value, "num_samples", owner) or None


def as_sampler(value: Any) -> BuiltinSampler:
    """A sampler from one, or from an iterable of row numbers.

    Raises:
        TypeError: if it is neither.
    """
    if isinstance(value, BuiltinSampler):
        return value
    if not hasattr(value, "__iter__") and not hasattr(value, "__getitem__"):
        raise TypeError(complaint("new_sampler", "use_sampler", "a sampler", type(value).__name__))
    return SubsetSampler(value) if isinstance(value, (list, tuple, range, np.ndarray)) else IterSampler(value)


class BuiltinSampler:
    """Base of the samplers here: which rows of a source, or of another sampler's choice, are read.

    Attributes:
        child: a sampler whose choice this one chooses from; None for all rows.
        count: how many rows it chooses at most; None for all.
        is_shuffled: whether each epoch has an order of its own.
    """

    is_shuffled = False
    count: int | None = None

    def __init__(self) -> None:
        self.child: Any = None

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        raise NotImplementedError(f"For '{type(self).__name__}', order(rows, epoch) is not defined.")

    def places(self, source: Any, rows: int, epoch: int, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Where the chosen rows stand in the order of all ranks, and their numbers.

        Args:
            source: the dataset that is read.
            rows: how many it has.
            epoch: the number of the epoch.
            start: how many of the order were read already.
        """
        if self.child is None:
            order = self._order_of(source, rows, epoch)
        else:
            _, below = self.child.places(source, rows, epoch)
            order = below[self._order_of(source, len(below), epoch)]
        return np.arange(start, len(order)), order[start:]

    def _order_of(self, source: Any, rows: int, epoch: int) -> np.ndarray:
        return np.asarray(self.order(rows, epoch), np.int64)

    def add_child(self, sampler: Any) -> None:
        """Choose among the rows that another sampler chooses.

        Args:
            sampler: a sampler of this module.

        Raises:
            RuntimeError: if there is one already.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> sampler = ds.SequentialSampler(start_index=1)
            >>> sampler.add_child(ds.SubsetSampler([4, 2, 0]))
            >>> data = ds.NumpySlicesDataset([10, 11, 12, 13, 14], sampler=sampler)
            >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [12, 10]
        """
        if self.child is not None:
            raise RuntimeError(f"For '{type(self).__name__}', one sampler can be added, but there is one already.")
        if not isinstance(sampler, BuiltinSampler):
            wanted = "a sampler of dist_ms.dataset"
            raise TypeError(complaint("sampler", "add_child", wanted, type(sampler).__name__))
        self.child = sampler

    def get_child(self) -> Any:
        """The sampler whose choice this one chooses from."""
        return self.child

    def get_num_samples(self) -> int | None:
        """How many rows it chooses at most; None for all."""
        return self.count


class SequentialSampler(BuiltinSampler):
    """Rows in order.

    Args:
        start_index: the first row.
        num_samples: how many at most.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([5, 6, 7], sampler=ds.SequentialSampler(1))
        >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
        [6, 7]
    """

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        super().__init__()
        self.start = (
            0 if start_index is None else check_non_negative_int(start_index, "start_index", "SequentialSampler")
        )
        self.count = _count(num_samples, "SequentialSampler")

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch.

        Raises:
            RuntimeError: if the first one is no row.
        """
        if self.start and self.start >= rows:
            raise RuntimeError(complaint("start_index", "SequentialSampler", f"less than the {rows} rows", self.start))
        stop = rows if self.count is None else min(rows, self.start + self.count)
        return np.arange(self.start, stop)


class RandomSampler(BuiltinSampler):
    """Rows at random, with or without replacement.

    Args:
        replacement: whether a row may come twice.
        num_samples: how many rows an epoch has; as many as there are by default.
        shuffle: Shuffle.GLOBAL: among all rows. PARTIAL: within stretches of a million rows; ADAPTIVE: so above a
            hundred million rows only.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([5, 6, 7], sampler=ds.RandomSampler(num_samples=2))
        >>> len([int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)])
        2
    """

    is_shuffled = True

    def __init__(
        self, replacement: bool = False, num_samples: int | None = None, shuffle: Shuffle = Shuffle.GLOBAL
    ) -> None:
        super().__init__()
        self.replacement = check_bool(replacement, "replacement", "RandomSampler")
        self.count = _count(num_samples, "RandomSampler")
        if shuffle not in (Shuffle.GLOBAL, Shuffle.PARTIAL, Shuffle.ADAPTIVE):
            wanted = "Shuffle.GLOBAL, PARTIAL or ADAPTIVE"
            raise TypeError(complaint("shuffle", "RandomSampler", wanted, shuffle))
        self.shuffle = shuffle

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        seed = config.shuffle_seed()
        count = rows if self.count is None else self.count
        if self.replacement:
            return places_with_replacement(seed + epoch, rows, count)
        if self.shuffle is Shuffle.PARTIAL or (self.shuffle is Shuffle.ADAPTIVE and rows > _MANY):
            draw = np.random.RandomState([seed % 2**32, epoch])
            parts = [start + draw.permutation(min(_STRETCH, rows - start)) for start in range(0, rows, _STRETCH)]
            return np.concatenate(parts)[:count]
        return reshuffled(seed, epoch, rows)[:count]


class PKSampler(BuiltinSampler):
    """The same number of rows of each class, drawn anew every epoch; a row may come twice.

    Args:
        num_val: rows of each class.
        num_class: must be None: all classes are read.
        shuffle: take the classes in random order.
        class_column: the column of labels.
        num_samples: how many rows at most.

    Raises:
        NotImplementedError: if `num_class` is given.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> rows = {"x": [0, 1, 2, 3], "label": [7, 7, 9, 7]}
        >>> data = ds.NumpySlicesDataset(rows, sampler=ds.PKSampler(1))
        >>> [int(label) for x, label in data.create_tuple_iterator(output_numpy=True)]
        [7, 9]
    """

    is_shuffled = True

    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        super().__init__()
        self.each = check_positive_int(num_val, "num_val", "PKSampler")
        if num_class is not None:
            raise NotImplementedError("For 'PKSampler', 'num_class' must be None: all classes are read.")
        self.mixes_classes = check_bool(shuffle, "shuffle", "PKSampler")
        self.column = check_string(class_column, "class_column", "PKSampler")
        self.count = _count(num_samples, "PKSampler")

    def _order_of(self, source: Any, rows: int, epoch: int) -> np.ndarray:
        labels = source.labels(self.column)
        draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
        classes = np.unique(labels)
        chosen = []
        for label in draw.permutation(classes) if self.mixes_classes else classes:
            (numbers,) = np.nonzero(labels == label)
            chosen.append(draw.choice(numbers, self.each))
        return np.concatenate(chosen)[: self.count]


class Sampler(BuiltinSampler):
    """Base class of samplers of your own: define `__iter__`, which gives the row numbers of an epoch.

    Args:
        num_samples: how many rows are read at most.

    Attributes:
        dataset_size: the rows of the source, known when an epoch begins.
        num_samples: how many rows are read at most.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> class Backwards(ds.Sampler):
        ...     def __iter__(self):
        ...         yield from range(self.dataset_size - 1, -1, -1)
        >>> data = ds.NumpySlicesDataset([5, 6, 7], sampler=Backwards())
        >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
        [7, 6, 5]
    """

    def __init__(self, num_samples: int | None = None) -> None:
        super().__init__()
        self.num_samples = self.count = _count(num_samples, type(self).__name__)
        self.dataset_size = 0
        self.child_sampler = None

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError(f"For '{type(self).__name__}', '__iter__' is not defined.")

    def reset(self) -> None:
        """Called before each epoch; define it where an epoch needs it."""

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch; negative ones count from the end.

        Raises:
            RuntimeError: if something is no row number.
        """
        self.dataset_size = rows
        self.reset()
        numbers = list(islice(iter(self), self.count))
        for number in numbers:
            if not isinstance(number, (int, np.integer)) or not -rows <= number < rows:
                raise RuntimeError(complaint("sampler", type(self).__name__, f"ints below {rows}", repr(number)))
        return np.array(numbers, np.int64)


class IterSampler(Sampler):
    """An iterable of row numbers as a sampler.

    Args:
        sampler: the iterable.
        num_samples: how many rows are read at most.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([5, 6, 7], sampler=ds.IterSampler([2, 0]))
        >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
        [7, 5]
    """

    def __init__(self, sampler: Iterable[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        if not hasattr(sampler, "__iter__"):
            raise TypeError(complaint("sampler", "IterSampler", "an iterable of row numbers", type(sampler).__name__))
        self.numbers = sampler

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers)


class SubsetSampler(BuiltinSampler):
    """Rows with the given numbers, in their order.

    Args:
        indices: the numbers.
        num_samples: how many at most.

    Raises:
        TypeError: if something is no int.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([5, 6, 7], sampler=ds.SubsetSampler([2, 0]))
        >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
        [7, 5]
    """

    def __init__(self, indices: Iterable[int], num_samples: int | None = None) -> None:
        super().__init__()
        owner = type(self).__name__
        if isinstance(indices, str) or not hasattr(indices, "__iter__"):
            raise TypeError(complaint("indices", owner, "a list of row numbers", repr(indices)))
        numbers = list(indices)
        for number in numbers:
            if not isinstance(number, (int, np.integer)):
                raise TypeError(complaint("indices", owner, "a list of row numbers", f"{number!r} in it"))
        self.indices = np.array(numbers, np.int64)
        self.count = _count(num_samples, owner)

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch.

        Raises:
            RuntimeError: if one is no row.
        """
        if len(self.indices) and (self.indices.min() < 0 or self.indices.max() >= rows):
            raise RuntimeError(
                f"For 'SubsetSampler', 'indices' must be in [0, {rows - 1}], but got "
                f"{self.indices.min()} to {self.indices.max()}."
            )
        return self.indices[: self.count]


class WeightedRandomSampler(BuiltinSampler):
    """Rows at random, each as likely as its weight says.

    Args:
        weights: one for each row, not negative and not all 0.
        num_samples: how many rows an epoch has; None for as many as weights.
        replacement: whether a row may come twice.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a weight is negative, or too few are positive.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([0, 1, 2], sampler=ds.WeightedRandomSampler([0.0, 1.0, 0.0], 2))
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [1, 1]
    """

    def __init__(self, weights: Iterable[float], num_samples: int | None = None, replacement: bool = True) -> None:
        super().__init__()
        weights = list(weights) if not isinstance(weights, str) else [weights]
        for weight in weights:
            if isinstance(weight, (bool, str)) or not np.isscalar(weight):
                raise TypeError(complaint("weights", "WeightedRandomSampler", "a list of numbers", repr(weight)))
        if num_samples is not None:
            num_samples = _count(num_samples, "WeightedRandomSampler")
        self.replacement = check_bool(replacement, "replacement", "WeightedRandomSampler")
        self.weights = np.array(weights, np.float64)
        self.count = len(weights) if num_samples is None else num_samples
        enough = 1 if replacement else self.count
        if not (self.weights >= 0).all() or (self.weights > 0).sum() < enough:
            wanted = f"not negative, and {enough} of them positive"
            raise ValueError(complaint("weights", "WeightedRandomSampler", wanted, weights))

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch.

        Raises:
            RuntimeError: if there are more weights than rows.
        """
        if len(self.weights) > rows:
            raise RuntimeError(
                f"For 'WeightedRandomSampler', there must be at most {rows} weights, one for each row, but got "
                f"{len(self.weights)}."
            )
        draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
        shares = self.weights / self.weights.sum()
        return draw.choice(len(shares), self.count, self.replacement, shares)


class SubsetRandomSampler(SubsetSampler):
    """Rows with the given numbers, in random order."""

    is_shuffled = True

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        chosen = super().order(rows, epoch)
        return chosen[reshuffled(config.shuffle_seed(), epoch, len(chosen), step=0)]


class DistributedSampler(BuiltinSampler):
    """One rank's part of the rows.

    Args:
        num_shards, shard_id: read rows shard_id, shard_id + num_shards, ... of the order.
        shuffle: draw a new order every epoch, the same on all ranks.
        num_samples: read at most so many.
        offset: -1: the last shards start again at the first rows so that all have the same length. From 0 to
            `num_shards`: every row is read once, by the rank `offset` places further on, and the last
            shards may be one row shorter; unlike MindSpore's, a shard may then be empty. `Model.eval` of several
            ranks and `Model.train` with `uneven="exact"` read so anyway.

    Raises:
        TypeError: if a number is no int.
        ValueError: if one is out of range.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> for shard in range(2):
        ...     data = ds.NumpySlicesDataset([0, 1, 2], sampler=ds.DistributedSampler(2, shard, False, offset=0))
        ...     print([int(x[0]) for x in data.create_tuple_iterator(num_epochs=1, output_numpy=True)])
        [0, 2]
        [1]
    """

    def __init__(
        self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: Any = None, offset: int = -1
    ) -> None:
        super().__init__()
        self.sampling = Sampling(shuffle, num_shards, shard_id, num_samples)
        self.is_shuffled, self.count = shuffle, num_samples
        self._offset = check_int_range(offset, "offset", "DistributedSampler", -1, num_shards)

    @property
    def is_shuffled_shard(self) -> bool:
        """Whether the rows are one of several shards of a shuffled order."""
        return self.sampling.is_shuffled_shard

    def without_padding(self) -> AbstractContextManager[None]:
        """Meanwhile read every row once, whatever the `offset`."""
        return self.sampling.without_padding()

    def places(self, source: Any, rows: int, epoch: int, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows of this rank stand in the order of all, and their numbers."""
        below = None if self.child is None else self.child.places(source, rows, epoch)[1]
        places, order = self.sampling.places(source, rows if below is None else len(below), epoch, start, self._offset)
        return places, order if below is None else below[order]


def sampler_of(sampling: Sampling) -> BuiltinSampler:
    """The sampler that chooses a source's rows so; of a shard of the job only where that was named."""
    if sampling.sampler is not None:
        return sampling.sampler
    if sampling.num_shards is not None:
        shuffle = sampling.shuffle is not False
        return DistributedSampler(sampling.num_shards, sampling.shard_id, shuffle, sampling.num_samples)
    if sampling.shuffle is False:
        return SequentialSampler(num_samples=sampling.num_samples)
    return RandomSampler(num_samples=sampling.num_samples)
