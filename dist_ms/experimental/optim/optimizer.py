"""Optimizer in PyTorch's form: a list of groups, each a dictionary of its parameters and settings."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.hyper_parameters.groups import listed
from dist_ms.nn.optim.hyper_parameters.hyper import check_at_least_zero, number_of
from dist_ms.nn.optim.optimizer import check_gradients, make_states
from dist_ms.nn.optim.step.elementwise import prepare_to_write, run_rule
from dist_ms.nn.optim.step.updating import ReplicatedUpdate


class Optimizer(ReplicatedUpdate):
    """Base class of the optimizers in PyTorch's form.

    A subclass makes its states with `self.states(...)` and defines
    `update_one(index, param, grad, lr, weight_decay)`, or `construct(gradients)`.

    Args:
        params: Parameters, or dictionaries with `params` (a Parameter or a list) and settings of the group.
        defaults: the settings of groups that do not name them; `lr` is needed.

    Attributes:
        param_groups: the groups: the dictionaries with all settings. `lr` is a Parameter
            that schedulers write; a float in its place is used too.
        parameters: all parameters, in the order of the gradients.
        lrs: the learning-rate Parameters, one per group.

    Raises:
        TypeError: for parameters, learning rates or weight decays of another type, or a set of parameters.
        ValueError: for no parameters, one in two groups, or a negative number.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> optim.Optimizer([{"params": w, "lr": 0.5}], {"lr": 0.1})
        Optimizer (
        Parameter Group 0
            lr: 0.5
            weight_decay: 0.0
        )
    """

    _counter = ""  # the attribute that counts steps

    def __init__(self, params: Any, defaults: dict) -> None:
        super().__init__(auto_prefix=False)
        groups = listed(params, "params")
        self.defaults = defaults
        self.state: defaultdict = defaultdict(dict)
        self.param_groups: list[dict] = []
        self.parameters: Any = ()
        self.lrs: list[Parameter] = []
        self.group_start_id = [0]
        self._state_forms: dict[str, tuple[str, float]] = {}
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)
        self.parameters = ParameterTuple(self.parameters)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            for key in sorted(key for key in group if key != "params"):
                value = group[key].value() if isinstance(group[key], Parameter) else group[key]
                lines.append(f"    {key}: {value}")
        return "\n".join([*lines, ")"])

    def add_param_group(self, param_group: dict) -> None:
        """Add a group, also after steps have been taken; its states start anew.

        Args:
            param_group: `params` and the settings that differ from the defaults. The
                dictionary becomes the group: what is missing is written into it.

        Raises:
            TypeError: if it is no dict, or holds something that is no Parameter.
            ValueError: for a parameter of another group, or a negative number.
        """
        params = self._group_params(param_group)
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        lr = self._rate(param_group.get("lr"), f"learning_rate_group_{len(self.param_groups)}")
        decay = param_group.get("weight_decay", 0.0)
        if not isinstance(decay, (float, int)):
            raise TypeError(f"For '{self.cls_name}', 'weight_decay' must be an int or float, but got {type(decay)}.")
        param_group["weight_decay"] = check_at_least_zero(float(decay), "weight_decay", self.cls_name)
        param_group["lr"], param_group["params"] = lr, params
        # Parameters that come later are trained, but, as in MindSpore, no part of this cell.
        object.__setattr__(self, "parameters", ParameterTuple([*self.parameters, *params]))
        self.lrs.append(lr)
        self.param_groups.append(param_group)
        self.group_start_id.append(self.group_start_id[-1] + len(params))
        for attribute, (name, fill) in self._state_forms.items():
            setattr(self, attribute, ParameterTuple([*getattr(self, attribute), *make_states(params, name, fill)]))

    def _group_params(self, param_group: Any) -> list[Parameter]:
        if not isinstance(param_group, dict):
            raise TypeError(f"For '{self.cls_name}', a group must be a dict, but got {type(param_group).__name__}.")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(f"For '{self.cls_name}', 'params' must have an order, but got a set: give a list.")
        params = [params] if isinstance(params, Parameter) else list(params)
        for p in params:
            if not isinstance(p, Parameter):
                raise TypeError(f"For '{self.cls_name}', 'params' must hold Parameters, but got {type(p).__name__}.")
        mine = {id(p) for p in self.parameters}
        if any(id(p) in mine for p in params):
            raise ValueError(f"For '{self.cls_name}', some parameters appear in more than one parameter group.")
        return params

    def _rate(self, lr: Any, name: str) -> Parameter:
        if isinstance(lr, (float, int)):
            number = check_at_least_zero(float(lr), "learning rate", self.cls_name)
            return Parameter(Tensor(np.float32(number)), name)
        if not isinstance(lr, Tensor):
            raise TypeError(f"For '{self.cls_name}', 'lr' must be an int, float or Tensor, but got {type(lr)}.")
        if lr.ndim:
            raise ValueError(f"For '{self.cls_name}', 'lr' must be a scalar Tensor, but got the shape {lr.shape}.")
        return Parameter(Tensor(lr.asnumpy().astype(np.float32)), name)

    # ---- the step
    def construct(self, gradients: Any) -> bool:
        """Update every parameter.

        Args:
            gradients: one Tensor per parameter, in their order.

        Returns:
            True.

        Raises:
            TypeError: if a gradient is no Tensor, or a parameter has no float type.
            ValueError: if there are more or fewer, or of other shapes.
        """
        gradients = check_gradients(gradients, self.cls_name, self.parameters)
        if self._counter:
            getattr(self, self._counter)._data += 1
        for group, start in zip(self.param_groups, self.group_start_id):
            lr, decay = number_of(group["lr"]), group["weight_decay"]
            for index, param in enumerate(group["params"], start):
                prepare_to_write(param)
                self.update_one(index, param, gradients[index], lr, decay)
        return True

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter in place. Every optimizer overrides this or `construct`.

        Args:
            index: the parameter's place among `parameters` and states.
            param: the parameter.
            grad: its gradient.
            lr: the learning rate of its group.
            weight_decay: the weight decay of its group.
        """
        raise NotImplementedError(f"For '{self.cls_name}', the update rule is not defined.")

    def group_of(self, index: int) -> dict:
        """The group of a parameter."""
        return self.param_groups[bisect_right(self.group_start_id, index) - 1]

    def sign_of(self, index: int) -> float:
        """The factor of a gradient: -1 where the group maximizes."""
        return -1.0 if self.group_of(index).get("maximize") else 1.0

    def run_rule(
        self,
        rule: Callable,
        index: int,
        param: Parameter,
        grad: Tensor,
        states: Sequence[Parameter],
        decay: float,
        *scalars: Any,
    ) -> None:
        """Run an element-wise NumPy rule on the gradient with its sign and the weight decay."""
        run_rule(rule, param, grad, states, *scalars, scale=self.sign_of(index), decay=decay)

    def states(self, attribute: str, name: str | None = None, fill: float = 0.0) -> ParameterTuple:
        """Make one state per parameter, `<name>.<parameter>`, in an attribute that grows with new groups."""
        name = name or attribute
        self._state_forms[attribute] = (name, fill)
        made = make_states(self.parameters, name, fill)
        setattr(self, attribute, made)
        return made

    def counter(self, attribute: str, dtype: Any = np.int32, shape: tuple[int, ...] = (), start: int = 0) -> None:
        """Make the Parameter that counts steps, the one under way among them."""
        self._counter = attribute
        setattr(self, attribute, Parameter(Tensor(np.full(shape, start, dtype)), attribute))
