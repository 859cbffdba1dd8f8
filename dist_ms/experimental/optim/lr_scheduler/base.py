"""LRScheduler: counts steps and writes the learning rates that a subclass computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.hyper import number_of


class LRScheduler:
    """Base class of schedulers: override `get_lr()` to return one rate per group.

    The constructor takes the first step, which sets the rates of epoch 0.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        last_epoch: the epoch to go on from; -1 to begin. Otherwise every group needs its
            first rate as `initial_lr`.

    Attributes:
        last_epoch: a Parameter, the epoch of the present rates.
        base_lrs: the first rates, one per group.
        optimizer: the optimizer.

    Raises:
        TypeError: if `optimizer` is no such optimizer, or `last_epoch` no int.
        ValueError: if `last_epoch` is below -1.
        KeyError: if a group has no `initial_lr` to go on from.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> class Halving(optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr * 0.5 for lr in self._last_lr]
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> print(Halving(opt).get_last_lr()[0])
        0.25
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        owner = type(self).__name__
        check_optimizer(optimizer, owner)
        check_type(last_epoch, "last_epoch", owner, int)
        if last_epoch < -1:
            raise ValueError(f"For '{owner}', 'last_epoch' must be an int of -1 or more, but got {last_epoch}.")
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", Tensor(np.float32(number_of(group["lr"]))))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming an optimizer")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.optimizer = optimizer
        self._last_lr = list(optimizer.lrs)
        self.groups_num = len(optimizer.param_groups)
        self.last_epoch = Parameter(Tensor(np.float32(last_epoch)), name=f"last_epoch_{owner}")
        self.step()

    @property
    def _epoch(self) -> float:
        return self.last_epoch._data.item()

    def _rates(self) -> list[float]:
        """The present rates as floats."""
        return [number_of(lr) for lr in self._last_lr]

    def _first_rates(self) -> list[float]:
        """The rates of the beginning as floats."""
        return [number_of(lr) for lr in self.base_lrs]

    def get_lr(self) -> list[Any]:
        """The rates of `last_epoch`, one per group, from the present ones.

        Raises:
            NotImplementedError: unless a subclass defines it.
        """
        raise NotImplementedError(f"For '{type(self).__name__}', get_lr() is not defined: return one rate per group.")

    def get_last_lr(self) -> list[Tensor]:
        """The present rates, one Tensor per group."""
        return [lr.value() for lr in self._last_lr]

    def step(self, epoch: Any = None) -> Any:
        """Go to the next epoch, or to a given one, and set its rates.

        Args:
            epoch: the epoch to jump to.

        Returns:
            True.
        """
        self.last_epoch.overwrite(np.asarray(self._epoch + 1 if epoch is None else number_of(epoch)))
        closed = getattr(self, "_get_closed_form_lr", None) if epoch is not None else None
        self._set(closed() if closed else self.get_lr())
        return True

    def _set(self, values: list[Any]) -> None:
        for lr, value in zip(self._last_lr, values):
            lr.overwrite(np.asarray(number_of(value)))


def check_optimizer(optimizer: Any, owner: str) -> None:
    """Check the optimizer of a scheduler.

    Raises:
        TypeError: for another type.
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"For '{owner}', 'optimizer' must be an Optimizer of experimental.optim or mint.optim, "
            f"but got {type(optimizer).__name__}."
        )


def per_group(value: Any, name: str, owner: str, groups: int) -> list[Any]:
    """A list with one entry per group, from one value or a list of them.

    Raises:
        ValueError: for a list of another length.
    """
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(f"For '{owner}', '{name}' must have one entry per group, {groups}, but got {len(value)}.")
    return list(value)
