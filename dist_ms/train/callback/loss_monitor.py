"""LossMonitor: prints the loss and stops a run that diverged."""

from __future__ import annotations

import math

from dist_ms.common.checks import check_non_negative_int
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.outputs import loss_of


class LossMonitor(Callback):
    """Print the loss every few steps; stop the run when it is NaN or infinite.

    In a data-parallel job each rank that has one prints its own loss. `Model.fit` also prints the
    metrics of each evaluation.

    Args:
        per_print_times: steps between two lines; 0 prints none.

    Raises:
        TypeError: if `per_print_times` is no int.
        ValueError: if it is negative, or (during training) the loss is not finite.

    Examples:
        >>> import dist_ms as ms
        >>> monitor = ms.train.LossMonitor(per_print_times=10)
    """

    def __init__(self, per_print_times: int = 1) -> None:
        super().__init__()
        self._per_print_times = check_non_negative_int(per_print_times, "per_print_times", "LossMonitor")
        self._last_print_time = 0

    def step_end(self, run_context: RunContext) -> None:
        """Look at the loss of a step.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        epoch = run.get("cur_epoch_num", 1)
        loss = loss_of(run["net_outputs"])
        step = (run["cur_step_num"] - 1) % run["batch_num"] + 1
        if isinstance(loss, float) and not math.isfinite(loss):
            raise ValueError(
                f"In epoch: {epoch} step: {step}, loss is NAN or INF ({loss}), training process cannot continue, "
                "terminating training."
            )
        every = self._per_print_times
        if not every:
            return
        while run["cur_step_num"] <= self._last_print_time:  # another run with the same monitor
            self._last_print_time -= every
        if run["cur_step_num"] - self._last_print_time >= every:
            self._last_print_time = run["cur_step_num"]
            print(f"epoch: {epoch} step: {step}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Print the metrics when `Model.fit` has evaluated.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        if metrics := run.get("metrics"):
            print(f"Eval result: epoch {run['cur_epoch_num']}, metrics: {metrics}", flush=True)
