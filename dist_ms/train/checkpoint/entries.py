"""What a checkpoint holds: from the objects a user saves to names with arrays and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.random.generator import Generator
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.train.checkpoint.ckpt_format import LONGEST_NAME

_OWNER = "save_checkpoint"
_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def entries_of(
    save_obj: Any,
    append_dict: dict[str, Any] | None = None,
    choice_func: Callable[[str], bool] | None = None,
) -> dict[str, np.ndarray | str]:
    """Return what to write, in order: name to array (sharing the tensor's memory) or text.

    Args:
        save_obj: a Cell, a list of Parameters, a list of {"name": str, "data": Tensor}, or a
            dict from name to Parameter, Tensor or str.
        append_dict: further named values; one with the name of a parameter replaces it.
        choice_func: told a name of `save_obj`, says whether to save it.

    Raises:
        TypeError: if `save_obj` or `append_dict` has another form, or a value is a table of rows by keys.
        ValueError: if a number in `append_dict` does not fit into 64 bits, or a name is too long.
        RuntimeError: if parameter servers alone have values that would be saved.
    """
    chosen = [pair for pair in _named_values(save_obj) if choice_func is None or choice_func(pair[0])]
    _refuse_served(chosen)
    for name, value in chosen:
        if hasattr(value, "export_data"):
            raise TypeError(
                f"For '{_OWNER}', everything saved must be a tensor, but '{name}' is a {type(value).__name__}, "
                "whose rows a checkpoint would not hold: save what its 'export_data' returns, and leave it out with "
                "'choice_func'."
            )
    entries = {name: value if isinstance(value, str) else _array(value) for name, value in chosen}
    entries.update(_appended(append_dict))
    too_long = next((name for name in entries if len(name) > LONGEST_NAME), None)
    if too_long is not None:
        raise ValueError(
            f"For '{_OWNER}', a name must have at most {LONGEST_NAME} characters, "
            f"but got {len(too_long)}: {too_long[:40]}..."
        )
    return entries


def _named_values(save_obj: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of what the user saves."""
    if isinstance(save_obj, dict):
        yield from _of_dict(save_obj)
    elif isinstance(save_obj, list):
        yield from _of_list(save_obj)
    elif isinstance(save_obj, Cell):
        for _, parameter in save_obj.parameters_and_names():
            yield parameter.name, parameter
    else:
        raise TypeError(
            f"For '{_OWNER}', 'save_obj' must be a Cell, a list or a dict, but got {type(save_obj).__name__}."
        )


def _refuse_served(chosen: list[tuple[str, Any]]) -> None:
    """Refuse a file that would lack what only parameter servers have."""
    names = [name for name, value in chosen if isinstance(value, Parameter) and value.saved_by_servers]
    if not names:
        return
    shown = ", ".join(map(repr, names[:4])) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    raise RuntimeError(
        f"For '{_OWNER}', everything saved must be on this worker, but got {shown}, which parameter servers hold "
        "(tables too large for a worker, and the optimizer's states of all tables). Save those with "
        "dist_ms.parallel.save_servers(folder, optimizer) and leave them out here: "
        "choice_func=lambda name: name not in (...), or CheckpointConfig(saved_network=...) for a callback."
    )


def _of_dict(save_obj: dict) -> Iterator[tuple[str, Any]]:
    for name, value in save_obj.items():
        if not isinstance(name, str) or not isinstance(value, (Tensor, np.ndarray, str)):
            raise TypeError(
                f"For '{_OWNER}', a 'save_obj' that is a dict must map str to Parameter, Tensor "
                f"or str, but got {type(name).__name__} to {type(value).__name__} ({name!r})."
            )
        yield name, value


def _of_list(save_obj: list) -> Iterator[tuple[str, Any]]:
    of_dicts = bool(save_obj) and isinstance(save_obj[0], dict)
    for position, item in enumerate(save_obj):
        place = f"For '{_OWNER}', 'save_obj[{position}]'"
        if not of_dicts:
            if not isinstance(item, Parameter):
                raise TypeError(f"{place} must be a Parameter, but got {type(item).__name__}.")
            yield item.name, item
            continue
        if not isinstance(item, dict) or not {"name", "data"} <= item.keys():
            raise TypeError(f"{place} must be a dict with 'name' and 'data', but got {item!r}.")
        name, data = item["name"], item["data"]
        if not isinstance(name, str):
            raise TypeError(f"{place}: 'name' must be a str, but got {type(name).__name__}.")
        if not isinstance(data, Tensor):
            raise TypeError(f"{place}: 'data' must be a Parameter or Tensor, but got {type(data).__name__}.")
        yield name, data


def _array(value: Tensor | np.ndarray) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else value.asnumpy()


def _appended(append_dict: Any) -> dict[str, np.ndarray | str]:
    """Check and convert `append_dict`."""
    if append_dict is None:
        return {}
    if not isinstance(append_dict, dict):
        raise TypeError(f"For '{_OWNER}', 'append_dict' must be None or a dict, but got {type(append_dict).__name__}.")
    return {name: _appended_value(name, value) for name, value in append_dict.items()}


def _appended_value(name: Any, value: Any) -> np.ndarray | str:
    """Convert one value of `append_dict`; numbers become 0-D arrays."""
    if isinstance(name, str):
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return np.array(value)
        if isinstance(value, int):
            if not -(1 << 63) <= value < 1 << 63:
                raise ValueError(
                    f"For '{_OWNER}', the int '{name}' in 'append_dict' must fit into 64 bits, but got {value}."
                )
            return np.array(value, np.int64)
        if type(value) is float:
            # MindSpore keeps float32; a number beyond its range would come back as infinity.
            too_large = _LARGEST_FLOAT32 < abs(value) < float("inf")
            return np.array(value, np.float64 if too_large else np.float32)
        if isinstance(value, Tensor):
            return value.asnumpy()
        if isinstance(value, Generator):
            return value.get_state().asnumpy()
    raise TypeError(
        f"For '{_OWNER}', 'append_dict' must map str to int, float, bool, str, Parameter, Tensor "
        f"or Generator, but got {type(name).__name__} to {type(value).__name__} ({name!r})."
    )
