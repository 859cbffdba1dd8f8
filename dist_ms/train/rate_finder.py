"""find_learning_rate: a short run with growing learning rates, to see which one trains fastest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_positive_number, check_type, complaint
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.servers.roles import is_worker
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.outputs import number_of
from dist_ms.train.model import Model

_OWNER = "find_learning_rate"
_DIVERGED = 4.0  # times the lowest smoothed loss
_MEMORY = 0.9  # of the smoothed loss


class LearningRates:
    """What `find_learning_rate` tried.

    Attributes:
        rates: the learning rates, growing.
        losses: the loss after each, smoothed.
        suggestion: the rate at which the loss fell fastest.
    """

    def __init__(self, rates: list[float], losses: list[float]) -> None:
        self.rates, self.losses = rates, losses
        falls = np.gradient(np.asarray(losses), np.log(rates))
        self.suggestion = rates[int(np.argmin(falls))]

    def __repr__(self) -> str:
        return (
            f"LearningRates({len(self.rates)} from {self.rates[0]:.3g} to {self.rates[-1]:.3g}: {self.suggestion:.3g})"
        )

    def plot(self, file_name: str | None = None) -> Any:
        """Draw the losses over the rates with matplotlib (extra `examples`).

        Args:
            file_name: where to save the picture; None: nowhere.

        Returns:
            matplotlib's Figure.
        """
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5.5, 4.0), layout="constrained")
        axes = figure.subplots()
        axes.plot(self.rates, self.losses)
        axes.axvline(self.suggestion, linestyle=":", label=f"falls fastest: {self.suggestion:.3g}")
        axes.set(xscale="log", xlabel="learning rate", ylabel="loss, smoothed")
        axes.legend()
        if file_name is not None:
            figure.savefig(file_name)
        return figure


def find_learning_rate(
    model: Model, train_dataset: Any, low: float = 1e-6, high: float = 1.0, steps: int = 100
) -> LearningRates:
    """Train some steps with learning rates that grow from one to another, and tell at which the loss fell fastest.

    It ends early when the smoothed loss is four times its lowest value, or no number. Weights, the optimizer's state
    and its learning rate are afterwards what they were; the data of these steps has been read. On several ranks the
    losses are means over them, and the suggestion is the same on all.

    Args:
        model: a Model with an optimizer whose learning rate is one number.
        train_dataset: as for `Model.train`.
        low: the first learning rate.
        high: the last one.
        steps: how many, at least 8.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if a number is out of range, the optimizer has a schedule or groups with rates of their own, or
            parameter servers have some of the weights.
        RuntimeError: if the loss was a number for fewer than 3 steps.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(2, 1)
        >>> model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
        >>> found = ms.train.find_learning_rate(model, [(np.ones((4, 2), np.float32), np.ones((4, 1), np.float32))])
        >>> 1e-6 <= found.suggestion <= 1
        True
    """
    check_type(model, "model", _OWNER, Model)
    check_positive_number(low, "low", _OWNER)
    if check_positive_number(high, "high", _OWNER) <= low:
        raise ValueError(complaint("high", _OWNER, f"greater than 'low', {low}", high))
    check_int_range(steps, "steps", _OWNER, 8, 1_000_000)
    optimizer = model._optimizer
    if optimizer is None:
        raise ValueError(complaint("model", _OWNER, "a Model with an optimizer", None))
    if not isinstance(optimizer.learning_rate, Parameter) or optimizer.is_group_lr or optimizer.dynamic_lr:
        raise ValueError(
            f"For '{_OWNER}', the optimizer must have one number for its learning rate, but it has a schedule or "
            "groups with rates of their own: try one that has."
        )
    rows = make_plan(optimizer.parameters, servers=is_worker()).rows
    served = next((row.name for row in rows if row.gradient == "server"), None)
    if served is not None:
        raise ValueError(
            f"For '{_OWNER}', no weight must be on a parameter server, but '{served}' is: try without servers."
        )
    trial = _Trial(np.geomspace(low, high, steps).tolist())
    with _as_it_was([*model.train_network.get_parameters(), *optimizer.get_parameters()]):
        model.train(steps, train_dataset, callbacks=trial)
    return LearningRates(*trial.result())


class _Trial(Callback):
    """Sets the rates and notes the losses: means over the ranks, so that all of them end at the same step."""

    meets_ranks = True

    def __init__(self, rates: list[float]) -> None:
        super().__init__()
        self._rates, self._losses, self._sum = rates, [], 0.0  # type: tuple[list[float], list[float], float]

    def on_train_begin(self, run_context: RunContext) -> None:
        self._set(run_context, self._rates[0])

    def on_train_step_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        losses = run["ranks"].gather(float(number_of(run["net_outputs"])))
        self._sum = _MEMORY * self._sum + (1 - _MEMORY) * sum(losses) / len(losses)
        smooth = self._sum / (1 - _MEMORY ** (len(self._losses) + 1))
        if math.isfinite(smooth):
            self._losses.append(smooth)
        done = len(self._losses)
        if done == len(self._rates) or not math.isfinite(smooth) or smooth > _DIVERGED * min(self._losses):
            run_context.request_stop()
        else:
            self._set(run_context, self._rates[done])

    def _set(self, run_context: RunContext, rate: float) -> None:
        run_context.original_args()["optimizer"].learning_rate.set_data(Tensor(np.float32(rate)))

    def result(self) -> tuple[list[float], list[float]]:
        """The rates and the smoothed losses."""
        done = len(self._losses)
        if done < 3:
            raise RuntimeError(
                f"For '{_OWNER}', the loss must be a number for 3 steps or more, but it was for {done}: take a smaller "
                "'low'."
            )
        return self._rates[:done], self._losses


@contextmanager
def _as_it_was(parameters: list[Parameter]) -> Iterator[None]:
    """Put parameters back to the values they have now."""
    kept = {id(p): (p, p.asnumpy().copy()) for p in parameters}
    try:
        yield
    finally:
        for parameter, value in kept.values():
            parameter.overwrite(value)
