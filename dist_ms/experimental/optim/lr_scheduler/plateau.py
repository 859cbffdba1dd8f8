"""ReduceLROnPlateau."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_string
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.lr_scheduler.base import check_optimizer, per_group
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.hyper import number_of


class ReduceLROnPlateau:
    r"""Rates times `factor` when a metric has not improved for more than `patience` steps.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        mode: "min" or "max": whether smaller or larger metrics are better.
        factor: a number below 1.
        patience: the steps without improvement that are let pass.
        threshold: how much better counts as an improvement.
        threshold_mode: "rel": the threshold is a part of the best metric; "abs": it is added to it.
        cooldown: steps after a change in which nothing is counted.
        min_lr: the lowest rate, a number or a list of one per group.
        eps: changes of a rate up to this are not made.

    Raises:
        TypeError: if `optimizer` is no such optimizer.
        ValueError: for a factor of 1 or more, another mode, or more or fewer `min_lr` than groups.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=0)
        >>> for loss in (1.0, 2.0):
        ...     _ = scheduler.step(ms.Tensor(loss))
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        owner = "ReduceLROnPlateau"
        check_optimizer(optimizer, owner)
        if not factor < 1.0:
            raise ValueError(f"For '{owner}', 'factor' must be less than 1.0, but got {factor}.")
        self.mode = check_string(mode, "mode", owner, ["min", "max"])
        self.threshold_mode = check_string(threshold_mode, "threshold_mode", owner, ["rel", "abs"])
        self.optimizer, self.factor, self.patience, self.threshold = optimizer, factor, patience, threshold
        self.cooldown, self.eps = cooldown, eps
        self.min_lrs = per_group(min_lr, "min_lr", owner, len(optimizer.param_groups))
        worst = np.inf if mode == "min" else -np.inf
        self.best = Parameter(Tensor(np.float32(worst)), name="best")
        self.cooldown_counter = Parameter(Tensor(np.float32(0)), name="cooldown_counter")
        self.wait = Parameter(Tensor(np.float32(0)), name="wait")
        self.last_epoch = Parameter(Tensor(np.int32(0)), name=f"last_epoch_{owner}")
        self._last_lr = list(optimizer.lrs)

    def step(self, metrics: Any) -> bool:
        """Take note of a metric and lower the rates if it is time.

        Args:
            metrics: a number or a Tensor with one element.

        Returns:
            True.
        """
        current = float(np.float32(number_of(metrics)))
        self.last_epoch._data += 1
        if self._is_improvement(current):
            self.best._data[...] = current
            self.wait._data[...] = 0
        else:
            self.wait._data += 1
        if self.in_cooldown():
            self.cooldown_counter._data -= 1
            self.wait._data[...] = 0
        if self.wait._data > self.patience:
            self._reduce_lr()
            self.cooldown_counter._data[...] = self.cooldown
            self.wait._data[...] = 0
        return True

    def _reduce_lr(self) -> None:
        for lr, lowest in zip(self._last_lr, self.min_lrs):
            rate = number_of(lr)
            lower = max(rate * self.factor, number_of(lowest))
            if rate > lower + self.eps:
                lr.overwrite(np.asarray(lower))

    def in_cooldown(self) -> bool:
        """Whether a change was made less than `cooldown` steps ago."""
        return bool(self.cooldown_counter._data > 0)

    def _is_improvement(self, current: float) -> bool:
        best, sign = self.best._data.item(), -1.0 if self.mode == "min" else 1.0
        limit = best * (1.0 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return current < limit if self.mode == "min" else current > limit

    def get_last_lr(self) -> list[Tensor]:
        """The present rates, one Tensor per group."""
        return [lr.value() for lr in self._last_lr]
