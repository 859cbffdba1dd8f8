"""What `obf_config` must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import complaint

_METADATA, _WEIGHTS, _NETWORK = _LISTS = ("obf_metadata_config", "weight_obf_config", "network_obf_config")
_KINDS, _STEPS = ("random", "rearrange"), ("mul", "permuate", "matmul")


def check_config(config: Any, owner: str, *needed: str) -> dict[str, Any]:
    """Return an `obf_config` whose lists are as they must be.

    Args:
        config: the dict.
        owner: whose argument it is.
        needed: the lists it must have.

    Raises:
        TypeError: if a part has the wrong type, or a needed list is missing.
        ValueError: if it is empty, or a part has a wrong value.

    Examples:
        >>> from dist_ms.train.obfuscation.config import check_config
        >>> check_config({"weight_obf_config": []}, "obfuscate_ckpt", "weight_obf_config")
        {'weight_obf_config': []}
    """
    _of_type(config, "obf_config", owner, dict)
    if not config:
        raise ValueError(complaint("obf_config", owner, f"a dict with {', '.join(_LISTS)}", "an empty one"))
    for key in config:
        if key not in _LISTS:
            raise TypeError(complaint("obf_config", owner, f"a dict with keys of {', '.join(_LISTS)}", repr(key)))
    for key in needed:
        if key not in config:
            raise TypeError(complaint(f"obf_config['{key}']", owner, "a list", "none"))
    for key, entries in config.items():
        where = f"obf_config['{key}']"
        for index, entry in enumerate(_of_type(entries, where, owner, list)):
            place = f"{where}[{index}]"
            _of_type(entry, place, owner, dict)
            _CHECKS[key](entry, place, owner)
            for layer in _optional(entry, "layers", place, owner, list) or ():
                _of_type(layer, f"{place}['layers']", owner, int)
    return config


def _of_type(value: Any, name: str, owner: str, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(complaint(name, owner, f"of type {kind.__name__}", f"{type(value).__name__} {value!r}"))
    return value


def _optional(entry: dict[str, Any], key: str, place: str, owner: str, kind: type) -> Any:
    value = entry.get(key)
    return None if value is None else _of_type(value, f"{place}['{key}']", owner, kind)


def _text(entry: dict[str, Any], key: str, place: str, owner: str) -> str:
    value = entry.get(key)
    if not value or not isinstance(value, str):
        raise TypeError(complaint(f"{place}['{key}']", owner, "a str that is not empty", repr(value)))
    return value


def _check_metadata(entry: dict[str, Any], place: str, owner: str) -> None:
    _text(entry, "name", place, owner)
    shape = _of_type(entry.get("shape"), f"{place}['shape']", owner, list)
    if not shape:
        raise TypeError(complaint(f"{place}['shape']", owner, "a list of ints", "an empty one"))
    for length in shape:
        if _of_type(length, f"{place}['shape']", owner, int) < 1:
            raise ValueError(complaint(f"{place}['shape']", owner, "a list of positive ints", shape))
    _optional(entry, "save_metadata", place, owner, bool)
    kind = _optional(entry, "type", place, owner, str)
    if kind is not None and kind not in _KINDS:
        raise TypeError(complaint(f"{place}['type']", owner, f"one of {', '.join(_KINDS)}", repr(kind)))
    if kind == "rearrange" and (len(shape) > 2 or shape[0] != shape[-1]):
        raise ValueError(complaint(f"{place}['shape']", owner, "[n] or [n, n] for 'rearrange'", shape))
    operation = _optional(entry, "metadata_op", place, owner, str)
    if operation is not None and (operation != "invert" or kind == "rearrange"):
        raise ValueError(
            complaint(f"{place}['metadata_op']", owner, "None, or 'invert' for what is 'random'", repr(operation))
        )


def _check_weights(entry: dict[str, Any], place: str, owner: str) -> None:
    _text(entry, "target", place, owner)
    operations = _of_type(entry.get("weight_obf_ops"), f"{place}['weight_obf_ops']", owner, list)
    _check_steps(operations, f"{place}['weight_obf_ops']", owner)
    for index, operation in enumerate(operations):
        if operation["name"] not in _STEPS:
            raise ValueError(
                complaint(
                    f"{place}['weight_obf_ops'][{index}]['name']",
                    owner,
                    f"one of {', '.join(_STEPS)}",
                    operation["name"],
                )
            )


def _check_network(entry: dict[str, Any], place: str, owner: str) -> None:
    for key in ("target", "module"):
        _text(entry, key, place, owner)
    for index, made in enumerate(_optional(entry, "insert_new_input", place, owner, list) or ()):
        _text(_of_type(made, f"{place}['insert_new_input'][{index}]", owner, dict), "name", place, owner)
    _check_steps(_optional(entry, "insert_ops", place, owner, list) or [], f"{place}['insert_ops']", owner)


def _check_steps(operations: list[Any], place: str, owner: str) -> None:
    for index, operation in enumerate(operations):
        here = f"{place}[{index}]"
        _of_type(operation, here, owner, dict)
        for key in ("name", "input_x", "input_y"):
            _text(operation, key, here, owner)
        for key in ("transpose_a", "transpose_b"):
            _optional(operation, key, here, owner, bool)


_CHECKS: dict[str, Callable[[dict[str, Any], str, str], None]] = {
    _METADATA: _check_metadata,
    _WEIGHTS: _check_weights,
    _NETWORK: _check_network,
}
