"""An optimizer's groups of parameters, made anew: for centralised gradients, other parameters, and buckets."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from dist_ms.boost.normalization import CommonHeadLastFN
from dist_ms.common.checks import check_type
from dist_ms.common.parameter import Parameter
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.conv import Conv2d
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.wrapping.lars import LARS

__all__ = ["OptimizerProcess", "ParameterProcess"]

_log = logging.getLogger("dist_ms")
_PLAIN = ("beta", "gamma", "bias")  # in the names of parameters whose gradients are not centralised


def _listed(parameters: Any, owner: str) -> list:
    """The parameters or groups as a list that is not empty."""
    found = list(parameters or ())
    if not found:
        raise ValueError(f"For '{owner}', the optimizer's parameters must not be empty, but got {parameters!r}.")
    if not isinstance(found[0], (dict, Parameter)):
        raise TypeError(
            f"For '{owner}', the optimizer's parameters must be Parameters or dicts, but got {type(found[0]).__name__}."
        )
    return found


class OptimizerProcess:
    """Makes an optimizer like another one, whose groups may centralise gradients.

    Args:
        opt: an optimizer that records its arguments, as all of `nn` do; or LARS around one.

    Attributes:
        origin_params: the parameters or groups that the new optimizer gets.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.Dense(2, 2)
        >>> made = ms.boost.OptimizerProcess(ms.nn.Momentum([{"params": net.trainable_params()}], 0.1, 0.9))
        >>> made.add_grad_centralization(net)
        >>> made.generate_new_optimizer().grad_centralization_flags
        (True, False)
    """

    def __init__(self, opt: Optimizer) -> None:
        check_type(opt, "opt", "OptimizerProcess", Optimizer)
        self.is_lars = isinstance(opt, LARS)
        self.single_opt = opt.opt if self.is_lars else opt
        self.opt_class = type(self.single_opt)
        for name in ("init_args", "init_params", "init_learning_rate"):
            if not hasattr(self.single_opt, name):
                raise ValueError(
                    f"For 'OptimizerProcess', 'opt' must record its arguments, but {self.opt_class.__name__} has no "
                    f"'{name}': decorate its '__init__' with 'opt_init_args_register'."
                )
        self.opt_init_args = self.single_opt.init_args
        if self.is_lars:
            self.lars_init_args = opt.init_args
        self.learning_rate = self.single_opt.init_learning_rate
        self.origin_params = self.single_opt.init_params["params"]

    @staticmethod
    def build_params_dict(network: Cell) -> dict[int, Cell]:
        """Return the cell of each parameter, by the parameter's id.

        Args:
            network: the network.
        """
        return {id(p): cell for _, cell in network.cells_and_names() for p in cell.get_parameters(expand=False)}

    @staticmethod
    def build_gc_params_group(params_dict: dict[int, Cell], parameters: Sequence[dict]) -> list[dict]:
        """Return groups cut into those parameters whose gradients are centralised, and the others.

        The others are those with "beta", "gamma" or "bias" in their names, of convolutions in groups, and of
        `CommonHeadLastFN`.

        Args:
            params_dict: what `build_params_dict` returned.
            parameters: the groups.
        """
        made = []
        for group in parameters:
            if "order_params" in group:
                made.append(group)
                continue
            centralised: list[Parameter] = []
            plain: list[Parameter] = []
            for p in group["params"]:
                (plain if _stays_plain(p, params_dict) else centralised).append(p)
            if centralised:
                made.append({**group, "params": centralised, "grad_centralization": True})
            if plain:
                made.append({**group, "params": plain})
        return made

    def add_grad_centralization(self, network: Cell) -> None:
        """Have the gradients of the network's products and convolutions centralised; parameters must be in groups.

        Args:
            network: the network.
        """
        groups = _listed(self.origin_params, "OptimizerProcess")
        if isinstance(groups[0], Parameter):
            _log.warning("For 'OptimizerProcess', gradients are centralised in groups only, and there are none.")
            return
        self.origin_params = self.build_gc_params_group(self.build_params_dict(network), groups)

    def generate_new_optimizer(self) -> Optimizer:
        """Return an optimizer of the same class and arguments with the parameters of `origin_params`."""
        rate = self.single_opt.learning_rate if self.learning_rate is None else self.learning_rate
        made = self.opt_class(params=self.origin_params, learning_rate=rate, **self.opt_init_args)  # type: ignore[call-arg]
        return LARS(made, **self.lars_init_args) if self.is_lars else made


def _stays_plain(p: Parameter, cells: dict[int, Cell]) -> bool:
    """Whether a parameter's gradient is not centralised."""
    if any(word in p.name for word in _PLAIN):
        return True
    cell = cells[id(p)]
    return isinstance(cell, CommonHeadLastFN) or (isinstance(cell, Conv2d) and cell.group > 1)


class ParameterProcess:
    """Gives parameters to the groups of others, and to buckets.

    Examples:
        >>> import dist_ms as ms
        >>> weights = ms.nn.Dense(2, 2).trainable_params()
        >>> ms.boost.ParameterProcess.generate_group_params(weights[:1], weights) == [{"params": weights[:1]}]
        True
    """

    def __init__(self) -> None:
        self._parameter_indices = 1

    @staticmethod
    def generate_group_params(parameters: Iterable[Parameter], origin_params: Any) -> list[dict]:
        """Return groups of some parameters with the settings that those of the same names have.

        Parameters whose name no group has get the settings of the group with the most settings; a group of none is left
        out.

        Args:
            parameters: the parameters.
            origin_params: an optimizer's parameters, or groups.

        Raises:
            ValueError: if `origin_params` is empty.
            TypeError: if it holds something else.
        """
        groups = _listed(origin_params, "ParameterProcess")
        wanted = list(parameters)
        if isinstance(groups[0], Parameter):
            return [{"params": wanted}]
        left = {p.name: p for p in wanted}
        by_name = dict(left)
        made: list[dict] = []
        largest: dict = {}
        for group in groups:
            if "order_params" in group:
                made.append({**group, "order_params": wanted})
                continue
            names = [p.name for p in group["params"] if p.name in by_name]
            made.append({**group, "params": [by_name[name] for name in names]})
            for name in names:
                left.pop(name, None)
            if len(group) > len(largest):
                largest = group
        made = [group for group in made if group.get("params") or "order_params" in group]
        if left:
            made.append({**largest, "params": list(left.values())})
        return made

    def assign_parameter_group(self, parameters: Any, split_point: Sequence[int] | None = None) -> Any:
        """Set the fusion group of each parameter's gradient, `comm_fusion`, and return the parameters.

        Args:
            parameters: a list or tuple of them; anything else is returned as it is.
            split_point: the places where a new group begins; the middle by default.
        """
        if not isinstance(parameters, (list, tuple)) or not parameters:
            return parameters
        points = split_point or [len(parameters) // 2]
        for place, p in enumerate(parameters):
            if place in points:
                self._parameter_indices += 1
            p.comm_fusion = self._parameter_indices
        return parameters
