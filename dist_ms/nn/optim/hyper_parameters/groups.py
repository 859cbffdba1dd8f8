"""Parameter groups: from what the user passes to one flat list of settings per parameter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dist_ms.common.checks import check_bool
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor

_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")


@dataclass
class Group:
    """Parameters that share a learning rate, a weight decay and gradient centralization.

    Attributes:
        params: the parameters.
        lr: the learning rate as given; the optimizer's when `own_lr` is False.
        weight_decay: the weight decay as given, or the optimizer's.
        centralize: whether gradients are centralized.
        own_lr: the group names a learning rate.
        number: the place of the dictionary in the user's list.
    """

    params: list[Parameter]
    lr: Any
    weight_decay: Any
    centralize: bool = False
    own_lr: bool = False
    number: int = 0


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

    def each(self, values: Iterable[Any]) -> list[Any]:
        """One value per parameter, from one per group."""
        values = list(values)
        return [values[g] for _, g in self.order]


def listed(parameters: Any, what: str) -> list[Any]:
    """The elements of a `parameters` argument, or of the `params` of a group.

    Raises:
        ValueError: for None or nothing.
        TypeError: for a Tensor, or something that cannot be iterated.
    """
    if parameters is None:
        raise ValueError(f"For 'Optimizer', the argument {what} can not be None.")
    if isinstance(parameters, Tensor):
        raise TypeError(
            f"For 'Optimizer', '{what}' must hold either Parameters or dicts of groups, "
            f"but got one {type(parameters).__name__}: give a list."
        )
    if not isinstance(parameters, Iterable):
        raise TypeError(
            f"For 'Optimizer', the argument {what} must be Iterable type, but got {type(parameters)}: give a list."
        )
    items = list(parameters)
    if not items:
        raise ValueError(f"For 'Optimizer', the argument {what} must not be empty.")
    return items


def parse(parameters: Any, learning_rate: Any, weight_decay: Any) -> Groups:
    """Read the `parameters` argument of an optimizer.

    Raises:
        ValueError: for None, nothing, or an `order_params` that is not the union of the groups.
        TypeError: for anything but Parameters, or anything but dictionaries.
        KeyError: for an unknown key or a dictionary without `params`.
        RuntimeError: for a parameter in two groups.
    """
    items = listed(parameters, "parameters")
    if all(isinstance(p, Parameter) for p in items):
        return Groups([Group(items, learning_rate, weight_decay)], [(p, 0) for p in items])
    if not all(isinstance(p, dict) for p in items):
        wrong = [type(p).__name__ for p in items if not isinstance(p, (Parameter, dict))]
        raise TypeError(
            "For 'Optimizer', 'parameters' must hold either Parameters or dicts of groups, but got "
            f"{wrong[0] if wrong else 'both'}."
        )
    return _parse_dicts(items, learning_rate, weight_decay)


def _parse_dicts(items: list[dict], learning_rate: Any, weight_decay: Any) -> Groups:
    found = Groups([], is_group=True)
    wanted = None
    for number, item in enumerate(items):
        unknown = [k for k in item if k not in _KEYS]
        if unknown:
            raise KeyError(
                f"For 'Optimizer', a group in 'parameters' must have no keys but {list(_KEYS)}, but got {unknown}."
            )
        if "order_params" in item:
            wanted = _order(item)
        else:
            found.groups.append(_parse_group(number, item, learning_rate, weight_decay))
    owner: dict[str, int] = {}
    for index, group in enumerate(found.groups):
        for p in group.params:
            if p.name in owner:
                raise RuntimeError(
                    f"For 'Optimizer', 'parameters' must name each Parameter once, but {p.name} already exists in "
                    "another place: take it out of one group."
                )
            owner[p.name] = index
            found.order.append((p, index))
    if wanted is not None:
        _reorder(found, wanted, owner)
    return found


def _order(item: dict) -> list[Any]:
    if len(item) > 1:
        raise ValueError(
            f"For 'Optimizer', the dict with 'order_params' must have no other key, but got {sorted(item)}."
        )
    if not isinstance(item["order_params"], Iterable):
        raise TypeError(
            "For 'Optimizer', 'order_params' must be a list of Parameters, but got "
            f"{type(item['order_params']).__name__}."
        )
    return list(item["order_params"])


def _parse_group(number: int, item: dict, learning_rate: Any, weight_decay: Any) -> Group:
    params = listed(item["params"], "group `params`")
    for index, p in enumerate(params):
        if not isinstance(p, Parameter):
            raise TypeError(
                f"For 'Optimizer', 'params' of a group must hold Parameters, but got {type(p).__name__} at place "
                f"{index}."
            )
    centralize = item.get("grad_centralization", False)
    check_bool(centralize, "grad_centralization", "Optimizer")
    lr, decay = item.get("lr", learning_rate), item.get("weight_decay", weight_decay)
    return Group(params, lr, decay, centralize, "lr" in item, number)


def _reorder(found: Groups, wanted: list, owner: dict[str, int]) -> None:
    if len(wanted) != len(owner):
        raise ValueError(
            f"For 'Optimizer', 'order_params' must list the {len(owner)} Parameters of all groups, but got "
            f"{len(wanted)}."
        )
    mine = {id(p): index for p, index in found.order}
    for p in wanted:
        if id(p) not in mine:
            raise ValueError(
                f"For 'Optimizer', 'order_params' must be the parameters of the groups, but {p} is in none."
            )
    found.order = [(p, mine[id(p)]) for p in wanted]
    found.is_ordered = True
