"""ExponentialMovingAverage: a running mean of weights, with which a network is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dist_ms.common.checks import check_bool, check_number_range, check_positive_int
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.servers.roles import is_worker
from dist_ms.train.callback.callback import Callback, RunContext


class ExponentialMovingAverage(Callback):
    r"""Keep a mean of the trained weights, in which older ones count less and less, and evaluate with it.

    .. math::
        m_t = d_t m_{t-1} + (1 - d_t) w_t, \quad d_t = \min(decay, (1 + t) / (10 + t))

    The mean is of float32, whatever the weights are of. `Model.eval` and the evaluations of `Model.fit` see it in
    place of the weights, which training goes on with; a RunCheckpoint of the same run saves it, too. On ranks whose
    weights are equal the means are equal as well.

    Args:
        decay: how much of the mean stays at an update, from 0 to below 1.
        every_steps: update it after every so many steps.
        warm_up: begin with a smaller decay, as above, so that the first weights are soon forgotten; False: `decay`
            from the start.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for a decay or a number of steps out of range; when training begins, if parameter servers have
            some of the weights.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(2, 1)
        >>> model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()))
        >>> mean = ms.train.ExponentialMovingAverage(0.99)
        >>> model.train(1, [(np.ones((4, 2), np.float32), np.ones((4, 1), np.float32))], callbacks=mean)
        >>> with mean.averaged():  # as for ms.save_checkpoint(net, "mean.ckpt")
        ...     shape = net.weight.shape
    """

    state_names = ("_means", "_updates", "_steps")
    in_evaluations_of_fit = True

    def __init__(self, decay: float = 0.999, every_steps: int = 1, warm_up: bool = True) -> None:
        super().__init__()
        owner = "ExponentialMovingAverage"
        self.decay = float(check_number_range(decay, "decay", owner, 0.0, 1.0, "[)"))
        self.every_steps = check_positive_int(every_steps, "every_steps", owner)
        self.warm_up = check_bool(warm_up, "warm_up", owner)
        self._means: dict[str, np.ndarray] = {}
        self._updates = self._steps = 0
        self._weights: dict[str, Parameter] = {}
        self._shown = False

    @property
    def means(self) -> dict[str, np.ndarray]:
        """The means by the parameters' names; empty before training."""
        return self._means

    def on_train_begin(self, run_context: RunContext) -> None:
        """Begin with the weights as they are, or go on where an earlier run of the same network ended.

        Args:
            run_context: the run.
        """
        weights = {p.name: p for p in run_context.original_args()["optimizer"].parameters}
        rows = make_plan(list(weights.values()), servers=is_worker()).rows
        served = next((row.name for row in rows if row.gradient == "server"), None)
        if served is not None:
            raise ValueError(
                f"For 'ExponentialMovingAverage', no weight must be on a parameter server, but '{served}' is: train "
                "without servers, or evaluate with the weights themselves."
            )
        self._weights = weights
        if {n: m.shape for n, m in self._means.items()} != {n: p.shape for n, p in weights.items()}:
            self._means = {name: p.asnumpy().astype(np.float32) for name, p in weights.items()}
            self._updates = self._steps = 0

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Add the weights of this step.

        Args:
            run_context: the run.
        """
        self._steps += 1
        if self._steps % self.every_steps:
            return
        self._updates += 1
        decay = self.decay
        if self.warm_up:
            decay = min(decay, (1 + self._updates) / (10 + self._updates))
        for name, weight in self._weights.items():
            mean = self._means[name]
            mean += np.float32(1 - decay) * (weight.asnumpy() - mean)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Show the means until the evaluation ends.

        Args:
            run_context: the run.
        """
        if self._means:
            run_context.original_args()["during_evaluation"].enter_context(self.averaged())

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Have the means in the network, as for saving them; the weights are back behind it.

        Raises:
            RuntimeError: if nothing was trained yet.
        """
        if not self._weights:
            raise RuntimeError("For 'ExponentialMovingAverage', 'averaged' must follow training, but there was none.")
        if self._shown:
            yield
            return
        kept = {name: weight.asnumpy().copy() for name, weight in self._weights.items()}
        self._shown = True
        try:
            self._set(self._means)
            yield
        finally:
            self._set(kept)
            self._shown = False

    def _set(self, values: dict[str, np.ndarray]) -> None:
        for name, weight in self._weights.items():
            weight.overwrite(Tensor(values[name]).astype(weight.dtype).asnumpy())
