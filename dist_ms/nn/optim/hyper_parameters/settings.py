"""The hyper-parameters of an optimizer: what its constructor reads, and their values in a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_type
from dist_ms.common.parameter import Parameter, ParameterTuple, check_unique_names
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.container import CellList
from dist_ms.nn.optim.hyper_parameters import groups as parameter_groups
from dist_ms.nn.optim.hyper_parameters import hyper
from dist_ms.nn.optim.step.updating import ReplicatedUpdate
from dist_ms.ops.creating.assignment import AssignAdd
from dist_ms.ops.flow.mapping import HyperMap, Map


class OptimizerSettings(ReplicatedUpdate):
    """The part of Optimizer that reads groups, learning rates, weight decays and the loss scale."""

    sparse_target = False  # `target` can be set

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        found = parameter_groups.parse(parameters, learning_rate, weight_decay)
        params = [p for p, _ in found.order]
        check_unique_names(params)
        self._set_loss_scale(loss_scale)
        self.global_step = Parameter(Tensor(np.zeros(1, np.int32)), name="global_step")
        self.global_step_increase_tensor = Tensor(np.ones(1, np.int32))
        self.is_group, self.is_group_params_ordered = found.is_group, found.is_ordered
        self._set_learning_rates(found, learning_rate)
        self._parameters = ParameterTuple(params)
        self.parameters = self._parameters
        self._set_weight_decays(found)
        self.grad_centralization_flags = tuple(found.each(g.centralize for g in found.groups))
        self.grad_centralization = found.groups[-1].centralize
        if self.is_group:
            self.group_params = params
            self.group_grad_centralization = list(self.grad_centralization_flags)
        self.param_length = len(params)
        self._unique = not any(p.unique for p in params)
        self.use_parallel, self.optim_filter, self.param_rank = False, (True,) * len(params), None
        self.assignadd = AssignAdd()
        self.map_, self.map_reverse = Map(), Map(None, True)
        self.hyper_map, self.hyper_map_reverse = HyperMap(), HyperMap(None, True)

    # ---- reading the arguments
    def _set_loss_scale(self, loss_scale: Any) -> None:
        check_type(loss_scale, "loss_scale", self.cls_name, (float, int, bool))
        if not loss_scale > 0:
            raise ValueError(
                f"For '{self.cls_name}', the 'loss_scale' must be float and must > 0, but got "
                f"'{loss_scale}' with type '{type(loss_scale).__name__}'."
            )
        self.loss_scale = float(loss_scale)
        self.grad_factor = 1.0 / self.loss_scale
        self.reciprocal_scale = Tensor(np.float32(self.grad_factor))
        self.need_scale = self.loss_scale != 1.0

    def _set_learning_rates(self, found: parameter_groups.Groups, learning_rate: Any) -> None:
        """Make one source per group: a Parameter, or a Cell for rates that change."""
        default = hyper.learning_rate_kind(self.cls_name, learning_rate)
        kinds = [hyper.learning_rate_kind(self.cls_name, g.lr) if g.own_lr else default for g in found.groups]
        hyper.check_same_length([default, *kinds])
        self.is_group_lr = any(g.own_lr for g in found.groups)
        self.dynamic_lr = any(not isinstance(k, float) for k in (default, *kinds))
        as_cell = self.is_group_lr and self.dynamic_lr
        shared = hyper.learning_rate_source(default, "learning_rate", as_cell)
        if not self.is_group_lr:
            self.group_lr = [shared] * len(found.order)
            self.learning_rate = shared
            return
        self.group_lr = found.each(
            hyper.learning_rate_source(kind, f"learning_rate_group_{g.number}", as_cell) if g.own_lr else shared
            for g, kind in zip(found.groups, kinds)
        )
        self.learning_rate = CellList(self.group_lr, auto_prefix=False) if as_cell else ParameterTuple(self.group_lr)

    def _set_weight_decays(self, found: parameter_groups.Groups) -> None:
        kinds = [hyper.weight_decay_kind(self.cls_name, g.weight_decay) for g in found.groups]
        self._decay_sources = found.each(kinds)
        changing = [isinstance(k, Cell) for k in self._decay_sources]
        self.dynamic_weight_decay = any(changing)
        scaled_kinds = [
            hyper._WrappedWeightDecay(k, self.loss_scale) if isinstance(k, Cell) else k * self.loss_scale for k in kinds
        ]
        ready = [k if isinstance(k, Cell) else Tensor(np.float32(k)) for k in scaled_kinds]
        self.exec_weight_decay = any(isinstance(k, Cell) or k > 0 for k in kinds)
        if self.is_group:
            self.group_weight_decay = found.each(scaled_kinds)
            self.decay_flags = tuple(isinstance(k, Cell) or k > 0 for k in self._decay_sources)
            self.dynamic_decay_flags: Any = tuple(changing)
            self.weight_decay = tuple(found.each(ready))
        else:
            self.decay_flags = tuple("beta" not in p.name and "gamma" not in p.name for p, _ in found.order)
            self.dynamic_decay_flags = changing[0]
            self.weight_decay = ready[0]

    # ---- properties
    @property
    def target(self) -> str:
        """Where sparse updates run: the CPU. Only optimizers that MindSpore lets choose accept an assignment.

        Raises:
            NotImplementedError: if this optimizer has no choice.
            TypeError: if the value is no str.
            ValueError: for another place than "CPU".
        """
        return "CPU"

    @target.setter
    def target(self, value: str) -> None:
        if not self.sparse_target:
            raise NotImplementedError(f"For '{self.cls_name}', 'target' can not be set: updates run on the CPU.")
        check_type(value, "target", self.cls_name, str)
        if value != "CPU":
            raise ValueError(f"For '{self.cls_name}', 'target' must be 'CPU', but got {value!r}: dist_ms runs on CPUs.")

    @property
    def unique(self) -> bool:
        """Whether the rows of sparse gradients may repeat; False once a parameter made them unique itself."""
        return self._unique

    @unique.setter
    def unique(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"For 'Optimizer', the property 'unique' must be bool, but got {type(value)}")
        self._unique = value

    # ---- hyper-parameters of a step
    def get_lr(self) -> Any:
        """The learning rate of this step; a tuple, one per parameter, when groups have their own."""
        if not self.dynamic_lr:
            return self.learning_rate
        if self.is_group_lr:
            return tuple(self._now(self.learning_rate, lambda rate: rate.reshape(())))
        return self.learning_rate(self.global_step).reshape(())

    def get_weight_decay(self) -> Any:
        """The weight decay of this step times the loss scale; a tuple, one per parameter, with groups."""
        if not self.dynamic_weight_decay:
            return self.weight_decay
        return tuple(self._now(self.weight_decay)) if self.is_group else self.weight_decay(self.global_step)

    def _now(self, sources: Iterable[Any], finish: Callable = lambda value: value) -> list[Any]:
        """The value of each source in this step; a Cell that several share runs once."""
        known: dict[int, Any] = {}
        for source in sources:
            if id(source) not in known:
                known[id(source)] = finish(source(self.global_step)) if isinstance(source, Cell) else source
        return [known[id(source)] for source in sources]

    def _rates(self) -> list[float]:
        """The learning rate of every parameter in this step."""
        rate = self.get_lr()
        if isinstance(rate, (tuple, list)):
            return [hyper.number_of(r) for r in rate]
        return [hyper.number_of(rate)] * self.param_length

    def _decays(self) -> list[float]:
        """The weight decay of every parameter in this step, without the loss scale; 0 for those left out."""
        if not self.exec_weight_decay:
            return [0.0] * self.param_length
        values = self._now(self._decay_sources)
        return [hyper.number_of(value) if flag else 0.0 for value, flag in zip(values, self.decay_flags)]

    def get_lr_parameter(self, param: Any) -> Any:
        """The learning rate (a Parameter or a schedule) of a parameter, or of each in a list.

        Raises:
            TypeError: if `param` is neither.
            ValueError: if the optimizer does not update it.

        Examples:
            >>> import dist_ms as ms
            >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
            >>> opt = ms.nn.SGD([{"params": [w], "lr": 0.5}], 0.1)
            >>> print(opt.get_lr_parameter(w).asnumpy())
            0.5
        """
        if isinstance(param, Parameter):
            return self._lr_parameter_of(param)
        if isinstance(param, list):
            return [self._lr_parameter_of(check_type(p, "param", self.cls_name, Parameter)) for p in param]
        raise TypeError(
            f"For 'get_lr_parameter', the 'param' must be 'Parameter' or 'list' type, but got {type(param)}."
        )

    def _lr_parameter_of(self, param: Parameter) -> Any:
        for i, p in enumerate(self.parameters):
            if p is param:
                source = self.learning_rate[i] if self.is_group_lr else self.learning_rate
                held = isinstance(source, (hyper._IteratorLearningRate, hyper._ConvertToCell))
                return source.learning_rate if held else source
        raise ValueError(
            "For 'get_lr_parameter', 'param' must be one of the Parameters this optimizer trains, but got "
            f"{param.name}."
        )

    def _is_dynamic_lr_or_weight_decay(self) -> bool:
        """Whether anything depends on the step."""
        return self.dynamic_lr or self.dynamic_weight_decay
