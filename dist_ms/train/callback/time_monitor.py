"""TimeMonitor: prints how long epochs and steps take."""

from __future__ import annotations

import time

from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.train.callback.callback import Callback, RunContext


class TimeMonitor(Callback):
    """Print the time of each epoch and the mean time of its steps, in milliseconds.

    Args:
        data_size: steps of an epoch, where the run does not say (`batch_num`).
        data_time: also print how long a step waited for its data on average.

    Raises:
        TypeError: if `data_time` is no bool, or (at the end of an epoch) the steps are unknown.

    Examples:
        >>> import dist_ms as ms
        >>> monitor = ms.train.TimeMonitor(data_time=True)
    """

    in_evaluations_of_fit = True

    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        super().__init__()
        self.data_size = data_size
        self.data_time = check_bool(data_time, "data_time", "TimeMonitor")
        self.epoch_time = time.time()
        self.data_time_start = self.epoch_time
        self.data_time_sum = 0.0

    def epoch_begin(self, run_context: RunContext) -> None:
        """Start the clock.

        Args:
            run_context: the run.
        """
        self.epoch_time = self.data_time_start = time.time()
        self.data_time_sum = 0.0

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Count the time since the step before as spent on data.

        Args:
            run_context: the run.
        """
        self.data_time_sum += time.time() - self.data_time_start

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Remember when the next data was asked for.

        Args:
            run_context: the run.
        """
        self.data_time_start = time.time()

    def epoch_end(self, run_context: RunContext) -> None:
        """Print the times.

        Args:
            run_context: the run.
        """
        milliseconds = (time.time() - self.epoch_time) * 1000
        run = run_context.original_args()
        steps = run.get("batch_num")
        if not isinstance(steps, int) or steps <= 0:
            steps = check_positive_int(self.data_size, "data_size", "TimeMonitor")
        text = (
            f"{run.get('mode', '').title()} epoch time: {milliseconds:5.3f} ms, "
            f"per step time: {milliseconds / steps:5.3f} ms"
        )
        if self.data_time:
            text += f" (data time: {self.data_time_sum * 1000 / steps:5.3f} ms)"
        print(text, flush=True)
