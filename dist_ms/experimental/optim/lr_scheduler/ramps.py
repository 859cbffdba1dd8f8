"""Schedulers that go from one rate to another: LinearLR, PolynomialLR."""

from __future__ import annotations

from dist_ms.common.checks import check_float, check_type
from dist_ms.experimental.optim.lr_scheduler.base import LRScheduler
from dist_ms.experimental.optim.optimizer import Optimizer


class LinearLR(LRScheduler):
    r"""Rates times a factor that goes straight from `start_factor` to `end_factor`.

    .. math::
        \eta_t = \eta_0 \left( f_0 + (f_1 - f_0) \frac{\min(t, T)}{T} \right)

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        start_factor: :math:`f_0`, a number in (0, 1].
        end_factor: :math:`f_1`, a number in [0, 1].
        total_iters: T, an int.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if a factor is out of range, or `last_epoch` below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.LinearLR(opt, start_factor=0.5, total_iters=2)
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.375
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        for name, factor in (("start_factor", start_factor), ("end_factor", end_factor)):
            check_type(factor, name, "LinearLR", (float, int))
        if not 0.0 < start_factor <= 1.0:
            raise ValueError(f"For 'LinearLR', 'start_factor' must be in (0, 1], but got {start_factor}.")
        if not 0.0 <= end_factor <= 1.0:
            raise ValueError(f"For 'LinearLR', 'end_factor' must be between 0 and 1, but got {end_factor}.")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = check_type(total_iters, "total_iters", "LinearLR", (int, bool))
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`, from the present ones."""
        if self._epoch == 0:
            return [lr * self.start_factor for lr in self._rates()]
        if self._epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        factor = 1.0 + rise / (self.total_iters * self.start_factor + (self._epoch - 1) * rise)
        return [lr * factor for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        part = min(self.total_iters, self._epoch) / self.total_iters
        factor = self.start_factor + (self.end_factor - self.start_factor) * part
        return [lr * factor for lr in self._first_rates()]


class PolynomialLR(LRScheduler):
    r"""Rates that fall to 0 as a power: :math:`\eta_t = \eta_0 (1 - \min(t, T) / T)^p`.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        total_iters: T, an int.
        power: p, a float of 0 or more.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if `power` is negative, or `last_epoch` below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.PolynomialLR(opt, total_iters=2, power=2.0)
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.125
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.power = check_float(power, "power", "PolynomialLR")
        if not power >= 0:
            raise ValueError(f"For 'PolynomialLR', 'power' must be 0 or more, but got {power}.")
        self.total_iters = check_type(total_iters, "total_iters", "PolynomialLR", (int, bool))
        super().__init__(optimizer, last_epoch)

    def _left(self, epoch: float) -> float:
        return 1.0 - min(self.total_iters, epoch) / self.total_iters

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`, from the present ones."""
        if self._epoch == 0 or self._epoch > self.total_iters:
            return self._rates()
        factor = (self._left(self._epoch) / self._left(self._epoch - 1)) ** self.power
        return [lr * factor for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        return [lr * self._left(self._epoch) ** self.power for lr in self._first_rates()]
