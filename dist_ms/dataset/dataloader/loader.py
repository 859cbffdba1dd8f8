"""DataLoader: reads items in this process or in worker processes, and gives batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_callable, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.dataset import config
from dist_ms.dataset.dataloader.collating import default_collate, default_convert
from dist_ms.dataset.dataloader.samplers import BatchSampler, RandomSampler, SequentialSampler
from dist_ms.dataset.dataloader.sources import IterableDataset
from dist_ms.dataset.execution.processes import Pool
from dist_ms.dataset.execution.threads import in_threads

_worker: list = []


@dataclass
class WorkerInfo:
    """What a worker process is.

    Attributes:
        id: its number, from 0.
        num_workers: how many there are.
        seed: of the dataset.
        dataset: what is read.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """Return what worker process this is; None in the process that trains.

    Examples:
        >>> from dist_ms.dataset.dataloader import get_worker_info
        >>> print(get_worker_info())
        None
    """
    return _worker[0] if _worker else None


class _Reading:
    """What worker processes do: make the items of some numbers a batch, as arrays beside a skeleton."""

    def __init__(self, loader: DataLoader) -> None:
        self.dataset, self.collate = loader.dataset, loader.collate_fn
        self.one, self.begin, self.workers = loader.batch_sampler is None, loader.worker_init_fn, loader.num_workers

    def begin_worker(self, number: int) -> None:
        """Called once in each process."""
        _worker[:] = [WorkerInfo(number, self.workers, config.get_seed(), self.dataset)]
        if self.begin is not None:
            self.begin(number)

    def load(self, key: tuple) -> tuple:
        """A batch, taken apart."""
        numbers = key[2]
        batch = self.collate(self.dataset[numbers] if self.one else [self.dataset[n] for n in numbers])
        arrays: list[np.ndarray] = []
        return _apart(batch, arrays), *arrays


@dataclass
class _Place:
    """Where an array of a batch was."""

    number: int
    is_tensor: bool


def _apart(value: Any, arrays: list[np.ndarray]) -> Any:
    """A batch with places instead of arrays, which are added to a list."""
    if isinstance(value, (Tensor, np.ndarray)):
        array = value.asnumpy() if isinstance(value, Tensor) else value
        if array.dtype.kind in "SUO":
            return value
        arrays.append(array)
        return _Place(len(arrays), isinstance(value, Tensor))
    if isinstance(value, dict):
        return {key: _apart(v, arrays) for key, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_apart(v, arrays) for v in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_apart(v, arrays) for v in value)
    return value


def _together(value: Any, row: tuple) -> Any:
    """The batch of a skeleton and its arrays."""
    if isinstance(value, _Place):
        return wrap(row[value.number]) if value.is_tensor else row[value.number]
    if isinstance(value, dict):
        return {key: _together(v, row) for key, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_together(v, row) for v in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_together(v, row) for v in value)
    return value


class DataLoader:
    """Batches of items, read in this process or in worker processes.

    Args:
        dataset: an object with `__getitem__` (and `__len__`), or an IterableDataset.
        batch_size: items per batch; None: items one by one.
        shuffle: read items in random order.
        sampler: gives the numbers of items, instead of `shuffle`.
        batch_sampler: gives lists of numbers, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: processes that read items; 0: this process. The items of an IterableDataset are read in one
            thread of this process then, so that each comes once.
        collate_fn: makes a batch of a list of items; `default_collate` by default, `default_convert` of single ones.
        pin_memory: accepted: there is no device to copy to.
        drop_last: leave out a last, smaller batch.
        timeout: seconds within which workers must give a batch; 0: `dataset.config`'s watchdog.
        worker_init_fn: called in each worker with its number.
        multiprocessing_context: accepted: workers are started anew, as a process with MPI must not be forked.
        generator: a `numpy.random.Generator` for the random order.
        prefetch_factor: batches that each worker makes ahead; 2 by default.
        persistent_workers: keep the workers for the next epoch.
        in_order: accepted: batches always come in order.

    Raises:
        ValueError: if arguments exclude each other or are out of range.
        NotImplementedError: if the dataset has no `__getitem__`.

    Examples:
        >>> from dist_ms.dataset.dataloader import DataLoader
        >>> [batch.asnumpy().tolist() for batch in DataLoader([5, 6, 7], batch_size=2, drop_last=True)]
        [[5, 6]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable | None = None,
        batch_sampler: Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0.0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: np.random.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        in_order: bool = True,
    ) -> None:
        self.is_iterable = isinstance(dataset, IterableDataset)
        if not self.is_iterable and not hasattr(dataset, "__getitem__"):
            raise NotImplementedError(
                "For 'DataLoader', 'dataset' must have __getitem__ or be an IterableDataset, but got "
                f"{type(dataset).__name__}."
            )
        check_bool(drop_last, "drop_last", "DataLoader")
        for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if self.is_iterable and value:
                raise ValueError(complaint(name, "DataLoader", "left out with an IterableDataset", value))
        if sampler is not None and shuffle:
            raise ValueError(complaint("shuffle", "DataLoader", "left out with 'sampler'", shuffle))
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            wanted = "left out with 'batch_size', 'shuffle', 'sampler' or 'drop_last'"
            raise ValueError(complaint("batch_sampler", "DataLoader", wanted, "both"))
        if batch_size is None and drop_last:
            raise ValueError(complaint("drop_last", "DataLoader", "False without batches", True))
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.num_workers, self.timeout, self.worker_init_fn = num_workers, timeout, worker_init_fn
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self.persistent_workers, self.generator = persistent_workers, generator
        self.sampler, self.batch_sampler = sampler, batch_sampler
        if not self.is_iterable and batch_sampler is None:
            if sampler is None:
                self.sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
            if batch_size is not None:
                self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        elif self.is_iterable and batch_size is not None and (isinstance(batch_size, bool) or batch_size < 1):
            raise ValueError(complaint("batch_size", "DataLoader", "positive", batch_size))
        one_by_one = self.batch_sampler is None and (not self.is_iterable or batch_size is None)
        self.collate_fn = collate_fn or (default_convert if one_by_one else default_collate)
        check_callable(self.collate_fn, "collate_fn", "DataLoader")
        self._pool: Any = None

    def __len__(self) -> int:
        """How many batches an epoch has."""
        if self.is_iterable:
            rows = len(self.dataset)
            if self.batch_size is None:
                return rows
            return rows // self.batch_size if self.drop_last else -(-rows // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        if self.is_iterable:
            batches = self._of_iterable()
            if not self.num_workers:
                return batches
            ahead = in_threads(batches, lambda batch: batch, 1, self.prefetch_factor * self.num_workers)
            next(ahead)
            return ahead
        numbers = self.sampler if self.batch_sampler is None else self.batch_sampler
        assert numbers is not None
        if self.num_workers:
            return self._in_processes(numbers)
        if self.batch_sampler is None:
            return (self.collate_fn(self.dataset[n]) for n in numbers)
        return (self.collate_fn([self.dataset[n] for n in batch]) for batch in numbers)

    def _of_iterable(self) -> Iterator[Any]:
        items = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, items)
            return
        while batch := list(islice(items, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def _in_processes(self, numbers: Iterable) -> Iterator[Any]:
        reading = _Reading(self)
        pool, self._pool = self._pool or Pool(reading, self.num_workers), None
        limit = self.timeout or None
        keys = ((0, place, chosen) for place, chosen in enumerate(numbers))
        whole = False
        try:
            rows = pool.rows(reading, keys, self.prefetch_factor * self.num_workers, limit)
            next(rows)
            for row in rows:
                yield _together(row[0], row)
            whole = True
        finally:
            if whole and self.persistent_workers:
                self._pool = pool
            else:
                pool.close()


def _check_workers(number: Any, timeout: Any, ahead: Any, persistent: Any) -> None:
    """Check what concerns worker processes."""
    owner = "DataLoader"
    for name, value in (("num_workers", number), ("timeout", timeout)):
        if isinstance(value, bool) or not isinstance(value, (int, float) if name == "timeout" else int):
            raise TypeError(complaint(name, owner, "a number", type(value).__name__))
        if value < 0:
            raise ValueError(complaint(name, owner, "0 or more", value))
    check_bool(persistent, "persistent_workers", owner)
    if not number and (ahead is not None or persistent):
        name = "persistent_workers" if persistent else "prefetch_factor"
        raise ValueError(complaint(name, owner, "left out without 'num_workers'", ahead or persistent))
    if ahead is not None and (isinstance(ahead, bool) or not isinstance(ahead, int) or ahead < 1):
        raise ValueError(complaint("prefetch_factor", owner, "a positive int", ahead))
