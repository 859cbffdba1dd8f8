"""Optimizer: hyper-parameters, groups and the loop over parameters; subclasses update one parameter.

A step scales the gradients by 1/loss_scale, centralizes and decays them where
asked, and updates every parameter in place through the subclass's `update_one`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.cell import Cell
from dist_ms.nn.learning_rate_schedule import LearningRateSchedule
from dist_ms.nn.optim import groups as parameter_groups
from dist_ms.nn.optim.hyper import _IteratorLearningRate, learning_rate_kind, weight_decay_kind

_KERNEL_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


class Optimizer(Cell):
    """Base class of optimizers.

    Args:
        learning_rate: a float, a list or 1-D Tensor with one entry per step, or a LearningRateSchedule.
        parameters: Parameters, or dictionaries with the keys `params`, `lr`, `weight_decay`,
            `grad_centralization`, `order_params`.
        weight_decay: a float or a Cell called with the step; names with "beta" or "gamma" are left out.
        loss_scale: gradients are divided by it.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: for arguments of the wrong form.
    """

    decays_in_kernel = False  # the update rule itself applies the weight decay

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        owner = self.cls_name
        weight_decay = weight_decay_kind(owner, weight_decay)
        self.loss_scale = self._check_loss_scale(loss_scale)
        self.reciprocal_scale = 1.0 / self.loss_scale
        self.need_scale = self.loss_scale != 1.0
        self._groups = parameter_groups.parse(parameters, learning_rate, weight_decay)
        self.is_group = self._groups.is_group
        self.is_group_params_ordered = self._groups.is_ordered
        ordered = [p for p, _ in self._groups.order]
        self._check_names(ordered)
        self.global_step = Parameter(Tensor(np.zeros(1, np.int32)), name="global_step")
        self._set_learning_rates(owner, learning_rate)
        self._set_weight_decays(owner)
        self.grad_centralization_flags = tuple(self._groups.groups[g].centralize for _, g in self._groups.order)
        self._parameters = ParameterTuple(ordered)
        self.parameters = self._parameters
        self.param_length = len(ordered)
        self.unique = True

    # ---- reading the arguments
    def _check_loss_scale(self, loss_scale: Any) -> float:
        if isinstance(loss_scale, bool) or not isinstance(loss_scale, (int, float)):
            raise TypeError(f"For '{self.cls_name}', 'loss_scale' must be a float, but got {type(loss_scale)}.")
        if not loss_scale > 0:
            raise ValueError(
                f"For '{self.cls_name}', the 'loss_scale' must be float and must > 0, but got "
                f"'{loss_scale}' with type '{type(loss_scale).__name__}'."
            )
        return float(loss_scale)

    @staticmethod
    def _check_names(params: Sequence[Parameter]) -> None:
        names = set()
        for p in params:
            if p.name in names:
                raise ValueError(
                    f"The value {p} , its name '{p.name}' already exists. Please set a unique name for the parameter."
                )
            names.add(p.name)

    def _set_learning_rates(self, owner: str, learning_rate: Any) -> None:
        """Make one source per group: a Parameter, or a schedule for rates that change."""
        groups = self._groups.groups
        default = learning_rate_kind(owner, learning_rate)
        kinds = [learning_rate_kind(owner, g.lr, in_group=True) if g.own_lr else default for g in groups]
        self.is_group_lr = any(g.own_lr for g in groups)
        used = [default, *kinds]
        self.dynamic_lr = any(not isinstance(k, float) for k in used)
        lengths = {k.size for k in used if isinstance(k, np.ndarray)}
        if len(lengths) > 1:
            raise ValueError(
                "For 'Optimizer', the Tensor type dynamic learning rate in group must be the same size "
                f"as the argument 'learning_rate', but got sizes {sorted(lengths)}."
            )
        shared = self._source(default, "learning_rate")
        if not self.is_group_lr:
            self.learning_rate = shared
            self._lr_of = [shared] * len(groups)
            return
        self._shared_lr = shared
        sources = []
        for i, (group, kind) in enumerate(zip(groups, kinds)):
            sources.append(self._source(kind, f"learning_rate_group_{i}") if group.own_lr else shared)
        self._lr_of = sources
        per_parameter = [sources[g] for _, g in self._groups.order]
        for s in sources:
            if isinstance(s, Parameter):
                self.insert_param_to_cell(s.name, s)
            else:
                self.insert_child_to_cell(f"lr_schedule_{len(self._cells)}", s)
        object.__setattr__(self, "learning_rate", tuple(per_parameter))

    @staticmethod
    def _source(kind: Any, name: str) -> Any:
        if isinstance(kind, float):
            return Parameter(Tensor(np.float32(kind)), name)
        if isinstance(kind, np.ndarray):
            return _IteratorLearningRate(kind, name)
        return kind

    def _set_weight_decays(self, owner: str) -> None:
        groups = self._groups.groups
        self._decay_of = [weight_decay_kind(owner, g.weight_decay) for g in groups]
        self.dynamic_weight_decay = any(isinstance(d, Cell) for d in self._decay_of)
        self.decay_flags = tuple("beta" not in p.name and "gamma" not in p.name for p, _ in self._groups.order)
        self.exec_weight_decay = self.dynamic_weight_decay or any(d != 0.0 for d in self._decay_of)
        for i, d in enumerate(self._decay_of):
            if isinstance(d, Cell):
                self.insert_child_to_cell(f"weight_decay_{i}", d)
        per = [self._decay_of[g] for _, g in self._groups.order]
        object.__setattr__(self, "weight_decay", tuple(per) if self.is_group else self._decay_of[0])

    # ---- hyper-parameters of a step
    @property
    def target(self) -> str:
        """Where sparse updates run: the CPU."""
        return "CPU"

    @target.setter
    def target(self, value: str) -> None:
        if value != "CPU":
            raise NotImplementedError(
                f"For '{self.cls_name}', 'target' must be 'CPU', but got {value!r}: dist_ms runs on CPUs."
            )

    def _rate(self, source: Any) -> Tensor:
        return source(self.global_step) if isinstance(source, LearningRateSchedule) else source

    def get_lr(self) -> Any:
        """The learning rate of this step; a tuple, one per parameter, when groups have their own."""
        if self.is_group_lr:
            rates = [self._rate(s) for s in self._lr_of]
            return tuple(rates[g] for _, g in self._groups.order)
        return self._rate(self._lr_of[0])

    def get_lr_parameter(self, param: Any) -> Any:
        """The learning rate (a Parameter or a schedule) of a parameter, or of each in a list.

        Raises:
            TypeError: if `param` is neither.
            ValueError: if the optimizer does not update it.
        """
        if isinstance(param, Parameter):
            return self._lr_parameter_of(param)
        if isinstance(param, (list, tuple)) and all(isinstance(p, Parameter) for p in param):
            return [self._lr_parameter_of(p) for p in param]
        raise TypeError(
            f"For 'get_lr_parameter', the 'param' must be 'Parameter' or 'list' type, but got {type(param)}."
        )

    def _lr_parameter_of(self, param: Parameter) -> Any:
        for p, g in self._groups.order:
            if p is param:
                source = self._lr_of[g]
                return source.learning_rate if isinstance(source, _IteratorLearningRate) else source
        raise ValueError(f"For 'get_lr_parameter', {param} is no parameter of this optimizer.")

    def get_weight_decay(self) -> Any:
        """The weight decay of this step as a Tensor; a tuple, one per parameter, with groups."""
        values = [Tensor(np.float32(v)) for v in self._decays()]
        if self.is_group:
            return tuple(values[g] for _, g in self._groups.order)
        return values[0]

    def _decays(self) -> list[float]:
        return [
            float(d(self.global_step).asnumpy().reshape(-1)[0]) if isinstance(d, Cell) else d for d in self._decay_of
        ]

    def _rates(self) -> list[float]:
        return [float(self._rate(s).asnumpy().reshape(-1)[0]) for s in self._lr_of]

    # ---- gradients
    def scale_grad(self, gradients: Any) -> Any:
        """Divide the gradients by the loss scale."""
        if not self.need_scale:
            return gradients
        return tuple(g * self.reciprocal_scale for g in gradients)

    def gradients_centralization(self, gradients: Any) -> Any:
        """Take the mean over all but the first dimension off the gradients that ask for it."""
        return tuple(_centralize(g) if flag else g for g, flag in zip(gradients, self.grad_centralization_flags))

    def decay_weight(self, gradients: Any) -> Any:
        """Add weight_decay * parameter to the gradients that ask for it."""
        if not self.exec_weight_decay:
            return gradients
        decays = self._decays()
        return tuple(
            from_array(g.asnumpy() + p.asnumpy() * np.asarray(decays[group], p.asnumpy().dtype))
            if flag and decays[group]
            else g
            for g, flag, (p, group) in zip(gradients, self.decay_flags, self._groups.order)
        )

    # ---- the step
    def construct(self, gradients: Any) -> tuple:
        """Update every parameter.

        Args:
            gradients: a tuple with one Tensor per parameter, in their order.

        Returns:
            A tuple of True, one per parameter.
        """
        gradients = self._check_gradients(gradients)
        rates, decays = self._rates(), self._decays()
        self.begin_step()
        for i, (g, (p, group)) in enumerate(zip(gradients, self._groups.order)):
            if self.grad_centralization_flags[i]:
                g = _centralize(g)
            decay = decays[group] if self.decay_flags[i] else 0.0
            self.update_one(i, p, g, rates[group], decay)
        self.global_step._data += 1
        return (True,) * self.param_length

    def begin_step(self) -> None:
        """What a rule does once per step, before the first parameter."""

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter in place. Every optimizer overrides this or `construct`."""
        raise NotImplementedError(f"For '{self.cls_name}', the update rule is not defined.")

    def _check_gradients(self, gradients: Any) -> tuple:
        if not isinstance(gradients, (tuple, list)):
            raise TypeError(
                f"For '{self.cls_name}', 'gradients' must be a tuple of Tensors, but got {type(gradients).__name__}."
            )
        if len(gradients) != self.param_length:
            raise ValueError(
                f"For '{self.cls_name}', 'gradients' must have one entry per parameter, "
                f"{self.param_length}, but got {len(gradients)}."
            )
        for g, (p, _) in zip(gradients, self._groups.order):
            if g.shape != p.shape:
                raise ValueError(
                    f"For '{self.cls_name}', the gradient of {p.name} must have its shape {p.shape}, but got {g.shape}."
                )
        return tuple(gradients)

    def states(self, name: str, fill: float = 0.0) -> ParameterTuple:
        """Make one state parameter per trained parameter, named `<name>.<parameter>`."""
        made = [
            Parameter(from_array(np.full(p.shape, fill, p.asnumpy().dtype)), f"{name}.{p.name}")
            for p, _ in self._groups.order
        ]
        for state, (p, _) in zip(made, self._groups.order):
            state.layerwise_parallel = p.layerwise_parallel
        return ParameterTuple(made)


def _centralize(grad: Tensor) -> Tensor:
    """Take off the mean over all but the first dimension.

    Source: Yong et al., Gradient Centralization, 2020.
    """
    array = grad.asnumpy()
    if array.ndim < 2:
        return grad
    return from_array(array - array.mean(axis=tuple(range(1, array.ndim)), keepdims=True, dtype=array.dtype))


def run_kernel(kernel: Callable, param: Parameter, grad: Tensor, states: Sequence[Parameter], *scalars: Any) -> None:
    """Call an in-place update kernel on flat arrays; half types go through float32 and back."""
    arrays = [param._data, *[s._data for s in states]]
    dtype = arrays[0].dtype
    work_type = dtype if dtype in _KERNEL_TYPES else np.dtype(np.float32)
    flat = [np.ascontiguousarray(a, work_type).reshape(-1) for a in arrays]
    g = np.ascontiguousarray(grad.array(), work_type).reshape(-1)
    kernel(flat[0], g, *flat[1:], *scalars)
    for a, work in zip(arrays, flat):
        if not np.shares_memory(a, work):
            np.copyto(a, work.reshape(a.shape), casting="same_kind")
