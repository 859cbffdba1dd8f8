"""Iterating over a pipeline, epoch after epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dist_ms.dataset import config
from dist_ms.dataset.columns import given
from dist_ms.dataset.dataset import Dataset
from dist_ms.dataset.prefetch import Prefetcher


class RowIterator:
    """Gives the rows of a dataset; a new iteration is a new epoch.

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
        if isinstance(num_epochs, bool) or not isinstance(num_epochs, int):
            raise TypeError(
                f"For 'create_tuple_iterator', 'num_epochs' must be an int, but got {type(num_epochs).__name__}."
            )
        if num_epochs != -1 and num_epochs < 1:
            raise ValueError(f"For 'create_tuple_iterator', 'num_epochs' must be -1 or positive, but got {num_epochs}.")
        self.dataset, self.num_epochs = dataset, num_epochs
        self.output_numpy, self.do_copy, self.as_dict = output_numpy, do_copy, as_dict
        self._done = 0
        self._rows: Iterator | None = None

    def __iter__(self) -> RowIterator:
        self._begin()
        return self

    def _begin(self) -> None:
        if self.num_epochs != -1 and self._done >= self.num_epochs:
            raise RuntimeError(
                f"The iterator was made for num_epochs={self.num_epochs}, which are over: create another one."
            )
        self._done += 1
        epoch, self.dataset._epoch = self.dataset._epoch, self.dataset._epoch + 1
        rows: Any = self.dataset.rows(epoch)
        if self.dataset._calls_python():
            rows = Prefetcher(rows, config.get_prefetch_size())
        self._rows = iter(rows)

    def __next__(self) -> Any:
        if self._rows is None:
            self._begin()
        row = next(self._rows)
        items = [given(value, self.output_numpy, self.do_copy) for value in row]
        return dict(zip(self.dataset.columns, items)) if self.as_dict else items

    def get_next(self) -> Any:
        """The next row."""
        return next(self)
