"""Loss-scale managers: what Model and build_train_network ask about the loss scale."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_positive_int
from dist_ms.nn.cell import Cell
from dist_ms.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell

_COUNTED = ("loss_scale", "cur_iter", "last_overflow_iter", "bad_step")
_MOST_OVERFLOWS = 1000  # in a row, after which a run is hopeless


class LossScaleManager:
    """Base class of loss-scale managers."""

    def get_loss_scale(self) -> Any:
        """Return the scale now."""

    def get_drop_overflow_update(self) -> bool:
        """Return whether steps that overflow are dropped."""
        return False

    def update_loss_scale(self, overflow: bool) -> None:
        """Be told after each step whether it overflowed."""

    def get_update_cell(self) -> Cell | None:
        """Return the cell that changes the scale in a train step; None: overflows are not looked for."""

    def state_dict(self) -> dict[str, Any]:
        """Return what changes from step to step, for a run that is saved and resumed."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go back to what `state_dict` returned."""


class FixedLossScaleManager(LossScaleManager):
    """A loss scale that stays.

    Args:
        loss_scale: the scale, at least 1. Without `drop_overflow_update` the optimizer divides by it: give
            it the same `loss_scale`.
        drop_overflow_update: look for overflows and skip the updates of steps that have one.

    Raises:
        ValueError: if the scale is below 1.

    Examples:
        >>> import dist_ms as ms
        >>> manager = ms.amp.FixedLossScaleManager(1024.0, drop_overflow_update=False)
        >>> manager.get_loss_scale(), manager.get_update_cell() is None
        (1024.0, True)
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        if loss_scale < 1:
            raise ValueError(f"For 'FixedLossScaleManager', 'loss_scale' must be at least 1, but got {loss_scale}.")
        self._loss_scale = loss_scale
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self) -> float:
        """Return the scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Return whether steps that overflow are dropped."""
        return self._drop_overflow_update

    def get_update_cell(self) -> FixedLossScaleUpdateCell | None:
        """Return the cell for a train step; None without `drop_overflow_update`."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A loss scale that falls after an overflow and rises after many steps without one.

    Args:
        init_loss_scale: the scale to start with, at least 1.
        scale_factor: what the scale is multiplied with or divided by (not below 1).
        scale_window: raise the scale after so many steps without overflow.

    Raises:
        TypeError: if `scale_window` is no int.
        ValueError: if a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> manager = ms.amp.DynamicLossScaleManager(init_loss_scale=2**10)
        >>> manager.update_loss_scale(True)
        >>> manager.get_loss_scale()
        512.0
    """

    def __init__(self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000) -> None:
        owner = "DynamicLossScaleManager"
        if init_loss_scale < 1:
            raise ValueError(f"For '{owner}', 'init_loss_scale' must be at least 1, but got {init_loss_scale}.")
        check_positive_int(scale_window, "scale_window", owner)
        if scale_factor <= 0:
            raise ValueError(f"For '{owner}', 'scale_factor' must be above 0, but got {scale_factor}.")
        self.loss_scale = init_loss_scale
        self.scale_factor = self.increase_ratio = scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.scale_window = scale_window
        self.cur_iter = 1
        self.last_overflow_iter = 0
        self.bad_step = 0

    def get_loss_scale(self) -> float:
        """Return the scale now."""
        return self.loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Return True: steps that overflow are dropped."""
        return True

    def update_loss_scale(self, overflow: bool) -> None:
        """Change the scale.

        Args:
            overflow: whether the step overflowed.

        Raises:
            RuntimeError: after more than 1000 overflows in a row.
        """
        self.bad_step = self.bad_step + 1 if overflow else 0
        if overflow:
            self.last_overflow_iter = self.cur_iter
            self.loss_scale = max(1, self.loss_scale * self.decrease_ratio)
        elif not (self.cur_iter - self.last_overflow_iter) % self.scale_window:
            self.loss_scale *= self.increase_ratio
        if self.bad_step > _MOST_OVERFLOWS:
            raise RuntimeError(
                f"For 'DynamicLossScaleManager', {self.bad_step} steps in a row overflowed, more than "
                f"{_MOST_OVERFLOWS}: the loss is not finite, whatever its scale."
            )
        self.cur_iter += 1

    def state_dict(self) -> dict[str, Any]:
        """Return the scale and what was counted."""
        return {name: getattr(self, name) for name in _COUNTED}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go back to what `state_dict` returned."""
        for name in _COUNTED:
            setattr(self, name, state[name])

    def get_update_cell(self) -> DynamicLossScaleUpdateCell:
        """Return the cell for a train step."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
