"""CyclicLR."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.experimental.optim.lr_scheduler.base import LRScheduler, check_optimizer, per_group
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.hyper_parameters.hyper import number_of

_MODES = ("triangular", "triangular2", "exp_range")


class CyclicLR(LRScheduler):
    r"""Rates up and down between two bounds, epoch by epoch.

    .. math::
        \eta_t = \eta_{base} + (\eta_{max} - \eta_{base})\, h(t)\, s

    where h goes from 0 to 1 over `step_size_up` epochs and back over `step_size_down`, and the
    scale s is 1 ("triangular"), :math:`2^{1-c}` in cycle c ("triangular2") or :math:`\gamma^t`
    ("exp_range"). Source: Smith, Cyclical Learning Rates for Training Neural Networks, 2017.

    Args:
        optimizer: an optimizer of `experimental.optim` or `mint.optim`.
        base_lr: the lower bound, a number or a list of one per group.
        max_lr: the upper bound, a number or a list of one per group.
        step_size_up: the epochs of a rise.
        step_size_down: the epochs of a fall; as many as of a rise by default.
        mode: "triangular", "triangular2" or "exp_range"; without meaning when `scale_fn` is given.
        gamma: :math:`\gamma`, of "exp_range".
        scale_fn: s as a function of the cycle, from 1, or of the epoch.
        scale_mode: "cycle" or "iterations": what `scale_fn` gets.
        last_epoch: the epoch to go on from.

    Raises:
        TypeError: if `optimizer` is no such optimizer.
        ValueError: for another mode, more or fewer bounds than groups, or if `last_epoch` is below -1.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> opt = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], lr=0.5)
        >>> scheduler = optim.lr_scheduler.CyclicLR(opt, base_lr=0.25, max_lr=0.75, step_size_up=2)
        >>> _ = scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer, "CyclicLR")
        groups = optimizer.param_groups
        base_lrs = per_group(base_lr, "base_lr", "CyclicLR", len(groups))
        self.max_lrs = per_group(max_lr, "max_lr", "CyclicLR", len(groups))
        if mode not in _MODES and scale_fn is None:
            raise ValueError(f"For 'CyclicLR', 'mode' must be one of {_MODES}, but got {mode!r}: or give a 'scale_fn'.")
        up = float(step_size_up)
        self.total_step_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_up_ratio = up / self.total_step_size
        self.mode, self.gamma, self._custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        if last_epoch == -1:
            for lr, value in zip(optimizer.lrs, base_lrs):
                lr.overwrite(np.asarray(number_of(value)))
        self._bounds = [(number_of(low), number_of(high)) for low, high in zip(base_lrs, self.max_lrs)]
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: Any) -> Any:
        """The scale of a cycle or of an epoch."""
        if self._custom is not None:
            return self._custom(x)
        if self.mode == "triangular2":
            return 1 / 2.0 ** (x - 1)
        return self.gamma**x if self.mode == "exp_range" else 1.0

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        cycle = math.floor(1 + self._epoch / self.total_step_size)
        place = 1.0 + self._epoch / self.total_step_size - cycle
        up = place <= self.step_up_ratio
        height = place / self.step_up_ratio if up else (place - 1) / (self.step_up_ratio - 1)
        scale = number_of(self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch))
        return [low + (high - low) * height * scale for low, high in self._bounds]
