"""SequentialLR."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.lr_scheduler.base import LRScheduler
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.hyper import number_of


class SequentialLR:
    """One scheduler after the other: each from its milestone on.

    Args:
        optimizer: the optimizer of all schedulers.
        schedulers: a list of schedulers.
        milestones: the epochs at which the second and later ones begin, ints that grow.
        last_epoch: the epoch to go on from.

    Raises:
        ValueError: if a scheduler has another optimizer, or there is not one milestone less than schedulers.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> parts = [optim.lr_scheduler.ConstantLR(opt, 0.5, 9), optim.lr_scheduler.ExponentialLR(opt, 0.5)]
        >>> scheduler = optim.lr_scheduler.SequentialLR(opt, parts, milestones=[1])
        >>> rates = [float(scheduler.get_last_lr()[0])]
        >>> for _ in range(2):
        ...     scheduler.step()
        ...     rates.append(float(scheduler.get_last_lr()[0]))
        >>> rates
        [0.25, 0.5, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        for i, scheduler in enumerate(schedulers):
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"For 'SequentialLR', 'schedulers[{i}]' must have the same optimizer, but got another: "
                    "make all schedulers with the optimizer given here."
                )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "For 'SequentialLR', 'milestones' must have one entry less than 'schedulers', "
                f"{len(schedulers) - 1}, but got {len(milestones)}."
            )
        self._schedulers, self.milestones, self.optimizer = schedulers, milestones, optimizer
        self.last_epoch = Parameter(Tensor(np.float32(last_epoch + 1)), name="last_epoch_SequentialLR")
        for lr, group in zip(optimizer.lrs, optimizer.param_groups):
            lr.overwrite(np.asarray(number_of(group["initial_lr"])))
        for scheduler in schedulers:  # each took its first step when it was made
            scheduler.last_epoch.overwrite(np.asarray(scheduler._epoch - 1))
        schedulers[0].step()
        self._last_lr = schedulers[0]._last_lr

    def step(self) -> Any:
        """Go to the next epoch and set its rates."""
        epoch = int(self.last_epoch._data) + 1
        self.last_epoch.overwrite(np.asarray(epoch))
        now = bisect_right(self.milestones, epoch)
        begins = now > 0 and self.milestones[now - 1] == epoch
        self._schedulers[now].step(*([0] if begins else []))

    def get_last_lr(self) -> list[Tensor]:
        """The present rates, one Tensor per group."""
        return [lr.value() for lr in self._last_lr]
