"""sync_wait: the pipeline stands still until the training says that it may go on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from dist_ms.common.checks import check_callable, check_positive_int, check_string
from dist_ms.dataset import config
from dist_ms.dataset.dataset import Dataset, Key
from dist_ms.dataset.stages.same_rows import SameRows


class SyncWaitDataset(SameRows):
    """Lets the rows of `num_batch` batches pass, then waits for `sync_update`."""

    holds_back = True

    def __init__(
        self, source: Dataset, condition_name: str, num_batch: int = 1, callback: Callable | None = None
    ) -> None:
        self.name = check_string(condition_name, "condition_name", "sync_wait")
        self.batches = check_positive_int(num_batch, "num_batch", "sync_wait")
        if callback is not None:
            check_callable(callback, "callback", "sync_wait")
        if any(isinstance(d, SyncWaitDataset) and d.name == condition_name for d in source.stages()):
            raise RuntimeError(f"For 'sync_wait', 'condition_name' must be new, but {condition_name!r} is used before.")
        super().__init__(source.columns, source)
        self.callback = callback
        self.batch_size = 1  # of the batch stage behind
        self._moved = threading.Condition()
        self._passing = self.batches
        self.waits = True

    def __getstate__(self) -> dict:
        return self.__dict__ | {"_moved": None, "callback": None}  # workers wait for nobody

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys, held back until they may pass."""
        with self._moved:
            self._passing = self.batches
        for i, key in enumerate(self.inputs[0].keys(epoch)):
            self._wait(i // self.batch_size)
            yield key

    def keys_from(self, epoch: int, rows: int) -> None:
        """Rows that wait are counted from the epoch's beginning."""

    def source_rows(self) -> None:
        """As `keys_from`."""

    def _wait(self, batch: int) -> None:
        seconds = config.get_callback_timeout()
        with self._moved:
            if not self._moved.wait_for(lambda: self._passing > batch or not self.waits, seconds):
                raise RuntimeError(
                    f"For 'sync_wait', sync_update({self.name!r}) must come within {seconds} s, but it did not: call "
                    "it after each step, or allow more with dataset.config.set_callback_timeout."
                )

    def release(self, num_batch: int | None, data: Any) -> None:
        """Let more batches pass, after the callback was called."""
        if self.callback is not None:
            self.callback(data)
        with self._moved:
            self._passing += self.batches if num_batch is None else num_batch
            self._moved.notify_all()

    def disable(self) -> None:
        """Let all batches pass from now on."""
        with self._moved:
            self.waits = False
            self._moved.notify_all()


def waiting_stage(dataset: Dataset, condition_name: str) -> SyncWaitDataset:
    """The stage of a pipeline that waits for a condition.

    Raises:
        RuntimeError: if there is none of that name.
    """
    names = []
    for stage in dataset.stages():
        if isinstance(stage, SyncWaitDataset):
            if stage.name == condition_name:
                return stage
            names.append(stage.name)
    raise RuntimeError(f"For 'sync_update', 'condition_name' must be one of {names}, but got {condition_name!r}.")
