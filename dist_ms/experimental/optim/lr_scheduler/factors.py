"""Schedulers that multiply the rates at certain epochs: StepLR, MultiStepLR, ExponentialLR, ConstantLR."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

from dist_ms.common.checks import check_float, check_type
from dist_ms.experimental.optim.lr_scheduler.base import LRScheduler
from dist_ms.experimental.optim.optimizer import Optimizer


class StepLR(LRScheduler):
    r"""Rates times `gamma` every `step_size` epochs: :math:`\eta_t = \eta_0 \gamma^{\lfloor t / s \rfloor}`.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        step_size: s, an int.
        gamma: :math:`\gamma`, a float.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if `last_epoch` is below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.5)
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = check_type(step_size, "step_size", "StepLR", (int, bool))
        self.gamma = check_float(gamma, "gamma", "StepLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`, from the present ones."""
        falls = self._epoch != 0 and self._epoch % self.step_size == 0
        return [lr * self.gamma if falls else lr for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        return [lr * self.gamma ** (self._epoch // self.step_size) for lr in self._first_rates()]


class MultiStepLR(LRScheduler):
    r"""Rates times `gamma` at the milestones: :math:`\eta_t = \eta_0 \gamma^{|\{m \le t\}|}`.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        milestones: a list of epochs, ints; one that comes twice counts twice.
        gamma: :math:`\gamma`, a number.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if `last_epoch` is below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.MultiStepLR(opt, [1], gamma=0.5)
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(self, optimizer: Optimizer, milestones: list[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        check_type(milestones, "milestones", "MultiStepLR", list)
        for i, milestone in enumerate(milestones):
            check_type(milestone, f"milestones[{i}]", "MultiStepLR", (int, bool))
        self.milestones = Counter(milestones)
        self.gamma = check_type(gamma, "gamma", "MultiStepLR", (float, int))
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`, from the present ones."""
        return [lr * self.gamma ** self.milestones[int(self._epoch)] for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self._epoch)
        return [lr * self.gamma**passed for lr in self._first_rates()]


class ExponentialLR(LRScheduler):
    r"""Rates times `gamma` every epoch: :math:`\eta_t = \eta_0 \gamma^t`.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        gamma: :math:`\gamma`, a float.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if `last_epoch` is below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = check_float(gamma, "gamma", "ExponentialLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`, from the present ones."""
        return [lr if self._epoch == 0 else lr * self.gamma for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        return [lr * self.gamma**self._epoch for lr in self._first_rates()]


class ConstantLR(LRScheduler):
    r"""Rates times `factor` until epoch `total_iters`, and whole from there.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        factor: a number in [0, 1].
        total_iters: the first epoch with the whole rates, an int.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: if `factor` is out of range, or `last_epoch` below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.ConstantLR(opt, factor=0.5, total_iters=2)
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        check_type(factor, "factor", "ConstantLR", (float, int))
        if not 0.0 <= factor <= 1.0:
            raise ValueError(f"For 'ConstantLR', 'factor' must be between 0 and 1, but got {factor}.")
        self.factor = factor
        self.total_iters = check_type(total_iters, "total_iters", "ConstantLR", (int, bool))
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`, from the present ones."""
        if self._epoch == 0:
            return [lr * self.factor for lr in self._rates()]
        return [lr / self.factor if self._epoch == self.total_iters else lr for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        factor = 1.0 if self._epoch >= self.total_iters else self.factor
        return [lr * factor for lr in self._first_rates()]
