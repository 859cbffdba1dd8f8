"""A state as JSON: nested values in which arrays are named, and stand elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor, from_array

_KINDS = ("array", "scalar", "tensor", "tuple", "pairs", "bytes", "complex")


def encode(value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
    """Return a value as JSON can hold it.

    Args:
        value: None, bools, numbers, texts, bytes, arrays, Tensors, and lists, tuples and dicts of these.
        path: its name; arrays are named after their place in it.
        arrays: takes the arrays, by name.

    Raises:
        TypeError: if something in it is of another kind.

    Examples:
        >>> from dist_ms.train.state.tree import decode, encode
        >>> arrays = {}
        >>> encode({"a": (1, 2.5)}, "x", arrays)
        {'a': {'$tuple': [1, 2.5]}}
        >>> decode({"a": {"$tuple": [1, 2.5]}}, arrays)
        {'a': (1, 2.5)}
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Tensor):
        arrays[path] = np.array(value.array(), order="C")
        return {"$tensor": path}
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.array(value, order="C")
        if array.dtype.hasobject:
            raise TypeError(f"For 'save_run', the state '{path}' must be of numbers, but got an array of objects.")
        arrays[path] = array
        return {"$scalar" if isinstance(value, np.generic) else "$array": path}
    if isinstance(value, complex):
        return {"$complex": [value.real, value.imag]}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, (list, tuple)):
        items = [encode(item, f"{path}/{i}", arrays) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    if isinstance(value, dict):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: encode(item, f"{path}/{key}", arrays) for key, item in value.items()}
        return {"$pairs": [encode(list(pair), f"{path}/{i}", arrays) for i, pair in enumerate(value.items())]}
    raise TypeError(
        f"For 'save_run', the state '{path}' must be made of None, bools, numbers, texts, arrays, Tensors, lists, "
        f"tuples and dicts, but got a {type(value).__name__}: give the object a state_dict() of these."
    )


def decode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return what `encode` was given.

    Args:
        value: what it returned.
        arrays: the arrays, by name.

    Raises:
        ValueError: if it is nothing that `encode` returns.
    """
    if isinstance(value, list):
        return [decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), "")
    if not kind.startswith("$"):
        return {key: decode(item, arrays) for key, item in value.items()}
    content = value[kind]
    try:
        if len(value) != 1 or kind[1:] not in _KINDS:
            raise ValueError
        if kind == "$pairs":
            return dict(decode(pair, arrays) for pair in content)
        if kind == "$bytes":
            return bytes.fromhex(content)
        if kind == "$complex":
            real, imag = content
            return complex(real, imag)
        if kind == "$tuple":
            return tuple([decode(item, arrays) for item in content])
        if kind == "$scalar":
            return arrays[content][()]
        return arrays[content].copy() if kind == "$array" else from_array(arrays[content].copy())
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"a state must not hold {kind}: {str(content)[:60]}") from None
