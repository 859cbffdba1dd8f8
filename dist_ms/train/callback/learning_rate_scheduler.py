"""LearningRateScheduler: sets the learning rate by a function of the step."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.train.callback.callback import Callback, RunContext


class LearningRateScheduler(Callback):
    """Change the optimizer's learning rate after each step.

    The optimizer must have been made with one number as its learning rate.

    Args:
        learning_rate_function: called with (learning rate, number of the step, from 1 over all
            epochs); returns the learning rate of the next step.

    Examples:
        >>> import dist_ms as ms
        >>> halve = lambda lr, step: lr * 0.5 if step % 100 == 0 else lr
        >>> scheduler = ms.train.LearningRateScheduler(halve)
    """

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        super().__init__()
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        """Ask for the learning rate and set it.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        parameter = run["optimizer"].learning_rate
        # The float that the float32 prints as, so that 0.1 * 0.1 is 0.01 for the function.
        before = float(np.array2string(parameter.asnumpy()))
        after = self.learning_rate_function(before, run["cur_step_num"])
        if not math.isclose(before, after, rel_tol=1e-10):
            parameter.set_data(Tensor(np.float32(after)))
