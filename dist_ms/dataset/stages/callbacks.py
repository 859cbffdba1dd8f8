"""Callbacks of `map`: functions of the user that are called as rows are taken up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dist_ms.common.checks import check_positive_int
from dist_ms.dataset import config
from dist_ms.dataset.dataset import Key

__all__ = ["DSCallback", "WaitedDSCallback"]


@dataclass
class StepInfo:
    """Where a pipeline stands.

    Attributes:
        cur_epoch_num: the epoch, from 1.
        cur_step_num_in_epoch: the row in it, from 1.
        cur_step_num: the row over all epochs, from 1.
    """

    cur_epoch_num: int
    cur_step_num_in_epoch: int
    cur_step_num: int


class DSCallback:
    """Base class of callbacks of `map`: define the methods you need; each gets where the pipeline stands.

    Args:
        step_size: rows from one call of `ds_step_begin` and `ds_step_end` to the next.

    Raises:
        ValueError: if `step_size` is not positive.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> class Tell(ds.DSCallback):
        ...     def ds_epoch_begin(self, ds_run_context):
        ...         print("epoch", ds_run_context.cur_epoch_num)
        >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False).map(lambda x: x * 2, callbacks=Tell())
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        epoch 1
        [2, 4]
    """

    def __init__(self, step_size: int = 1) -> None:
        self.step_size = check_positive_int(step_size, "step_size", type(self).__name__)

    def ds_begin(self, ds_run_context: StepInfo) -> None:
        """Called before the first epoch."""

    def ds_epoch_begin(self, ds_run_context: StepInfo) -> None:
        """Called before each epoch."""

    def ds_epoch_end(self, ds_run_context: StepInfo) -> None:
        """Called after each epoch."""

    def ds_step_begin(self, ds_run_context: StepInfo) -> None:
        """Called before every `step_size`-th row is made."""

    def ds_step_end(self, ds_run_context: StepInfo) -> None:
        """Called after every `step_size`-th row was handed to a worker."""


class WaitedDSCallback(DSCallback):
    """A callback of `map` and of a Model at once: the pipeline waits for the training.

    Give one object to `map(callbacks=...)` and to `Model.train(callbacks=...)`, and define `sync_step_begin` or
    `sync_epoch_begin`: it runs before the rows of a step, or an epoch, are made, after the training has finished
    the step, or epoch, before.

    Args:
        step_size: rows per training step, the batch size.

    Raises:
        RuntimeError: from the pipeline, if the training does not come within `config.get_callback_timeout()` seconds.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> ds.WaitedDSCallback(32).step_size
        32
    """

    def __init__(self, step_size: int = 1) -> None:
        super().__init__(step_size)
        self._moved = threading.Condition()
        self._steps = self._epochs = 0
        self._training = None

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: StepInfo) -> None:
        """Called before an epoch's rows are made, when the training has finished the epoch before."""

    def sync_step_begin(self, train_run_context: Any, ds_run_context: StepInfo) -> None:
        """Called before a step's rows are made, when the training has finished the step before."""

    # ---- what the training tells
    def on_train_step_end(self, run_context: Any) -> None:
        """A step of the training is over."""
        with self._moved:
            self._steps, self._training = self._steps + 1, run_context
            self._moved.notify_all()

    def on_train_epoch_end(self, run_context: Any) -> None:
        """An epoch of the training is over."""
        with self._moved:
            self._epochs, self._training = self._epochs + 1, run_context
            self._moved.notify_all()

    def step_end(self, run_context: Any) -> None:
        """As `on_train_step_end`."""
        self.on_train_step_end(run_context)

    def epoch_end(self, run_context: Any) -> None:
        """As `on_train_epoch_end`."""
        self.on_train_epoch_end(run_context)

    # ---- what the pipeline asks
    def _overridden(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(WaitedDSCallback, name)

    def ds_epoch_begin(self, ds_run_context: StepInfo) -> None:
        """Wait for the training's epoch before, then call `sync_epoch_begin`."""
        if self._overridden("sync_epoch_begin") and ds_run_context.cur_epoch_num > 1:
            self._wait("_epochs", ds_run_context.cur_epoch_num - 1, "epoch")
            self.sync_epoch_begin(self._training, ds_run_context)

    def ds_step_begin(self, ds_run_context: StepInfo) -> None:
        """Wait for the training's step before, then call `sync_step_begin`."""
        if self._overridden("sync_step_begin") and ds_run_context.cur_step_num > self.step_size:
            self._wait("_steps", (ds_run_context.cur_step_num - 1) // self.step_size, "step")
            self.sync_step_begin(self._training, ds_run_context)

    def _wait(self, counter: str, wanted: int, what: str) -> None:
        seconds = config.get_callback_timeout()
        with self._moved:
            if not self._moved.wait_for(lambda: getattr(self, counter) >= wanted, seconds):
                raise RuntimeError(
                    f"For '{type(self).__name__}', the training must finish {what} {wanted} within {seconds} s, but it "
                    "did not: give this callback to Model.train, too, or allow more with "
                    "dataset.config.set_callback_timeout."
                )


class Calls:
    """The calls of callbacks around the keys of one epoch.

    Args:
        callbacks: whom to call.
        epoch: its number, from 0.
        size: rows in an epoch.
    """

    def __init__(self, callbacks: list[DSCallback], epoch: int, size: int) -> None:
        self.callbacks, self.epoch, self.size = callbacks, epoch, size

    def _call(self, name: str, step: int) -> None:
        info = StepInfo(self.epoch + 1, step, self.epoch * self.size + step)
        for callback in self.callbacks:
            if not name.startswith("ds_step") or (step - 1) % callback.step_size == 0:
                getattr(callback, name)(info)

    def around(self, keys: Iterator[Key]) -> Iterator[Key]:
        """The keys, with the calls before and after each."""
        if self.epoch == 0:
            self._call("ds_begin", 0)
        self._call("ds_epoch_begin", 0)
        step = 0
        for step, key in enumerate(keys, 1):
            self._call("ds_step_begin", step)
            yield key
            self._call("ds_step_end", step)
        self._call("ds_epoch_end", step)


def check_callbacks(value: Any) -> list[DSCallback]:
    """A list of callbacks, from one, several or none.

    Raises:
        TypeError: if one is something else.
    """
    callbacks = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    for callback in callbacks:
        if not isinstance(callback, DSCallback):
            raise TypeError(f"For 'map', 'callbacks' must be DSCallbacks, but got {type(callback).__name__}.")
    return callbacks
