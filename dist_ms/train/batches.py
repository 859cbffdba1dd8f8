"""Batches: what Model iterates over, from a dataset or any iterable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import nullcontext
from itertools import chain, islice, repeat
from typing import Any

import numpy as np

from dist_ms.common.once import warn_once
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.dataset.dataset import Dataset
from dist_ms.dataset.execution.iterators import RowIterator
from dist_ms.train.callback.ranks import Ranks
from dist_ms.train.state.model_run import goes_on


class Batches:
    """The batches of a dataset as lists of Tensors, from the start at every iteration.

    Args:
        dataset: a dataset of `dist_ms.dataset`, or an iterable of tuples, lists, dicts or single
            arrays; one that can be iterated only once serves one epoch.
        owner: the function's name in errors.
        may_be_empty: whether a dataset without a batch is allowed.
        whole: read shards of a dataset without the rows that are repeated to make them of one length.

    Attributes:
        size: the number of batches, None when the source does not tell.

    Raises:
        TypeError: if it is no iterable of batches.
        ValueError: if it is known to be empty and must not be.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.train.batches import Batches
        >>> batches = Batches([(np.ones(2), np.zeros(2))] * 3, "Model.train")
        >>> batches.size, [len(batch) for batch in batches]
        (3, [2, 2, 2])
    """

    def __init__(self, dataset: Any, owner: str, may_be_empty: bool = False, whole: bool = False) -> None:
        self.owner = owner
        self.dataset = dataset
        self._reading = dataset.without_padding if whole and isinstance(dataset, Dataset) else nullcontext
        self._may_be_empty = may_be_empty
        self._epochs = -1
        self._rows: Any = None
        self._resumed, self._skip = False, 0
        if hasattr(dataset, "create_tuple_iterator"):
            with self._reading():
                self.size = dataset.get_dataset_size()
        elif isinstance(dataset, Iterable) and not isinstance(dataset, (Tensor, np.ndarray, str, dict)):
            self.size = len(dataset) if isinstance(dataset, Sized) else None
        else:
            raise TypeError(
                f"For '{owner}', the dataset must be a dist_ms.dataset or an iterable of batches, but got "
                f"{type(dataset).__name__}."
            )
        if self.size == 0 and not may_be_empty:
            raise ValueError(f"For '{owner}', the dataset must not be empty: there is no valid data in it.")

    def begin_at(self, epoch: int, epochs: int) -> None:
        """Make the next iteration that of an epoch, with its own shuffle; one in its middle goes on there.

        Args:
            epoch: its number.
            epochs: how many follow: the first batches of each are made while the one before ends.
        """
        self._epochs = epochs
        if epoch and isinstance(self.dataset, Dataset) and self.dataset.position.next.epoch != epoch:
            self.dataset.set_epoch(epoch)

    def resume_at(self, epoch: int, epochs: int, done: int) -> None:
        """Make the next iteration the rest of an epoch; what has a state has been given it already.

        Args:
            epoch: its number.
            epochs: how many are left, with this one.
            done: how many of its batches were used up.
        """
        self._resumed = True
        if goes_on(self.dataset):
            self._epochs = epochs
        else:
            self.begin_at(epoch, epochs)
            self._skip = done

    def __iter__(self) -> Iterator[list]:
        resumed, self._resumed = self._resumed, False
        skip, self._skip = self._skip, 0
        if hasattr(self.dataset, "create_tuple_iterator"):
            if self._rows is None:
                self._rows = self.dataset.create_tuple_iterator(num_epochs=self._epochs)
            source: Any = self._rows
            if isinstance(source, RowIterator):
                source.leave_epoch()  # another rank had fewer batches of it
        else:
            source = iter(self.dataset)
        count = 0
        with self._reading():
            for item in islice(source, skip, None):
                count += 1
                yield _tensors(item)
        if count == 0 and not self._may_be_empty and not resumed:
            raise ValueError(
                f"For '{self.owner}', the dataset gave no batch: it is empty, or an iterator that was used up in an "
                "earlier epoch (give a list or a dataset instead)."
            )

    def on_all(self, ranks: Ranks, uneven: bool = False) -> Iterator[list | None]:
        """Iterate over as many batches as every rank has.

        Args:
            ranks: the ranks; each iterates at the same time.
            uneven: ranks may have different numbers of batches: all iterate as often as the one that has
                most, and get None when they have none left.

        Raises:
            ValueError: on every rank, if their numbers of batches differ, unless `uneven`.
        """
        if ranks.size == 1:
            return iter(self)
        seeds = self.dataset.shard_seeds() if isinstance(self.dataset, Dataset) else []
        sizes, seeds_by_rank = zip(*ranks.gather((self.size, seeds)), strict=True)
        if ranks.rank == 0 and any(found != seeds for found in seeds_by_rank):
            _tell_seeds(self.owner, seeds_by_rank)
        if None in sizes or self._resumed:
            return self._counting(ranks, uneven)
        if len(set(sizes)) > 1 and not uneven:
            self._refuse(dict(enumerate(sizes)), ranks)
        return chain(self, repeat(None, max(sizes) - self.size))

    def _counting(self, ranks: Ranks, uneven: bool) -> Iterator[list | None]:
        """Ask before each batch whether every rank has one: the sources do not tell."""
        source, count = iter(self), 0
        while True:
            batch = next(source, None)
            having = ranks.gather(batch is not None)
            if not all(having):
                if not any(having):
                    return
                if not uneven:
                    self._refuse({r: f"{'more than ' * has}{count}" for r, has in enumerate(having)}, ranks)
            count += 1
            yield batch

    def _refuse(self, sizes: dict[int, Any], ranks: Ranks) -> None:
        found = ", ".join(f"rank {rank}: {size}" for rank, size in sizes.items())
        raise ValueError(
            f"[rank {ranks.rank} of {ranks.size}] For '{self.owner}', the number of batches in an epoch must be the "
            f"same on all ranks, but got {found}. Give every rank an equal shard of the data, or train with "
            'uneven="exact".'
        )


def _tell_seeds(owner: str, by_rank: Sequence[list[int]]) -> None:
    """Say once that the ranks' shards are not of one order."""
    warn_once(
        f"seeds {owner}",
        "For '%s', the shards of a shuffled dataset must be shuffled from the same seed on all ranks, but got %s: "
        "rows are read twice or not at all. Give dataset.config.set_seed the same number on every rank.",
        owner,
        ", ".join(f"rank {rank}: {', '.join(map(str, seeds)) or 'none'}" for rank, seeds in enumerate(by_rank)),
    )


def _tensors(item: Any) -> list[Tensor]:
    """Return what one item of a source holds."""
    if isinstance(item, dict):
        item = item.values()
    elif not isinstance(item, (tuple, list)):
        item = (item,)
    return [x if isinstance(x, Tensor) else wrap(x) if isinstance(x, np.ndarray) else Tensor(x) for x in item]
