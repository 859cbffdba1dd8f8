"""LambdaCallback: functions as a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.train.callback.callback import Callback, RunContext

_Function = Callable[[RunContext], Any] | None


def _nothing(run_context: RunContext) -> None:
    """Do nothing at a moment without a function."""


class LambdaCallback(Callback):
    """Call a function at each moment that one is given for, with the `RunContext`.

    Args:
        on_train_epoch_begin: before a training epoch.
        on_train_epoch_end: after a training epoch.
        on_train_step_begin: before a training step.
        on_train_step_end: after a training step.
        on_train_begin: before training.
        on_train_end: after training.
        on_eval_epoch_begin: before the evaluation epoch.
        on_eval_epoch_end: after the evaluation epoch.
        on_eval_step_begin: before an evaluation step.
        on_eval_step_end: after an evaluation step.
        on_eval_begin: before evaluation.
        on_eval_end: after evaluation.

    Examples:
        >>> import dist_ms as ms
        >>> show = ms.train.LambdaCallback(
        ...     on_train_epoch_end=lambda context: print(context.original_args().cur_epoch_num))
    """

    def __init__(
        self,
        on_train_epoch_begin: _Function = None,
        on_train_epoch_end: _Function = None,
        on_train_step_begin: _Function = None,
        on_train_step_end: _Function = None,
        on_train_begin: _Function = None,
        on_train_end: _Function = None,
        on_eval_epoch_begin: _Function = None,
        on_eval_epoch_end: _Function = None,
        on_eval_step_begin: _Function = None,
        on_eval_step_end: _Function = None,
        on_eval_begin: _Function = None,
        on_eval_end: _Function = None,
    ) -> None:
        super().__init__()
        vars(self).update(
            on_train_epoch_begin=on_train_epoch_begin or _nothing,
            on_train_epoch_end=on_train_epoch_end or _nothing,
            on_train_step_begin=on_train_step_begin or _nothing,
            on_train_step_end=on_train_step_end or _nothing,
            on_train_begin=on_train_begin or _nothing,
            on_train_end=on_train_end or _nothing,
            on_eval_epoch_begin=on_eval_epoch_begin or _nothing,
            on_eval_epoch_end=on_eval_epoch_end or _nothing,
            on_eval_step_begin=on_eval_step_begin or _nothing,
            on_eval_step_end=on_eval_step_end or _nothing,
            on_eval_begin=on_eval_begin or _nothing,
            on_eval_end=on_eval_end or _nothing,
        )
        self.stops_steps = bool(on_train_step_begin or on_train_step_end)
