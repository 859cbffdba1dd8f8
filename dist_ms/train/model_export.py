"""`export`: a network as a file that runs without dist_ms."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_choice
from dist_ms.onnx.entry import write_model

__all__ = ["export"]

_FORMATS = ("AIR", "ONNX", "MINDIR")
_OPTIONS = ("input_names", "output_names", "dynamic_axes")
_MINDIR_OPTIONS = ("dataset", "incremental", "custom_func")


def export(net: Any, *inputs: Any, file_name: str, file_format: str = "ONNX", **kwargs: Any) -> None:
    """Write a network to a file that other programs run.

    Args:
        net: a Cell.
        inputs: what to call it with; lengths that are open are None in `Tensor(shape=[None, 8], dtype=ms.float32)`.
        file_name: the file; '.onnx' is added if it is missing.
        file_format: "ONNX". MindSpore's own formats, "MINDIR" and "AIR", are refused.
        kwargs: `input_names`, `output_names` and `dynamic_axes` of `onnx.export`; `enc_key`, bytes, with a function
            `enc_mode(content, enc_key)` that returns the content encrypted.

    Raises:
        ImportError: if the package `onnx` is missing.
        NotImplementedError: if the network is to be obfuscated.
        ValueError: if `net` is no Cell, or the format or an option is another.
        RuntimeError: if the network cannot be exported; see `onnx.export`.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> ms.export(ms.nn.ReLU(), ms.ops.ones((2, 3)), file_name=folder + "/relu", file_format="ONNX")
        >>> os.listdir(folder)
        ['relu.onnx']
    """
    if "obf_func" in kwargs:
        raise NotImplementedError("For 'export', 'obf_func' must be left out: obfuscated files are not written.")
    check_choice(file_format, "file_format", "export", _FORMATS)
    if file_format != "ONNX":
        raise ValueError(
            f"For 'export', 'file_format' must be 'ONNX', but got {file_format!r}: only MindSpore writes its own "
            "formats. Save the parameters with `save_checkpoint`, load them into the same network in MindSpore, and "
            "call its `export` there; or export to ONNX, which other programs run."
        )
    for name in kwargs:
        if name not in (*_OPTIONS, "enc_key", "enc_mode"):
            of = "belongs to files of MINDIR" if name in _MINDIR_OPTIONS else "is unknown"
            raise ValueError(f"For 'export', the options must be among {_OPTIONS}, but got {name!r}, which {of}.")
    names, results, axes = (kwargs.get(option) for option in _OPTIONS)
    write_model("export", net, inputs, file_name, names, results, axes, seal=_seal(kwargs))


def _seal(kwargs: dict) -> Any:
    """What encrypts the file, or None."""
    if "enc_key" not in kwargs:
        return None
    key, encrypt = kwargs["enc_key"], kwargs.get("enc_mode", "AES-GCM")
    if not isinstance(key, bytes):
        raise TypeError(f"For 'export', 'enc_key' must be bytes, but got {type(key).__name__}.")
    if not callable(encrypt):
        raise ValueError(
            f"For 'export', 'enc_mode' must be a function of the content and the key for ONNX, but got {encrypt!r}."
        )
    return lambda content: encrypt(content, key)
