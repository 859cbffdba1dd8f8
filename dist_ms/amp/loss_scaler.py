"""Loss scalers: scale a loss, unscale gradients, adjust the scale, in training loops written by hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from dist_ms.autograd.tree import map_tensors
from dist_ms.common.checks import check_positive_int, check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.ops.creating.casting import cast


def _grad_scale_map(scale_value: Tensor, inputs: Any) -> Any:
    """Multiply every tensor by the scale, in the tensor's type."""
    return map_tensors(lambda x: x * cast(scale_value, x.dtype), inputs)


def _grad_unscale_map(scale_value: Tensor, inputs: Any) -> Any:
    """Multiply every tensor by 1 / scale, in the tensor's type."""
    inverse = 1 / scale_value
    return map_tensors(lambda x: x * cast(inverse, x.dtype), inputs)


class LossScaler(ABC):
    """Base class of loss scalers.

    Examples:
        >>> import dist_ms as ms
        >>> class Eight(ms.amp.LossScaler):
        ...     def scale(self, inputs):
        ...         return inputs * 8.0
        ...     def unscale(self, inputs):
        ...         return tuple(x / 8.0 for x in inputs)
        ...     def adjust(self, grads_finite):
        ...         return False
        >>> print(Eight().scale(ms.Tensor(2.0)))
        16.0
    """

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """Return a loss (or several) times the scale."""

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """Return gradients divided by the scale."""

    @abstractmethod
    def adjust(self, grads_finite: Tensor) -> bool:
        """Change the scale after a step; return whether it may have changed."""


class StaticLossScaler(LossScaler):
    """A loss scale that stays.

    Args:
        scale_value: the scale, at least 1.

    Raises:
        TypeError: if it is no number.
        ValueError: if it is below 1.

    Examples:
        >>> import dist_ms as ms
        >>> scaler = ms.amp.StaticLossScaler(scale_value=2**10)
        >>> print(scaler.scale(ms.Tensor([1.0])), scaler.unscale((ms.Tensor([2048.0]),))[0])
        [1024.] [2.]
    """

    def __init__(self, scale_value: float) -> None:
        self.scale_value = _scale_parameter("StaticLossScaler", scale_value)

    def scale(self, inputs: Any) -> Any:
        """Return tensors times the scale.

        Args:
            inputs: a Tensor, or a tuple or list of them.
        """
        return _grad_scale_map(self.scale_value, inputs)

    def unscale(self, inputs: Any) -> Any:
        """Return tensors divided by the scale.

        Args:
            inputs: a Tensor, or a tuple or list of them.
        """
        return _grad_unscale_map(self.scale_value, inputs)

    def adjust(self, grads_finite: Tensor) -> bool:
        """Return False: the scale stays.

        Args:
            grads_finite: not looked at.
        """
        return False


class DynamicLossScaler(LossScaler):
    """A loss scale that falls after an overflow and rises after many steps without one.

    Args:
        scale_value: the scale to start with, at least 1.
        scale_factor: what the scale is multiplied with or divided by.
        scale_window: raise the scale after so many finite steps in a row.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if one is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> scaler = ms.amp.DynamicLossScaler(scale_value=2**10, scale_factor=2, scale_window=1)
        >>> scaler.adjust(ms.Tensor(False))
        True
        >>> print(scaler.scale_value.asnumpy())
        512.0
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        owner = "DynamicLossScaler"
        self.scale_value = _scale_parameter(owner, scale_value)
        self.scale_window = check_positive_int(scale_window, "scale_window", owner)
        self.scale_factor = check_positive_int(scale_factor, "scale_factor", owner)
        self.counter = Parameter(Tensor(np.int32(0)), name="counter")

    def scale(self, inputs: Any) -> Any:
        """Return tensors times the scale.

        Args:
            inputs: a Tensor, or a tuple or list of them.
        """
        return _grad_scale_map(self.scale_value, inputs)

    def unscale(self, inputs: Any) -> Any:
        """Return tensors divided by the scale.

        Args:
            inputs: a Tensor, or a tuple or list of them.
        """
        return _grad_unscale_map(self.scale_value, inputs)

    def adjust(self, grads_finite: Tensor) -> bool:
        """Divide the scale by the factor (not below 1) after an overflow, raise it when the window is full.

        Args:
            grads_finite: a bool Tensor: whether the step's gradients were finite.

        Returns:
            True.
        """
        is_finite = bool(grads_finite.asnumpy() if isinstance(grads_finite, Tensor) else grads_finite)
        scale, count = self.scale_value.asnumpy(), int(self.counter.asnumpy())
        factor = np.float32(self.scale_factor)
        if not is_finite:
            scale = np.maximum(np.float32(1), scale / factor)
        elif count == self.scale_window - 1:
            with np.errstate(over="ignore"):
                raised = scale * factor
            scale = raised if np.isfinite(raised) else scale
        self.scale_value.set_data(Tensor(np.float32(scale)))
        self.counter.set_data(Tensor(np.int32((count + 1) % self.scale_window * is_finite)))
        return True


def _scale_parameter(owner: str, value: Any) -> Parameter:
    """Return the scale as a parameter."""
    check_type(value, "scale_value", owner, (float, int))
    if value < 1:
        raise ValueError(f"For '{owner}', 'scale_value' must be at least 1, but got {value}.")
    return Parameter(Tensor(np.float32(value)), name="scale_value")
