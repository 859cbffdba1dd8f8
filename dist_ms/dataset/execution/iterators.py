"""Iterating over a pipeline, epoch after epoch."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter_ns
from typing import Any

from dist_ms.common.checks import check_bool
from dist_ms.common.lanes import lanes
from dist_ms.dataset import config
from dist_ms.dataset.columns import given
from dist_ms.dataset.dataset import Dataset
from dist_ms.dataset.execution.epochs import EpochEnd, keys_of_epochs
from dist_ms.dataset.execution.results import results
from dist_ms.dataset.position import Place


class RowIterator:
    """Gives the rows of a dataset, epoch after epoch; an iteration that was left goes on where it was.

    Args:
        dataset: the last stage.
        num_epochs: how many epochs may be iterated; -1 for any number.
        output_numpy: give NumPy arrays instead of Tensors.
        do_copy: copy every array.
        as_dict: give dicts instead of lists.

    Raises:
        RuntimeError: when more epochs are asked for.
    """

    def __init__(self, dataset: Dataset, num_epochs: int, output_numpy: bool, do_copy: bool, as_dict: bool) -> None:
        owner = "create_dict_iterator" if as_dict else "create_tuple_iterator"
        if isinstance(num_epochs, bool) or not isinstance(num_epochs, int):
            raise TypeError(f"For '{owner}', 'num_epochs' must be an int, but got {type(num_epochs).__name__}.")
        if num_epochs != -1 and num_epochs < 1:
            raise ValueError(f"For '{owner}', 'num_epochs' must be -1 or positive, but got {num_epochs}.")
        check_bool(output_numpy, "output_numpy", owner)
        check_bool(do_copy, "do_copy", owner)
        self.dataset, self.num_epochs = dataset, num_epochs
        self.output_numpy, self.as_dict = output_numpy, as_dict
        self.do_copy = do_copy or config.get_iterator_mode()["do_copy"]
        self._done = 0
        self._rows: Iterator = iter(())
        self._place: Place | None = None
        self._following: Place | None = None  # where the next epoch begins, unless the dataset is told otherwise
        self._rows_follow = False  # those of the next epoch are being made already
        self._running = False  # an epoch has begun, and not all its rows were given
        self._moves = 0

    def __iter__(self) -> RowIterator:
        if not self._running or self._moves != self.dataset.position.moves:
            self._begin()
        return self

    def leave_epoch(self) -> None:
        """Begin the next iteration with another epoch, whatever is left of this one."""
        if self._running:
            self._running = self._rows_follow = False

    def _begin(self) -> None:
        if self.num_epochs != -1 and self._done >= self.num_epochs:
            raise RuntimeError(
                f"The iterator was made for num_epochs={self.num_epochs}, which are over: create another one."
            )
        self._done += 1
        position = self.dataset.position
        goes_on = not self._running and self._rows_follow and position.next is self._following
        self._place = place = position.begin()
        self._following = position.next
        self._running, self._moves = True, position.moves
        if not goes_on:
            waits = any(d.holds_back for d in self.dataset.stages())
            count = 1 if self.num_epochs == -1 or waits else self.num_epochs - self._done + 1
            keys = position.keys(self.dataset)
            self._rows = results(self.dataset, keys_of_epochs(self.dataset, place.epoch, keys, count))

    def __next__(self) -> Any:
        if not self._running:
            if self.num_epochs != -1 and self._done >= self.num_epochs:
                raise StopIteration
            self._begin()
        began = perf_counter_ns() if lanes.on else 0
        try:
            row = next(self._rows, None)
        except BaseException:
            self._running = self._rows_follow = False
            raise
        if row is None or row is EpochEnd:
            if self.dataset.position.now is self._place:
                self.dataset.position.over()
            self._running, self._rows_follow = False, row is EpochEnd
            raise StopIteration
        if began:
            lanes.add("data", "next row", began, perf_counter_ns())
        self._place.given += 1
        items = [given(value, self.output_numpy, self.do_copy) for value in row]
        return dict(zip(self.dataset.columns, items)) if self.as_dict else items

    def get_next(self) -> Any:
        """The next row.

        Raises:
            StopIteration: after the last one of an epoch.
        """
        return next(self)

    def stop(self) -> None:
        """End the iteration and its workers."""
        self._rows, self._place, self._rows_follow = iter(()), Place(), False
        self._running, self._moves = True, -1  # no row more, until another iteration begins

    release = stop
