"""flat_map: a dataset for each row, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dist_ms.common.checks import check_callable, complaint
from dist_ms.dataset.dataset import Dataset, Key, Row


class FlatMapDataset(Dataset):
    """Gives the rows of the datasets that a function makes of each row."""

    runs_python = True

    def __init__(self, source: Dataset, func: Callable) -> None:
        check_callable(func, "func", "flat_map")
        first = _made(func, source._first())
        super().__init__(first.columns, source)
        self.func = func

    def get_dataset_size(self) -> int:
        """Rows in an epoch: all datasets are made to count them."""
        return sum(_made(self.func, row).get_dataset_size() for row in self.inputs[0].rows(0))

    def num_classes(self) -> None:
        """None: the rows are others."""

    def get_class_indexing(self) -> dict:
        """Empty: the rows are others."""
        return {}

    def get_repeat_count(self) -> int:
        """As of the datasets that are made."""
        return 1

    def get_batch_size(self) -> int:
        """As of the datasets that are made."""
        return 1

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of one epoch, each with its dataset."""
        for row in self.inputs[0].rows(epoch):
            made = _made(self.func, row)
            for key in made.keys(epoch):
                yield key[0], key[1], (made, key)

    def load(self, key: Key) -> Row:
        """The row, from its dataset."""
        made, inner = key[2]
        return made.load(inner)


def _made(func: Callable, row: Row) -> Dataset:
    made = func(*row)
    if not isinstance(made, Dataset):
        raise TypeError(complaint("func", "flat_map", "a function that returns a dataset", type(made).__name__))
    return made
