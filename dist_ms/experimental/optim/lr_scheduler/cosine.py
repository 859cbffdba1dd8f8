"""Schedulers along a cosine: CosineAnnealingLR, CosineAnnealingWarmRestarts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.lr_scheduler.base import LRScheduler, check_optimizer
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.hyper import number_of


class CosineAnnealingLR(LRScheduler):
    r"""Rates down and up along a cosine of period 2 `T_max`.

    .. math::
        \eta_t = \eta_{min} + \tfrac12 (\eta_0 - \eta_{min}) (1 + \cos(\pi t / T_{max}))

    computed from the rates of the epoch before, so that changes made between are kept.
    Source: Loshchilov and Hutter, SGDR, 2017.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        T_max: the epochs from the highest rate to the lowest, an int.
        eta_min: the lowest rate, a number.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if `last_epoch` is below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=2)
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.eta_min = check_type(eta_min, "eta_min", "CosineAnnealingLR", (float, int))
        self.T_max = check_type(T_max, "T_max", "CosineAnnealingLR", (int, bool))
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: float) -> float:
        return 1.0 + math.cos(math.pi * epoch / self.T_max)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`, from the present ones."""
        if self._epoch == 0:
            return self._rates()
        if (self._epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the rate before was the lowest
            rise = (1.0 - math.cos(math.pi / self.T_max)) / 2.0
            pairs = zip(self._first_rates(), self._rates())
            return [lr + (first - self.eta_min) * rise for first, lr in pairs]
        factor = self._height(self._epoch) / self._height(self._epoch - 1)
        return [factor * (lr - self.eta_min) + self.eta_min for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        half = self._height(self._epoch) / 2.0
        return [self.eta_min + (lr - self.eta_min) * half for lr in self._first_rates()]


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""Rates down a cosine, again and again, over periods that may grow.

    .. math::
        \eta_t = \eta_{min} + \tfrac12 (\eta_0 - \eta_{min}) (1 + \cos(\pi T_{cur} / T_i))

    Source: Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        T_0: the epochs of the first period, a positive int.
        T_mult: the factor from one period to the next, an int of 1 or more.
        eta_min: the lowest rate, a number.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if `T_0` or `T_mult` is no positive int, or `last_epoch` below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=2)
        >>> scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1
    ) -> None:
        owner = "CosineAnnealingWarmRestarts"
        check_optimizer(optimizer, owner)
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"For '{owner}', '{name}' must be a positive int, but got {value}.")
        self.eta_min = check_type(eta_min, "eta_min", owner, (float, int))
        self.T_mult = T_mult
        self.T_0 = Parameter(Tensor(np.float32(T_0)), name="T_0")
        self.T_i = Parameter(Tensor(np.float32(T_0)), name="T_i")
        self.T_cur = Parameter(Tensor(np.float32(last_epoch)), name="T_cur")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of the present place in the period."""
        half = (1.0 + math.cos(math.pi * number_of(self.T_cur) / number_of(self.T_i))) / 2.0
        return [self.eta_min + (lr - self.eta_min) * half for lr in self._first_rates()]

    def step(self, epoch: Any = None) -> None:
        """Go to the next epoch, or to a given one, and set its rates.

        Args:
            epoch: the epoch to jump to, 0 or more; fractions are for steps within an epoch.

        Raises:
            ValueError: if `epoch` is negative.
        """
        if epoch is None and self._epoch >= 0:
            epoch = self._epoch + 1
            place, length = number_of(self.T_cur) + 1, number_of(self.T_i)
            if place >= length:
                place, length = place - length, length * self.T_mult
        else:
            epoch = 0.0 if epoch is None else number_of(epoch)
            if epoch < 0:
                raise ValueError(
                    f"For 'CosineAnnealingWarmRestarts', 'epoch' must be a number of 0 or more, but got {epoch}."
                )
            place, length = self._place(epoch)
        self.T_cur.overwrite(np.asarray(place))
        self.T_i.overwrite(np.asarray(length))
        self.last_epoch.overwrite(np.asarray(math.floor(epoch)))
        self._set(self.get_lr())

    def _place(self, epoch: float) -> tuple[float, float]:
        """Where an epoch is in its period, and the period's length."""
        first = number_of(self.T_0)
        if self.T_mult == 1:
            return epoch % first, first
        length, start = first, 0.0
        while epoch >= start + length:
            start, length = start + length, length * self.T_mult
        return epoch - start, length
