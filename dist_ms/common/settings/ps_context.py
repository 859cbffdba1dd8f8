"""The parameter-server settings of a process. Setting them starts nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.absent import did_you_mean

_SET = "For 'set_ps_context', "


def _bool(key: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{_SET}'{key}' must be a bool, but got {value!r}.")


def _str(key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{_SET}'{key}' must be a str, but got {value!r}.")


def _secret(key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{_SET}'{key}' must be a str, but got {type(value).__name__}.")


def _number(high: int) -> Callable[[str, Any], None]:
    def check(key: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{_SET}'{key}' must be an int, but got {value!r}.")
        if not 0 <= value <= high:
            raise ValueError(f"{_SET}'{key}' must be in [0, {high}], but got {value}.")

    return check


def _one_of(*choices: str) -> Callable[[str, Any], None]:
    def check(key: str, value: Any) -> None:
        _str(key, value)
        if value not in choices:
            wanted = ", ".join(map(repr, choices))
            raise ValueError(f"{_SET}'{key}' must be one of {wanted}, but got {value!r}.")

    return check


_KEYS: dict[str, tuple[Any, Callable[[str, Any], None]]] = {
    "enable_ps": (False, _bool),
    "config_file_path": ("", _str),
    "scheduler_manage_port": (11202, _number(65535)),
    "enable_ssl": (False, _bool),
    "client_password": ("", _secret),
    "server_password": ("", _secret),
    "server_mode": ("", _one_of("PARAMETER_SERVER")),
    "ms_role": ("MS_NOT_PS", _one_of("MS_WORKER", "MS_PSERVER", "MS_SERVER", "MS_SCHED")),
    "worker_num": (0, _number(2**32 - 1)),
    "server_num": (0, _number(2**32 - 1)),
    "scheduler_ip": ("127.0.0.1", _str),
    "scheduler_port": (6667, _number(65535)),
}
_SECRET = ("client_password", "server_password")

_values: dict[str, Any] = {}


def set_ps_context(**kwargs: Any) -> None:
    """Set parameter-server settings, before init().

    Nothing is set when any key or value is wrong. Without servers (none were started) training
    is the same as without this call.

    Args:
        enable_ps (bool): use parameter servers where some were started. Default False.
        config_file_path (str): a file of recovery settings. Default "".
        scheduler_manage_port (int): a port, 0 to 65535. Default 11202.
        enable_ssl (bool): encrypt the traffic. Default False.
        client_password (str): the secret of the client's certificate.
        server_password (str): the secret of the server's certificate.
        **kwargs: server_mode, ms_role, worker_num, server_num, scheduler_ip, scheduler_port.

    Raises:
        TypeError: if a value is of the wrong type.
        ValueError: if a key is unknown or a value out of range.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_ps_context(enable_ps=True)
        >>> ms.get_ps_context("enable_ps")
        True
        >>> ms.reset_ps_context()
    """
    for key, value in kwargs.items():
        if key not in _KEYS:
            raise ValueError(f"Set PS context keyword {key} is not recognized!{did_you_mean(key, _KEYS)}")
        _KEYS[key][1](key, value)
    _values.update(kwargs)


def get_ps_context(attr_key: str) -> Any:
    """Return a parameter-server setting.

    Args:
        attr_key: the key, as in `set_ps_context`. Passwords cannot be read.

    Raises:
        ValueError: if the key is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> ms.get_ps_context("scheduler_port")
        6667
    """
    if attr_key not in _KEYS or attr_key in _SECRET:
        raise ValueError(f"Get PS context keyword {attr_key} is not recognized!")
    return _values.get(attr_key, _KEYS[attr_key][0])


def reset_ps_context() -> None:
    """Switch parameter servers off; the other settings stay, as in MindSpore.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_ps_context(enable_ps=True)
        >>> ms.reset_ps_context()
        >>> ms.get_ps_context("enable_ps")
        False
    """
    _values.pop("enable_ps", None)
