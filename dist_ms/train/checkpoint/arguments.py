"""What the arguments of the save and load functions must be, and what they come to."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_choice, check_string
from dist_ms.train.checkpoint.encryption import check_key
from dist_ms.train.checkpoint.sealed_file import Seal
from dist_ms.train.checkpoint.shards import INDEX

_FORMATS = ("ckpt", "safetensors")
_ASYNC_METHODS = {True: "thread", False: None, "thread": "thread", "process": "process"}
_log = logging.getLogger(__name__)


def path_to_write(owner: str, ckpt_file_name: Any, file_format: Any) -> str:
    """Return the absolute path to save to, with the extension of the format.

    A name that ends with the format's own name stays as it is, dot or not, as in MindSpore.

    Raises:
        TypeError: if the name is no str.
        ValueError: if the format is unknown.
        IsADirectoryError: if the name is that of a folder.
    """
    check_string(ckpt_file_name, "ckpt_file_name", owner)
    _check_format(owner, file_format)
    path = os.path.abspath(ckpt_file_name)
    if os.path.isdir(path):
        raise IsADirectoryError(
            f"For '{owner}', 'ckpt_file_name' must name a file, but '{ckpt_file_name}' is a folder."
        )
    return path if path.endswith(file_format) else f"{path}.{file_format}"


def file_to_read(owner: str, ckpt_file_name: Any, file_format: Any) -> Any:
    """Return the absolute path to load, or the `io.BytesIO` itself.

    Raises:
        TypeError: if it is neither, or content in memory for the format 'ckpt'.
        ValueError: if the format is unknown or not that of the name.
    """
    _check_format(owner, file_format)
    if isinstance(ckpt_file_name, io.BytesIO):
        if file_format != "safetensors":
            raise TypeError(f"For '{owner}', an io.BytesIO must hold safetensors, but got format='{file_format}'.")
        return ckpt_file_name
    check_string(ckpt_file_name, "ckpt_file_name", owner)
    if not ckpt_file_name.endswith((file_format, INDEX)):
        raise ValueError(
            f"For '{owner}', 'ckpt_file_name' must end with '.{file_format}', as 'format' says, "
            f"but got '{ckpt_file_name}'."
        )
    return os.path.abspath(ckpt_file_name)


def format_of(ckpt_file_name: Any, file_format: Any) -> Any:
    """Return the format of a file to read: its name tells safetensors where nothing else is said."""
    named = isinstance(ckpt_file_name, str) and ckpt_file_name.endswith((".safetensors", INDEX))
    return "safetensors" if named and file_format == "ckpt" else file_format


def _check_format(owner: str, file_format: Any) -> None:
    check_choice(file_format, "format", owner, _FORMATS)


def check_flag(value: Any, name: str, owner: str) -> None:
    """Require a bool; MindSpore raises a ValueError for these flags.

    Raises:
        ValueError: for anything else.
    """
    if not isinstance(value, bool):
        raise ValueError(f"For '{owner}', '{name}' must be a bool, but got {value!r}.")


def async_method(owner: str, async_save: Any) -> str | None:
    """Return 'thread', 'process', or None for a save that is done on return.

    Raises:
        TypeError: if `async_save` is neither bool nor str.
        ValueError: if it is another str.
    """
    if not isinstance(async_save, (bool, str)):
        raise TypeError(f"For '{owner}', 'async_save' must be a bool or a str, but got {type(async_save).__name__}.")
    if async_save not in _ASYNC_METHODS:
        raise ValueError(f"For '{owner}', 'async_save' must be a bool, 'thread' or 'process', but got '{async_save}'.")
    return _ASYNC_METHODS[async_save]


def seal_of(owner: str, verb: str, key: Any, mode: Any, crc_check: Any, file_format: str) -> Seal:
    """Return how a file is protected.

    Args:
        owner: the public function.
        verb: 'enc' or 'dec', with which the names of the key and mode arguments begin.
        key: the key or None.
        mode: the mode.
        crc_check: whether there is a checksum.
        file_format: safetensors has no encryption.

    Raises:
        ValueError: if one of them is wrong, or they do not go together.
    """
    check_flag(crc_check, "crc_check", owner)
    check_key(owner, f"{verb}_key", key, f"{verb}_mode", mode)
    if key is not None and file_format == "safetensors":
        raise ValueError(
            f"For '{owner}', '{verb}_key' must be None with format='safetensors', "
            "which has no encryption: use format='ckpt'."
        )
    return Seal(key, mode, crc_check)


def selection(owner: str, filter_prefix: Any, specify_prefix: Any, choice_func: Any) -> Callable[[str], bool]:
    """Return the function that says which names to load.

    Raises:
        TypeError: if a prefix is no str, or list or tuple of them.
        ValueError: if a prefix or list of prefixes is empty, or `choice_func` is no function.
    """
    without = _prefixes(filter_prefix, "filter_prefix", owner)
    only = _prefixes(specify_prefix, "specify_prefix", owner)
    if without is not None or only is not None:
        return lambda name: not (without and name.startswith(without)) and (only is None or name.startswith(only))
    if choice_func is None:
        return lambda name: True
    if not callable(choice_func):
        raise ValueError(f"For '{owner}', 'choice_func' must be a function, but got {choice_func!r}.")
    return choice_func


def _prefixes(value: Any, name: str, owner: str) -> tuple[str, ...] | None:
    """Check one of the prefix arguments and return the prefixes."""
    if value is None:
        return None
    _log.warning("For '%s', '%s' is deprecated: use 'choice_func'.", owner, name)
    if not isinstance(value, (str, list, tuple)):
        raise TypeError(
            f"For '{owner}', '{name}' must be a str, or a list or tuple of them, but got {type(value).__name__}."
        )
    prefixes = (value,) if isinstance(value, str) else tuple(value)
    if not prefixes:
        raise ValueError(f"For '{owner}', '{name}' must hold at least one prefix, but is empty.")
    for prefix in prefixes:
        if not isinstance(prefix, str):
            raise TypeError(f"For '{owner}', each prefix in '{name}' must be a str, but got {type(prefix).__name__}.")
        if not prefix:
            raise ValueError(f"For '{owner}', '{name}' must not be '', which every name begins with.")
    return prefixes
