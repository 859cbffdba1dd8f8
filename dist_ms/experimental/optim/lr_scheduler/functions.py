"""Schedulers by a function of the epoch: LambdaLR, MultiplicativeLR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_callable
from dist_ms.experimental.optim.lr_scheduler.base import LRScheduler, check_optimizer, per_group
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.hyper import number_of


class _OfFunctions(LRScheduler):
    """What both share: one function per group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        owner = type(self).__name__
        check_optimizer(optimizer, owner)
        self.lr_lambdas = per_group(lr_lambda, "lr_lambda", owner, len(optimizer.param_groups))
        for function in self.lr_lambdas:
            check_callable(function, "lr_lambda", owner)
        super().__init__(optimizer, last_epoch)

    def _factors(self) -> list[float]:
        return [number_of(function(self.last_epoch)) for function in self.lr_lambdas]


class LambdaLR(_OfFunctions):
    r"""The first rates times a function of the epoch: :math:`\eta_t = \eta_0 f(t)`.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        lr_lambda: f, or a list of one per group; it gets the epoch as a Tensor.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for more or fewer functions than groups, or if `last_epoch` is below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.LambdaLR(opt, lambda epoch: 0.5**epoch)
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable | list[Callable] | tuple, last_epoch: int = -1
    ) -> None:
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        return [lr * factor for lr, factor in zip(self._first_rates(), self._factors())]


class MultiplicativeLR(_OfFunctions):
    r"""The last rates times a function of the epoch: :math:`\eta_t = \eta_{t-1} f(t)`.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        lr_lambda: f, or a list of one per group; it gets the epoch as a Tensor.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for more or fewer functions than groups, or if `last_epoch` is below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.MultiplicativeLR(opt, lambda epoch: 0.5)
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable | list[Callable] | tuple, last_epoch: int = -1
    ) -> None:
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`, from the present ones."""
        if self._epoch <= 0:
            return self._rates()
        return [lr * factor for lr, factor in zip(self._rates(), self._factors())]
