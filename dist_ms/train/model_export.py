"""`export`: a network as a file that runs without dist_ms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_choice
from dist_ms.mindir.entry import write_mindir
from dist_ms.onnx.entry import write_model
from dist_ms.train.checkpoint.encryption import check_key, encrypted

__all__ = ["export"]

_FORMATS = ("AIR", "ONNX", "MINDIR")
_OPTIONS = {"ONNX": ("input_names", "output_names", "dynamic_axes"), "MINDIR": ("custom_func",)}
_KEYS = ("enc_key", "enc_mode")
_REFUSED = {
    "obf_func": "obfuscated files are not written",
    "dataset": "preprocessing is not written, give `inputs` as the network takes them",
    "incremental": "a file has all parameters",
}


def export(net: Any, *inputs: Any, file_name: str, file_format: str = "ONNX", **kwargs: Any) -> None:
    """Write a network to a file that other programs run.

    Args:
        net: a Cell.
        inputs: what to call it with; lengths that are open are None in `Tensor(shape=[None, 8], dtype=ms.float32)`.
        file_name: the file; '.onnx' or '.mindir' is added if it is missing.
        file_format: "ONNX", or "MINDIR", which MindSpore and `load` read. "AIR" is refused.
        kwargs: for ONNX `input_names`, `output_names` and `dynamic_axes` of `onnx.export`; for MINDIR
            `custom_func(model)`, which may change the protobuf message; for both `enc_key`, bytes, and `enc_mode`, a
            function `enc_mode(content, enc_key)` that returns the content encrypted, or for MINDIR "AES-GCM",
            "AES-CBC" or "SM4-CBC".

    Raises:
        ImportError: if ONNX is wanted and the package `onnx` is missing.
        NotImplementedError: for an option that is not available.
        ValueError: if `net` is no Cell, or the format or an option is another.
        RuntimeError: if the network cannot be exported; see `onnx.export`.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> ms.export(ms.nn.ReLU(), ms.ops.ones((2, 3)), file_name=folder + "/relu", file_format="MINDIR")
        >>> os.listdir(folder)
        ['relu.mindir']
    """
    check_choice(file_format, "file_format", "export", _FORMATS)
    if file_format == "AIR":
        raise ValueError(
            "For 'export', 'file_format' must be 'ONNX' or 'MINDIR', but got 'AIR', the form of Ascend's compiler: "
            "export to MINDIR, which MindSpore's tools convert."
        )
    options = _OPTIONS[file_format]
    for name, value in kwargs.items():
        if name in _REFUSED and value is not None and value is not False:
            raise NotImplementedError(f"For 'export', '{name}' must be left out: {_REFUSED[name]}.")
        if name not in (*options, *_KEYS, *_REFUSED):
            raise ValueError(
                f"For 'export', the options for {file_format} must be among {(*options, *_KEYS)}, but got {name!r}."
            )
    seal = _seal(file_format, kwargs)
    if file_format == "MINDIR":
        change = kwargs.get("custom_func")
        if change is not None and not callable(change):
            raise TypeError(f"For 'export', 'custom_func' must be a function of the model, but got {change!r}.")
        write_mindir("export", net, inputs, file_name, seal, change)
        return
    names, results, axes = (kwargs.get(option) for option in options)
    write_model("export", net, inputs, file_name, names, results, axes, seal=seal)


def _seal(file_format: str, kwargs: dict) -> Callable[[bytes], bytes] | None:
    """What encrypts the file, or None."""
    if kwargs.get("enc_key") is None:
        return None
    key, mode = kwargs["enc_key"], kwargs.get("enc_mode", "AES-GCM")
    if not isinstance(key, bytes):
        raise TypeError(f"For 'export', 'enc_key' must be bytes, but got {type(key).__name__}.")
    if callable(mode):
        return lambda content: mode(content, key)
    if file_format == "ONNX":
        raise ValueError(
            f"For 'export', 'enc_mode' must be a function of the content and the key for ONNX, but got {mode!r}."
        )
    check_key("export", "enc_key", key, "enc_mode", mode)
    return lambda content: b"".join(encrypted([content], key, mode))
