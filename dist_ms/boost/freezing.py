"""Training that leaves the first layers as they are in some of the steps: their gradients are not computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.grad_operation import GradOperation
from dist_ms.boost.accumulation import GradientAccumulation
from dist_ms.boost.parameter_groups import OptimizerProcess, ParameterProcess
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_float_range, check_positive_int, check_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.basic import Identity
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.wrap.grad_reducer import DistributedGradReducer
from dist_ms.nn.wrap.train_step import seed_of

__all__ = ["FreezeOpt", "GradientFreeze", "freeze_cell"]

CONTINUOUS, INTERVAL = 0, 1


class FreezeOpt(Cell):
    """An optimizer for each of several sets of parameters, in the place of one for all.

    Args:
        opt: the optimizer whose class and arguments they get.
        train_parameter_groups: the sets, each a list of parameters or of groups; without, one of all parameters.
        train_strategy: the number of the set that each step trains.

    Attributes:
        opts: the optimizers.
        parameters: those of `opt`.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for a strategy without sets, or with other than whole numbers below their count.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.SequentialCell(ms.nn.Dense(2, 2), ms.nn.Dense(2, 2))
        >>> opt = ms.nn.SGD(net.trainable_params(), 0.1)
        >>> len(ms.boost.FreezeOpt(opt, [net.trainable_params(), net[1].trainable_params()], [0, 1]).opts)
        2
    """

    def __init__(
        self,
        opt: Optimizer,
        train_parameter_groups: Sequence | None = None,
        train_strategy: Sequence[int] | Tensor | None = None,
    ) -> None:
        super().__init__()
        check_type(opt, "opt", "FreezeOpt", Optimizer)
        if train_strategy is not None and train_parameter_groups is None:
            raise ValueError("For 'FreezeOpt', 'train_parameter_groups' must be given with a 'train_strategy'.")
        sets = [tuple(opt.parameters)] if train_parameter_groups is None else train_parameter_groups
        check_type(sets, "train_parameter_groups", "FreezeOpt", (tuple, list))
        for part in sets:
            check_type(part, "an entry of 'train_parameter_groups'", "FreezeOpt", (tuple, list))
        made = OptimizerProcess(opt)
        self.parameters = opt.parameters
        self.groups_num = len(sets)
        self.train_strategy = _strategy(train_strategy, len(sets))
        rates = self._rates(made.learning_rate)
        self.opts: list[Optimizer] = []
        for number, part in enumerate(sets):
            made.origin_params = list(part)
            made.learning_rate = rates[number] or made.single_opt.init_learning_rate
            single = made.generate_new_optimizer()
            weights = {id(p) for p in single.parameters}
            for p in single.get_parameters():
                if id(p) not in weights:
                    p.name = f"boost_{number}{p.name}"
            self.opts.append(single)

    def _rates(self, rate: Any) -> list[list[float]]:
        """The rates of each set's own steps, where there is a rate for each step."""
        rates: list[list[float]] = [[] for _ in range(self.groups_num)]
        steps = None if self.train_strategy is None else self.train_strategy.asnumpy().tolist()
        if isinstance(rate, list) and steps is not None and len(rate) <= len(steps):
            for number, value in zip(steps, rate):
                rates[number].append(value)
        return rates


def _strategy(steps: Any, sets: int) -> Tensor | None:
    """The numbers of the sets, as an int32 tensor."""
    if steps is None:
        return None
    check_type(steps, "train_strategy", "FreezeOpt", (tuple, list, Tensor))
    if isinstance(steps, Tensor):
        if steps.ndim != 1 or steps.dtype is not mstype.int32:
            raise ValueError(
                f"For 'FreezeOpt', 'train_strategy' must have one dimension and the type int32, but got "
                f"{steps.ndim} and {steps.dtype}."
            )
        steps = steps.asnumpy().tolist()
    if not all(type(s) is int and 0 <= s < sets for s in steps):
        raise ValueError(f"For 'FreezeOpt', 'train_strategy' must hold ints from 0 to {sets - 1}, but got {steps}.")
    return Tensor(np.array(steps, np.int32))


class GradientFreeze:
    """Freezes the first layers of a network in some steps, drawn at random.

    Args:
        param_groups: how many sets of parameters there are: all, and those of fewer and fewer last layers.
        freeze_type: 0: the sets come one after the other, then all parameters for a while; 1: all parameters and
            a drawn set in turns.
        freeze_p: the share of steps that freeze something.
        total_steps: how many steps training has.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.SequentialCell(*[ms.nn.Dense(2, 2) for _ in range(6)])
        >>> freeze = ms.boost.GradientFreeze(2, 1, 0.5, 100)
        >>> _, opt = freeze.freeze_generate(net, ms.nn.SGD(net.trainable_params(), 0.1))
        >>> [len(part.parameters) for part in opt.opts]
        [12, 8]
    """

    def __init__(self, param_groups: int, freeze_type: int, freeze_p: float, total_steps: int) -> None:
        self._param_groups = check_positive_int(param_groups, "param_groups", "GradientFreeze")
        if freeze_type not in (CONTINUOUS, INTERVAL):
            raise ValueError(f"For 'GradientFreeze', 'freeze_type' must be 0 or 1, but got {freeze_type!r}.")
        self._freeze_type = freeze_type
        self._freeze_p = check_float_range(freeze_p, "freeze_p", "GradientFreeze", 0.0, 1.0, "[)")
        self._total_steps = check_positive_int(total_steps, "total_steps", "GradientFreeze")

    def split_parameters_groups(self, net: Cell, freeze_para_groups_number: int) -> list[list]:
        """Return sets of a network's parameters: all, and without the first ones, and without more of them.

        Args:
            net: the network.
            freeze_para_groups_number: how many sets.
        """
        layers: list[list] = []
        together: list = []
        for p in net.trainable_params():
            if "bn" not in p.name and "bias" not in p.name and len(together) >= 3:
                layers.append(together)
                together = []
            together.append(p)
        if together:
            layers.append(together)
        stride = len(layers) // freeze_para_groups_number
        return [
            [p for layer in layers[number * stride :] for p in layer] for number in range(freeze_para_groups_number)
        ]

    def generate_freeze_index_sequence(
        self, parameter_groups_number: int, freeze_strategy: int, freeze_p: float, total_steps: int
    ) -> list[int]:
        """Return the number of the set that each step trains, for 1 % more steps than there are; 0 is all parameters.

        Args:
            parameter_groups_number: how many sets.
            freeze_strategy: 0 or 1, as `freeze_type`.
            freeze_p: the share of steps that freeze something.
            total_steps: how many steps.

        Raises:
            ValueError: for another strategy.
        """
        steps = int(total_steps * 1.01)
        if parameter_groups_number <= 1:
            return [0] * steps
        if freeze_strategy == CONTINUOUS:
            whole = int(freeze_p * (parameter_groups_number - 1) // (1 - freeze_p) + 0.5)
            turn = [0] * whole + list(range(1, parameter_groups_number))
            return turn * -(-steps // len(turn))
        if freeze_strategy != INTERVAL:
            raise ValueError(
                f"For 'generate_freeze_index_sequence', 'freeze_strategy' must be 0 or 1, but got {freeze_strategy!r}."
            )
        numbers = np.arange(1, parameter_groups_number)
        chosen, frozen = [0], 0
        while len(chosen) < steps:
            if frozen / len(chosen) < 1 - freeze_p:
                chosen.append(int(np.random.choice(numbers[::-1], p=numbers / numbers.sum())))
                frozen += 1
            else:
                chosen.append(0)
        return chosen

    def freeze_generate(self, network: Cell, optimizer: Optimizer) -> tuple[Cell, FreezeOpt]:
        """Return the network, and optimizers for its sets of parameters in the place of the one for all.

        Args:
            network: the network.
            optimizer: its optimizer.
        """
        origin = OptimizerProcess(optimizer).origin_params
        sets = self.split_parameters_groups(network, self._param_groups)
        groups = [ParameterProcess.generate_group_params(part, origin) for part in sets]
        steps = self.generate_freeze_index_sequence(
            self._param_groups, self._freeze_type, self._freeze_p, self._total_steps
        )
        return network, FreezeOpt(optimizer, groups, steps)


class _TrainFreezeCell(Cell):
    """A training step of some of a network's parameters."""

    def __init__(self, network: Cell, sens: float, reducer: Cell, optimizer: Optimizer, steps: int) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.sens, self.grad_reducer, self.opt = network, sens, reducer, optimizer
        self.grad_accumulation = GradientAccumulation(steps, optimizer) if steps > 1 else None

    def construct(self, *inputs: Any) -> Any:
        """Train on one batch and return the loss."""
        graph = Graph(self.network, inputs, weights=self.opt.parameters)
        loss = graph.outputs
        _, grads = graph.sweep(loss, seed_of(loss, self.sens))
        grads = self.grad_reducer(tuple(grads))
        if self.grad_accumulation is not None:
            return self.grad_accumulation(loss, grads)
        self.opt(grads)
        return loss


def freeze_cell(
    reducer_flag: bool,
    network: Cell,
    optimizer: FreezeOpt,
    sens: float,
    grad: GradOperation,
    use_grad_accumulation: bool,
    mean: bool | None = None,
    degree: int | None = None,
    max_accumulation_step: int = 1,
) -> tuple[Cell, ...]:
    """Return a training step for each set of parameters.

    Args:
        reducer_flag: sum gradients up over the ranks.
        network: returns the loss.
        optimizer: the optimizers.
        sens: the gradient of the loss to start from.
        grad: a `GradOperation(get_by_list=True, sens_param=True)`: no other gradients are meant.
        use_grad_accumulation: update once in `max_accumulation_step` steps.
        mean, degree: as for `nn.DistributedGradReducer`.
        max_accumulation_step: how many steps.

    Raises:
        TypeError: if `optimizer` or `grad` is something else.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.WithLossCell(ms.nn.Dense(1, 1, weight_init="ones", has_bias=False), ms.nn.MSELoss())
        >>> opt = ms.boost.FreezeOpt(ms.nn.SGD(net.trainable_params(), 0.5))
        >>> grad = ms.ops.GradOperation(get_by_list=True, sens_param=True)
        >>> step = ms.boost.freeze_cell(False, net, opt, 1.0, grad, False)[0]
        >>> print(step(ms.Tensor([[1.0]]), ms.Tensor([[0.0]])))
        1.0
    """
    check_type(optimizer, "optimizer", "freeze_cell", FreezeOpt)
    if not isinstance(grad, GradOperation) or not grad.get_by_list or grad.get_all:
        raise TypeError(
            f"For 'freeze_cell', 'grad' must be a GradOperation(get_by_list=True, sens_param=True), but got {grad!r}."
        )
    steps = max_accumulation_step if use_grad_accumulation else 1
    made = []
    buckets = ParameterProcess()
    for opt in optimizer.opts:
        reducer: Cell = Identity()
        if reducer_flag:
            reducer = DistributedGradReducer(buckets.assign_parameter_group(tuple(opt.parameters)), mean, degree)
        made.append(_TrainFreezeCell(network, sens, reducer, opt, steps))
    return tuple(made)
