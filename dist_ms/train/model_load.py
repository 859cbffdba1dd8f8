"""`load`: a file of MINDIR as a graph for `nn.GraphCell`; `load_mindir` and `save_mindir`: as a protobuf message."""

from __future__ import annotations

import io
import os
from typing import Any

from dist_ms.mindir.entry import write_bytes
from dist_ms.train.checkpoint.encryption import Decrypted, check_key, mode_of
from dist_ms.train.checkpoint.sources import FileSection

__all__ = ["load", "load_mindir", "save_mindir"]

_OPTIONS = ("dec_key", "dec_mode")


def load(file_name: str, **kwargs: Any) -> Any:
    """Read a network from a file of MINDIR, which `export` or MindSpore wrote.

    Args:
        file_name: the file, whose name ends in '.mindir'.
        kwargs: `dec_key`, bytes, and `dec_mode`: "AES-GCM", "AES-CBC", "SM4-CBC", or a function
            `dec_mode(file_name, dec_key)` that returns the content.

    Returns:
        A graph for `nn.GraphCell`.

    Raises:
        NotImplementedError: if the network has an operation that is not available, or branches and loops of its own.
        ValueError: if the name is none of a file of MINDIR, or a key does not fit.
        RuntimeError: if the file is none of MINDIR, damaged, or encrypted with another key.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> name = tempfile.mkdtemp() + "/net.mindir"
        >>> ms.export(ms.nn.ReLU(), ms.ops.ones(3), file_name=name, file_format="MINDIR")
        >>> net = ms.nn.GraphCell(ms.load(name))
        >>> print(net(ms.Tensor([-1.0, 0.0, 1.0])))
        [0. 0. 1.]
    """
    for name in kwargs:
        if name == "obf_func":
            raise NotImplementedError("For 'load', 'obf_func' must be left out: obfuscated files are not read.")
        if name not in _OPTIONS:
            raise ValueError(f"For 'load', the options must be among {_OPTIONS}, but got {name!r}.")
    if not isinstance(file_name, str) or not file_name.endswith(".mindir"):
        raise ValueError(
            f"For 'load', 'file_name' must be a str, the name of a file that ends in '.mindir', but got {file_name!r}."
        )
    if not os.path.isfile(file_name):
        raise ValueError(f"For 'load', the file 'file_name' must exist, but there is none at {file_name}.")
    content = _content(file_name, kwargs.get("dec_key"), kwargs.get("dec_mode", "AES-GCM"))
    from dist_ms.mindir.loading import graph_of

    try:
        return graph_of(content)
    except NotImplementedError as error:
        raise NotImplementedError(f"For 'load', {file_name} cannot be run: {_end(error)}.") from error
    except ValueError as error:
        raise RuntimeError(f"For 'load', {file_name} must be a whole file of MINDIR, but {_end(error)}.") from error


def load_mindir(file_name: str) -> Any:
    """Read the protobuf message of a file of MINDIR.

    Args:
        file_name: the file.

    Returns:
        The message, with MindSpore's names of fields; `user_info` is a table of texts.

    Raises:
        ValueError: if there is no such file, or it is none of MINDIR.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> name = tempfile.mkdtemp() + "/net.mindir"
        >>> ms.export(ms.nn.ReLU(), ms.ops.ones(3), file_name=name, file_format="MINDIR")
        >>> model = ms.load_mindir(name)
        >>> model.user_info["version"] = "7"
        >>> ms.save_mindir(model, name)
        >>> ms.load_mindir(name).user_info["version"]
        '7'
    """
    from dist_ms.mindir.messages import parsed

    if not isinstance(file_name, str) or not os.path.isfile(file_name):
        raise ValueError(f"For 'load_mindir', 'file_name' must be the name of a file, but got {file_name!r}.")
    with open(file_name, "rb") as file:
        content = file.read()
    try:
        return parsed(content)
    except ValueError as error:
        raise ValueError(f"For 'load_mindir', {file_name} must be a file of MINDIR, but {_end(error)}.") from error


def save_mindir(model: Any, file_name: str) -> None:
    """Write a protobuf message to a file of MINDIR.

    Args:
        model: what `load_mindir` returned.
        file_name: the file; '.mindir' is added if it is missing.

    Raises:
        TypeError: if `model` is no such message.
        ValueError: if `file_name` is no name.

    Examples:
        See `load_mindir`.
    """
    from dist_ms.mindir.messages import is_model

    if not is_model(model):
        raise TypeError(
            f"For 'save_mindir', 'model' must be what `load_mindir` returned, but got {type(model).__name__}."
        )
    if not isinstance(file_name, str) or not file_name:
        raise ValueError(f"For 'save_mindir', 'file_name' must be the name of a file, but got {file_name!r}.")
    write_bytes(file_name if file_name.endswith(".mindir") else f"{file_name}.mindir", model.SerializeToString())


def _content(path: str, key: Any, mode: Any) -> bytes:
    """The plain bytes of a file."""
    if callable(mode) and key is not None:
        if not isinstance(key, bytes):
            raise ValueError(f"For 'load', 'dec_key' must be bytes, but got {type(key).__name__}.")
        return mode(path, key)
    check_key("load", "dec_key", key, "dec_mode", mode)
    with open(path, "rb") as file:
        content = file.read()
    found = mode_of(io.BytesIO(content))
    if key is None:
        if found is not None:
            raise RuntimeError(f"For 'load', {path} is encrypted with {found}: give 'dec_key' and dec_mode='{found}'.")
        return content
    if found != mode:
        told = "it is not encrypted" if found is None else f"it is encrypted with {found}"
        raise RuntimeError(f"For 'load', 'dec_mode' must be that of {path}, but got {mode!r}, and {told}.")
    try:
        return Decrypted(FileSection(io.BytesIO(content), len(content)), key, mode).read(len(content))
    except ValueError as error:
        raise RuntimeError(f"For 'load', {path} cannot be decrypted: {_end(error)}.") from error


def _end(error: Exception) -> str:
    """The text of an error as the end of a sentence."""
    return str(error).rstrip(".")
