"""`load`: a file of MINDIR as a graph for `nn.GraphCell`."""

from __future__ import annotations

import io
import os
from typing import Any

from dist_ms.train.checkpoint.encryption import Decrypted, check_key, mode_of
from dist_ms.train.checkpoint.sources import FileSection

__all__ = ["load"]

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
