"""`export` to a file of MINDIR."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from dist_ms.common.atomic_file import replacing
from dist_ms.exporting.requests import check_network, default_names, together

__all__ = ["write_bytes", "write_mindir"]


def write_bytes(path: str, content: bytes) -> None:
    """Write a file aside and put it in its place; its folder is made if it is missing."""
    os.makedirs(os.path.dirname(os.path.realpath(path)), mode=0o700, exist_ok=True)
    with replacing(path) as file:
        file.write(content)


def write_mindir(
    owner: str,
    net: Any,
    inputs: tuple,
    file_name: Any,
    seal: Callable[[bytes], bytes] | None = None,
    change: Callable[[Any], Any] | None = None,
    alone: bool = False,
) -> None:
    """Check the arguments of an export, make the model and write it; rank 0 writes for all.

    Args:
        owner: the name used in errors.
        net: a Cell.
        inputs: what to call it with; unknown lengths are -1.
        file_name: the file; '.mindir' is added if it is missing.
        seal: encrypts the file's content.
        change: is given the model's message, which it may change.
        alone: whether this rank alone calls it, and writes.

    Raises:
        TypeError, ValueError: if an argument does not fit.
        RuntimeError: if an operation, or a way through the network, cannot be exported.
    """
    path = check_network(owner, net, file_name, ".mindir")

    def make() -> bytes:
        from dist_ms.mindir.exporting import model_of

        model = model_of(owner, net, inputs, default_names(owner, net, inputs))
        if change is not None:
            change(model)
        return model.SerializeToString()

    def put(content: bytes) -> None:
        write_bytes(path, content if seal is None else seal(content))

    if alone:
        put(make())
    else:
        together(owner, make, put)
