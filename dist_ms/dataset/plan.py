"""A pipeline as text and as plain data."""

from __future__ import annotations

import importlib
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms.common.tensor import Tensor

if TYPE_CHECKING:
    from dist_ms.dataset.dataset import Dataset

_OURS = "dist_ms.dataset."


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
    if isinstance(value, dict) and any(isinstance(v, np.ndarray) for v in value.values()):
        return f"{{{', '.join(f'{k!r}: {_short(v)}' for k, v in value.items())}}}"
    if isinstance(value, tuple) and any(isinstance(v, np.ndarray) for v in value):
        return f"({', '.join(map(_short, value))})"
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
    owner = type(dataset).__name__
    return {
        "stage": owner,
        "arguments": [_plain(a, owner) for a in args if not _is_input(a, dataset)],
        "options": {k: _plain(v, owner) for k, v in kwargs.items()},
        "inputs": [described(d) for d in dataset.inputs],
    }


def _plain(value: Any, owner: str) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, (bool, int, float, str)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, list):
        return [_plain(v, owner) for v in value]
    if isinstance(value, tuple):
        return {"tuple": [_plain(v, owner) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[_plain(k, owner), _plain(v, owner)] for k, v in value.items()]}
    if isinstance(value, (np.ndarray, Tensor)):
        array = np.asarray(value)
        return {"array": array.tolist(), "dtype": array.dtype.str}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    path = f"{type(value).__module__}.{type(value).__qualname__}"
    if path.startswith(_OURS) and isinstance(value, Enum):
        return {"enum": path.removeprefix(_OURS), "name": value.name}
    if path.startswith(_OURS) and hasattr(value, "__dict__"):
        state = {k: _plain(v, owner) for k, v in vars(value).items()}
        return {"object": path.removeprefix(_OURS), "state": state}
    raise TypeError(
        f"For 'serialize', all that {owner} was made of must be plain values or objects of dist_ms.dataset, but got "
        f"{_short(value)} of {type(value).__name__}."
    )


def _value(plain: Any) -> Any:
    """The value that `_plain` wrote."""
    if isinstance(plain, list):
        return [_value(v) for v in plain]
    if not isinstance(plain, dict):
        return plain
    kind = next(iter(plain), None)
    if kind == "tuple":
        return tuple(_value(v) for v in plain["tuple"])
    if kind == "dict":
        return {_value(k): _value(v) for k, v in plain["dict"]}
    if kind == "array":
        return np.array(plain["array"], plain["dtype"])
    if kind == "dtype":
        return np.dtype(plain["dtype"])
    if kind == "enum":
        return _class(plain["enum"])[plain["name"]]
    if kind == "object":
        made = object.__new__(_class(plain["object"]))
        made.__dict__.update({k: _value(v) for k, v in plain["state"].items()})
        return made
    raise ValueError(f"For 'deserialize', every object must be what serialize() writes, but got {plain!r}.")


def _class(path: str) -> Any:
    """A class of this package by its module and name."""
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(_OURS + module), name, None)
    except ImportError:
        found = None
    if not isinstance(found, type) or not found.__module__.startswith(_OURS):
        raise ValueError(f"For 'deserialize', every object must be one of dist_ms.dataset, but got {path!r}.")
    return found


def made(description: Any, stages: dict[str, type]) -> Dataset:
    """The pipeline of a description.

    Args:
        description: what `described` returned.
        stages: the class of each stage by name.

    Raises:
        ValueError: if it is none.
    """
    wanted = {"stage", "arguments", "options", "inputs"}
    if not isinstance(description, dict) or description.keys() != wanted or description["stage"] not in stages:
        raise ValueError(
            f"For 'deserialize', a stage must have {sorted(wanted)}, and a known name, but got {description!r}."
        )
    inputs: list[Any] = [made(d, stages) for d in description["inputs"]]
    stage = description["stage"]
    if stage == "ZipDataset":
        inputs = [tuple(inputs)]
    elif stage == "ConcatDataset":
        inputs = [inputs]
    arguments = [_value(a) for a in description["arguments"]]
    return stages[stage](*inputs, *arguments, **{k: _value(v) for k, v in description["options"].items()})
