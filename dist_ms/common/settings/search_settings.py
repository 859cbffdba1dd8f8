"""Settings of MindSpore's search for a parallel strategy: checked and kept; there is no search here to read them."""

from __future__ import annotations

from typing import Any

from dist_ms.common.absent import did_you_mean
from dist_ms.common.checks import complaint

__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]

_DEFAULTS: dict[str, Any] = {
    "fully_use_devices": False,
    "elementwise_op_strategy_follow": False,
    "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.1,
    "tensor_slice_align_enable": False,
    "tensor_slice_align_size": 16,
}
_values = dict(_DEFAULTS)


def _known(key: str, owner: str) -> None:
    if key not in _DEFAULTS:
        raise ValueError(f"For '{owner}', the key {key!r} is not known.{did_you_mean(key, _DEFAULTS)}")


def set_algo_parameters(**kwargs: Any) -> None:
    """Set options of MindSpore's search for a parallel strategy, so that its scripts run; training does not read them.

    Args:
        kwargs: fully_use_devices, elementwise_op_strategy_follow, enable_algo_approxi, tensor_slice_align_enable
            (bool, default False); algo_approxi_epsilon (float in (0, 1], default 0.1); tensor_slice_align_size
            (int in [1, 1024], default 16).

    Raises:
        TypeError: if a value has the wrong type.
        ValueError: if a key is unknown or a value out of range.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_algo_parameters(fully_use_devices=True)
        >>> ms.get_algo_parameters("fully_use_devices")
        True
        >>> ms.reset_algo_parameters()
    """
    for key, value in kwargs.items():
        _known(key, "set_algo_parameters")
        kind = type(_DEFAULTS[key])
        if type(value) is not kind:
            raise TypeError(complaint(key, "set_algo_parameters", f"of type {kind.__name__}", type(value).__name__))
        if kind is float and not 0 < value <= 1:
            raise ValueError(complaint(key, "set_algo_parameters", "in (0, 1]", value))
        if kind is int and not 1 <= value <= 1024:
            raise ValueError(complaint(key, "set_algo_parameters", "in [1, 1024]", value))
    _values.update(kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """Return what `set_algo_parameters` set, or the default.

    Raises:
        ValueError: if the key is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> ms.get_algo_parameters("tensor_slice_align_size")
        16
    """
    _known(attr_key, "get_algo_parameters")
    return _values[attr_key]


def reset_algo_parameters() -> None:
    """Restore the defaults.

    Examples:
        >>> import dist_ms as ms
        >>> ms.reset_algo_parameters()
    """
    _values.update(_DEFAULTS)
