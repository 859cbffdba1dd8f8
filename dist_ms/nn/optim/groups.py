"""Parameter groups: from what the user passes to one flat list of settings per parameter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor

_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")


@dataclass
class Group:
    """Parameters that share a learning rate, a weight decay and gradient centralization."""

    params: list[Parameter]
    lr: Any
    weight_decay: Any
    centralize: bool = False
    own_lr: bool = False


@dataclass
class Groups:
    """All groups of an optimizer and the order its gradients come in.

    Attributes:
        groups: the groups as given.
        order: (parameter, index of its group) in gradient order.
        is_group: the user passed dictionaries.
        is_ordered: the user passed `order_params`.
    """

    groups: list[Group]
    order: list[tuple[Parameter, int]] = field(default_factory=list)
    is_group: bool = False
    is_ordered: bool = False


def parse(parameters: Any, learning_rate: Any, weight_decay: Any) -> Groups:
    """Read the `parameters` argument of an optimizer.

    Raises:
        ValueError: for None, nothing, or an `order_params` that is not the union of the groups.
        TypeError: for anything but Parameters, or anything but dictionaries.
        KeyError: for an unknown key or a dictionary without `params`.
        RuntimeError: for a parameter in two groups.
    """
    if parameters is None:
        raise ValueError("For 'Optimizer', the argument parameters can not be None.")
    if isinstance(parameters, Tensor) or not isinstance(parameters, Iterable):
        raise TypeError(
            "For 'Optimizer', all elements of the argument 'parameters' must be 'Parameter' or 'dict', "
            f"but got {type(parameters).__name__}: give a list of them."
        )
    items = list(parameters)
    if not items:
        raise ValueError("For 'Optimizer', the argument parameters must not be empty.")
    if all(isinstance(p, Parameter) for p in items):
        return Groups([Group(items, learning_rate, weight_decay)], [(p, 0) for p in items])
    if not all(isinstance(p, dict) for p in items):
        wrong = next(p for p in items if not isinstance(p, Parameter if isinstance(items[0], Parameter) else dict))
        raise TypeError(
            "For 'Optimizer', all elements of the argument 'parameters' must be 'Parameter' or 'dict', "
            f"please check the 'parameters': got {type(wrong).__name__}."
        )
    return _parse_dicts(items, learning_rate, weight_decay)


def _parse_dicts(items: list[dict], learning_rate: Any, weight_decay: Any) -> Groups:
    found = Groups([], is_group=True)
    wanted = None
    for item in items:
        unknown = [k for k in item if k not in _KEYS]
        if unknown:
            raise KeyError(
                f"For 'Optimizer', the key in group params must be one of in {list(_KEYS)}, but got {unknown}."
            )
        if "order_params" in item:
            if len(item) > 1:
                raise ValueError(
                    f"For 'Optimizer', the dict with 'order_params' must have no other key, but got {sorted(item)}."
                )
            wanted = list(item["order_params"])
            continue
        if "params" not in item:
            raise KeyError("params")
        found.groups.append(_parse_group(item, learning_rate, weight_decay))
    owner: dict[int, int] = {}
    for index, group in enumerate(found.groups):
        for p in group.params:
            if id(p) in owner:
                raise RuntimeError(
                    f"For 'Optimizer', the {p.name} parameter already exists, it does not support "
                    "repeated setting. Please check whether the optimizer parameter has been set "
                    "multiple times."
                )
            owner[id(p)] = index
            found.order.append((p, index))
    if wanted is not None:
        _reorder(found, wanted, owner)
    return found


def _parse_group(item: dict, learning_rate: Any, weight_decay: Any) -> Group:
    params = item["params"]
    if isinstance(params, Tensor) or not isinstance(params, Iterable):
        raise TypeError(
            f"For 'Optimizer', the value of 'params' must be a list of Parameters, but got {type(params).__name__}."
        )
    params = list(params)
    if not params:
        raise ValueError("For 'Optimizer', the value of 'params' must not be empty: leave the group out.")
    for p in params:
        if not isinstance(p, Parameter):
            raise TypeError(
                f"For 'Optimizer', the elements of 'params' must be 'Parameter', but got {type(p).__name__}."
            )
    centralize = item.get("grad_centralization", False)
    if not isinstance(centralize, bool):
        raise TypeError(f"For 'Optimizer', 'grad_centralization' must be a bool, but got {type(centralize).__name__}.")
    return Group(
        params, item.get("lr", learning_rate), item.get("weight_decay", weight_decay), centralize, "lr" in item
    )


def _reorder(found: Groups, wanted: list, owner: dict[int, int]) -> None:
    if len(wanted) != len(owner):
        raise ValueError(
            "For 'Optimizer',the length of order parameters must be the same as the length of group "
            f"parameters, but got order parameters' length {len(wanted)}, group parameters' length "
            f"{len(owner)}."
        )
    for p in wanted:
        if id(p) not in owner:
            raise ValueError(
                f"For 'Optimizer', 'order_params' must be the parameters of the groups, but {p} is in none."
            )
    found.order = [(p, owner[id(p)]) for p in wanted]
    found.is_ordered = True
