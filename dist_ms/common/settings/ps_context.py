"""The parameter-server settings of a process. Setting them starts nothing."""

from __future__ import annotations

from typing import Any

from dist_ms.common.absent import did_you_mean
from dist_ms.common.checks import complaint
from dist_ms.common.settings.value_checks import Check, ValueChecks

_checks = ValueChecks("set_ps_context")
_bool, _str, _one_of = _checks.of_type(bool), _checks.of_type(str), _checks.one_of
_port, _count = _checks.ints(0, 65535), _checks.ints(0, 2**32 - 1)


def _secret(key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(complaint(key, "set_ps_context", "a str", type(value).__name__))


_KEYS: dict[str, tuple[Any, Check]] = {
    "enable_ps": (False, _bool),
    "config_file_path": ("", _str),
    "scheduler_manage_port": (11202, _port),
    "enable_ssl": (False, _bool),
    "client_password": ("", _secret),
    "server_password": ("", _secret),
    "server_mode": ("", _one_of("PARAMETER_SERVER")),
    "ms_role": ("MS_NOT_PS", _one_of("MS_WORKER", "MS_PSERVER", "MS_SERVER", "MS_SCHED")),
    "worker_num": (0, _count),
    "server_num": (0, _count),
    "scheduler_ip": ("127.0.0.1", _str),
    "scheduler_port": (6667, _port),
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
