"""A pipeline as text and as plain data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dist_ms.dataset.dataset import Dataset


def tree(dataset: Dataset, indent: str = "") -> str:
    """The stages as indented lines, the last stage first."""
    sampling = getattr(dataset, "sampling", None)
    shards = "" if sampling is None or sampling.shards == 1 else _shard(sampling)
    line = f"{indent}{type(dataset).__name__}({_arguments(dataset)}){shards}"
    return "\n".join([line, *(tree(d, indent + "  ") for d in dataset.inputs)])


def _shard(sampling: Any) -> str:
    shards, shard = sampling.shard()
    return f"  # shard {shard} of {shards}{'' if sampling.num_shards else ', as the rank has'}"


def _arguments(dataset: Dataset) -> str:
    args, kwargs = dataset._made_of
    shown = [_short(a) for a in args if not _is_input(a, dataset)]
    return ", ".join([*shown, *(f"{k}={_short(v)}" for k, v in kwargs.items() if v is not None)])


def _is_input(value: Any, dataset: Dataset) -> bool:
    values = value if isinstance(value, (list, tuple)) else [value]
    return bool(values) and all(any(v is d for d in dataset.inputs) for v in values)


def _short(value: Any) -> str:
    """A value in a few characters."""
    if isinstance(value, np.ndarray):
        return f"<{value.dtype} {value.shape}>"
    if isinstance(value, (list, tuple)) and value and callable(value[0]):
        return f"[{', '.join(map(_short, value))}]"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    if hasattr(value, "__len__") and not isinstance(value, (str, dict)) and len(value) > 8:
        return f"<{type(value).__name__} of {len(value)}>"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def described(dataset: Dataset) -> dict:
    """The stages as nested dicts of plain values: each with its type, arguments and inputs.

    Raises:
        TypeError: if a stage was made of what is no plain value, such as a function.
    """
    args, kwargs = dataset._made_of
    inputs = [described(d) for d in dataset.inputs]
    plain = [_plain(a, dataset) for a in args if not _is_input(a, dataset)]
    return {
        "stage": type(dataset).__name__,
        "arguments": plain,
        "options": {k: _plain(v, dataset) for k, v in kwargs.items()},
        "inputs": inputs,
    }


def _plain(value: Any, dataset: Dataset) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(v, dataset) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v, dataset) for k, v in value.items()}
    made_of = getattr(value, "_made_of", None) or _state(value)
    if made_of is not None:
        module, name = type(value).__module__, type(value).__name__
        if module.startswith("dist_ms.dataset."):
            args, kwargs = made_of
            return {
                "object": f"{module.removeprefix('dist_ms.dataset.')}.{name}",
                "arguments": [_plain(a, dataset) for a in args],
                "options": {k: _plain(v, dataset) for k, v in kwargs.items()},
            }
    raise TypeError(
        f"For 'serialize', every argument of {type(dataset).__name__} must be a plain value or an object of "
        f"dist_ms.dataset, but got {_short(value)} of {type(value).__name__}."
    )


def _state(value: Any) -> tuple | None:
    return None


def written(dataset: Dataset, filename: str) -> str:
    """The described stages as JSON text, written to a file where one is named."""
    text = json.dumps(described(dataset), indent=2)
    if filename:
        with open(filename, "w", encoding="utf-8") as file:
            file.write(text)
    return text
