"""Optimizer: the step over all parameters.

A step centralizes the gradients that ask for it and updates every parameter in place: by one call
of the compiled `rule`, or, one by one, through a subclass's `update_one`. Both take the loss scale
and the weight decay in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.initializer import Constant, initializer
from dist_ms.common.lanes import span
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.parameter.postponing import no_init_parameters
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.nn.optim.hyper_parameters.arguments import opt_init_args_register
from dist_ms.nn.optim.hyper_parameters.settings import OptimizerSettings
from dist_ms.nn.optim.step.elementwise import prepare_to_write, run_rule
from dist_ms.nn.optim.step.gradients import centralized, decayed, scaled
from dist_ms.nn.optim.step.updates import update_all, update_alone
from dist_ms.parallel.servers import served

if TYPE_CHECKING:
    from dist_ms.parallel.shared_update import SharedUpdate

_F32 = np.dtype(np.float32)

__all__ = ["Optimizer", "check_gradients", "make_states", "opt_init_args_register"]


class Optimizer(OptimizerSettings):
    """Base class of optimizers.

    A subclass of its own defines `update_one(index, param, grad, lr, weight_decay)`, or
    `construct(gradients)` with `get_lr`, `decay_weight`, `gradients_centralization`,
    `scale_grad` and the fields below.

    Args:
        learning_rate: a float, a list or 1-D Tensor with one entry per step, or a LearningRateSchedule.
        parameters: Parameters, or dictionaries with the keys `params`, `lr`, `weight_decay`,
            `grad_centralization` (take the mean off the gradients of two and more
            dimensions), `order_params` (alone in its dictionary: the order of the gradients).
        weight_decay: a float or a Cell called with the step. Without groups, parameters with
            "beta" or "gamma" in their names are left out.
        loss_scale: gradients are divided by it.

    Attributes:
        parameters: the parameters in the order of the gradients.
        learning_rate: a Parameter or a Cell; one per parameter when groups have their own.
        weight_decay: times the loss scale: a Tensor or a Cell; with groups one per parameter.
        global_step: an int32 Parameter of shape (1,), the number of steps taken.

    Raises:
        TypeError: for a learning rate, weight decay, loss scale or parameter of another type.
        ValueError: for numbers below their range, no parameters, or two of one name.
        KeyError: for an unknown key of a group.
        RuntimeError: for a parameter in two groups.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> class Halve(nn.Optimizer):
        ...     def construct(self, gradients):
        ...         for p in self.parameters:
        ...             p.set_data(p * 0.5)
        ...         return True
        >>> w = ms.Parameter(ms.Tensor([4.0]), name="w")
        >>> _ = Halve(0.1, [w])((ms.Tensor([0.0]),))
        >>> print(w.asnumpy())
        [2.]
    """

    decoupled_decay = False  # the rule takes the decay off the weights, not through the gradient
    rule_parts = (
        *("rule", "construct", "update_some", "apply_one", "update_one", "run_rule", "begin_step", "rule_states"),
        *("rule_numbers", "decay_weight", "scale_grad", "gradients_centralization"),
    )
    rule = ""  # the compiled rule that updates a parameter, if there is one
    numbers_differ = False  # the numbers of the rule depend on the parameter, not only on its rates
    # Cuts the places of a step's parameters into parts that are updated one after the other; None: all at once.
    turns: Callable[[Collection[int]], Iterable[Collection[int]]] | None = None
    shared_update: SharedUpdate | None = None  # the update that the ranks of one machine make together
    lazy_rows = False  # rows without a gradient are left alone when gradients come by rows

    # ---- gradients, for subclasses that define `construct`
    def scale_grad(self, gradients: Any) -> Any:
        """Divide the gradients by the loss scale."""
        return tuple(scaled(g, self.grad_factor) for g in gradients) if self.need_scale else gradients

    def gradients_centralization(self, gradients: Any) -> Any:
        """Take the mean over all but the first dimension off the gradients that ask for it."""
        if not self.is_group:
            return gradients
        return tuple(centralized(g) if flag else g for g, flag in zip(gradients, self.grad_centralization_flags))

    def decay_weight(self, gradients: Any) -> Any:
        """Add weight decay times loss scale times parameter to the gradients; `scale_grad` comes after it."""
        if not self.exec_weight_decay:
            return gradients
        rows = zip(gradients, self.parameters, self._decays())
        return tuple(decayed(g, p, decay * self.loss_scale) if decay else g for g, p, decay in rows)

    def _grad_sparse_indices_deduplicate(self, gradients: Any) -> Any:
        """The gradients as they are, since they are dense; users' copies of MindSpore's optimizers call it."""
        return gradients

    def flatten_gradients(self, gradients: Any) -> Any:
        """The gradients as they are: MindSpore 2.10 has no flattened parameters any more."""
        return gradients

    def broadcast_params(self, optim_result: Any) -> Any:
        """What the parallel optimizer (`use_parallel`) does after its update.

        Raises:
            RuntimeError: always: `use_parallel` is False on CPUs.
        """
        raise RuntimeError(
            f"For '{self.cls_name}', 'broadcast_params' needs the parallel optimizer, but 'use_parallel' is False "
            "on CPUs: every rank updates all parameters."
        )

    # ---- the step
    def construct(self, gradients: Any) -> Any:
        """Update every parameter.

        Args:
            gradients: a tuple with one Tensor per parameter, in their order.

        Returns:
            A tuple of True, one per parameter.

        Raises:
            TypeError: if a gradient is no Tensor, or a parameter has no float type.
            ValueError: if there are more or fewer, or of other shapes.
        """
        with span("update"):
            checked = dict(enumerate(check_gradients(gradients, self.cls_name, self.parameters)))
            self.update_some(served.push(self, checked))
        return (True,) * self.param_length

    def update_some(self, gradients: Mapping[int, Any]) -> None:
        """Take a step that updates some of the parameters: those that this process holds.

        Args:
            gradients: by the place of the parameter among `parameters`.
        """
        rates, decays = self._rates(), self._decays()
        self.global_step._data += 1
        self.begin_step()
        for part in (gradients,) if self.turns is None else self.turns(gradients):
            self._update(part, gradients, rates, decays)

    def _update(self, part: Collection[int], gradients: Mapping[int, Any], rates: Any, decays: Any) -> None:
        """Update the parameters at some places."""
        if self.compiled():
            centralize = self.grad_centralization_flags
            alone = [i for i in part if centralize[i]] if any(centralize) else ()
            together = [i for i in part if not centralize[i]] if alone else list(part)
            update_all(self, together, gradients, rates, decays)
        else:
            alone = list(part)
        for i in alone:
            grad = gradients[i].to_dense() if type(gradients[i]) is RowTensor else gradients[i]
            self.apply_one(i, self.parameters[i], grad, rates[i], decays[i])

    def compiled(self) -> bool:
        """Whether one call of a compiled rule updates all parameters: no subclass has a rule of its own."""
        kind = type(self)
        return bool(
            kind.rule
            and kind.update_one is Optimizer.update_one
            and kind.apply_one is Optimizer.apply_one
            and self.rule
            and self.parameters is self._parameters
        )

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The states of one parameter, in the order of the compiled rule."""
        return ()

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the compiled rule for one parameter (see `_ext/updates/optimizer_rules.pxd`)."""
        raise NotImplementedError(f"For '{self.cls_name}', the compiled rule has no numbers.")

    def idle_without_gradient(self) -> bool:
        """Whether the rule changes nothing where the gradient is 0 and there is no weight decay."""
        return False

    def begin_step(self) -> None:
        """What a rule does once per step, before the first parameter."""

    def apply_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Centralize the gradient of one parameter if asked, and update it."""
        prepare_to_write(param)
        if self.grad_centralization_flags[index]:
            if weight_decay and not self.decoupled_decay:
                grad = decayed(grad, param, weight_decay * self.loss_scale)
                weight_decay = 0.0
            grad = centralized(grad)
        self.update_one(index, param, grad, lr, weight_decay)

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter in place. Every optimizer overrides this or `construct`.

        Args:
            index: the parameter's place among `parameters` and states.
            param: the parameter.
            grad: its gradient, still times the loss scale.
            lr: its learning rate.
            weight_decay: its weight decay.
        """
        if not self.rule:
            raise NotImplementedError(f"For '{self.cls_name}', the update rule is not defined.")
        update_alone(self, index, param, grad, self.rule_numbers(index, lr, weight_decay))

    def run_rule(
        self, rule: Callable, param: Parameter, grad: Tensor, states: Sequence[Parameter], decay: float, *scalars: Any
    ) -> None:
        """Run an element-wise NumPy rule on the gradient without loss scale and with weight decay."""
        run_rule(rule, param, grad, states, *scalars, scale=self.grad_factor, decay=decay)

    def states(self, name: str, fill: float = 0.0) -> ParameterTuple:
        """Make one state parameter per trained parameter, named `<name>.<parameter>`."""
        return make_states(self.parameters, name, fill)


def make_states(parameters: Iterable[Parameter], name: str, fill: float = 0.0) -> ParameterTuple:
    """One state parameter per parameter, of its shape and type, named `<name>.<parameter>`, filled with a number."""
    made = []
    for p in parameters:
        if p._data is None:  # as large as a parameter that has no values here yet, and perhaps never will
            with no_init_parameters():
                state = Parameter(initializer(Constant(fill), p.shape, p.dtype), f"{name}.{p.name}")
        else:
            state = Parameter(from_array(np.full(p.shape, fill, p.dtype.np)), f"{name}.{p.name}")
        state.layerwise_parallel = p.layerwise_parallel
        made.append(state)
    return ParameterTuple(made)


def check_gradients(gradients: Any, owner: str, parameters: Sequence[Parameter]) -> tuple:
    """Check that there is a gradient of its shape for every parameter.

    Raises:
        TypeError: if one is no Tensor, or a parameter has no float type.
        ValueError: if there are more or fewer, or of other shapes.
    """
    if not isinstance(gradients, (tuple, list)):
        raise TypeError(f"For '{owner}', 'gradients' must be a tuple of Tensors, but got {type(gradients).__name__}.")
    if len(gradients) != len(parameters):
        raise ValueError(
            f"For '{owner}', 'gradients' must have one entry per parameter, {len(parameters)}, "
            f"but got {len(gradients)}."
        )
    for g, p in zip(gradients, parameters):
        data, weights = getattr(g, "_held", None), p._data
        if data is not None and weights is not None and data.shape == weights.shape and weights.dtype is _F32:
            continue
        if not isinstance(g, (Tensor, RowTensor)):
            raise TypeError(f"For '{owner}', the gradient of {p.name} must be a Tensor, but got {type(g).__name__}.")
        if not isinstance(p.dtype, (mstype.Float, mstype.BFloat)):
            raise TypeError(f"For '{owner}', the parameter {p.name} must have a float type, but got {p.dtype}.")
        if g.shape != p.shape:
            raise ValueError(
                f"For '{owner}', the gradient of {p.name} must have its shape {p.shape}, but got {g.shape}."
            )
    return tuple(gradients)
