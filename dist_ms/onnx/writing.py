"""A model as a file: aside first, checked, and then in one step in its place."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

from dist_ms.common.atomic_file import replacing
from dist_ms.onnx.library import onnx

__all__ = ["MOST_BYTES", "write"]

MOST_BYTES = (1 << 31) - (1 << 20)  # what a protobuf message may have, less the room its nodes take


def write(model: Any, path: str, seal: Callable[[bytes], bytes] | None = None) -> None:
    """Check a model and write it; its parameters go to a second file if there are too many.

    Args:
        model: what `onnx.helper.make_model` made.
        path: the file.
        seal: encrypts the content.

    Raises:
        ValueError: if a model that needs a second file is to be encrypted.
        OSError: if the file cannot be written.
    """
    os.makedirs(os.path.dirname(os.path.realpath(path)), mode=0o700, exist_ok=True)
    size = sum(len(t.raw_data) for t in model.graph.initializer)
    if size > MOST_BYTES:
        if seal is not None:
            raise ValueError(f"For 'export', a model that is encrypted must be below 2 GB, but it has {size} bytes.")
        _write_two(model, path)
        return
    onnx.checker.check_model(model, full_check=True)
    content = model.SerializeToString()
    with replacing(path) as file:
        file.write(content if seal is None else seal(content))


def _write_two(model: Any, path: str) -> None:
    """Write the parameters to `<path>.data`, then the rest; the model takes its place last."""
    folder, name = os.path.split(os.path.realpath(path))
    aside = tempfile.mkdtemp(prefix=f".{name}.", dir=folder)
    try:
        data = f"{name}.data"
        whole = os.path.join(aside, name)
        onnx.save_model(model, whole, save_as_external_data=True, all_tensors_to_one_file=True, location=data)
        onnx.checker.check_model(whole, full_check=False)
        for part in (data, name):
            os.chmod(os.path.join(aside, part), 0o400)
            os.replace(os.path.join(aside, part), os.path.join(folder, part))
    finally:
        shutil.rmtree(aside, ignore_errors=True)
