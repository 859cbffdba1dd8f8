"""Train steps that do what `AutoBoost` has chosen."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.boost.accumulation import GradientAccumulation
from dist_ms.boost.adaptive_sum import AdaSum
from dist_ms.boost.choice import AutoBoost
from dist_ms.boost.few_dimensions import DimReduce
from dist_ms.boost.freezing import FreezeOpt, freeze_cell
from dist_ms.boost.principal_components import load_share
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.settings.parallel_context import ParallelMode, get_auto_parallel_context
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.communication.groups.creation import create_group
from dist_ms.nn.cell import Cell
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.wrap.grad_reducer import DistributedGradReducer
from dist_ms.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell
from dist_ms.nn.wrap.train_step import TrainOneStepCell
from dist_ms.parallel.mode import world_comm

__all__ = ["BoostTrainOneStepCell", "BoostTrainOneStepWithLossScaleCell"]

_log = logging.getLogger("dist_ms")
_LOWER, _RAISE = 2**-0.5, 2**0.001  # what a group's loss scale is multiplied by


class BoostTrainOneStepCell(TrainOneStepCell):
    """One training step as `nn.TrainOneStepCell` takes it, with what `AutoBoost` has chosen.

    Args:
        network: a Cell that returns the loss.
        optimizer: an optimizer; or a `FreezeOpt`, each step of which trains the set that it names.
        sens: the gradient of the loss to start from; 1.0 by default.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.WithLossCell(nn.Dense(1, 1, weight_init="ones", has_bias=False), nn.MSELoss())
        >>> step = ms.boost.BoostTrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.5))
        >>> print(step(ms.Tensor([[1.0]]), ms.Tensor([[0.0]])))
        1.0
    """

    def __init__(self, network: Cell, optimizer: Any, sens: float | None = None) -> None:
        super().__init__(network, optimizer, sens)
        self.freeze = isinstance(optimizer, FreezeOpt)
        if self.freeze and get_auto_parallel_context("enable_parallel_optimizer"):
            raise ValueError(
                f"For '{type(self).__name__}', 'enable_parallel_optimizer' must be False with a FreezeOpt, but got "
                "True."
            )
        self.train_strategy = getattr(optimizer, "train_strategy", None)
        self.auto_boost = AutoBoost()
        self.step = Parameter(Tensor(np.int32(0)), name="step")
        steps = self.auto_boost.grad_accumulation_step
        self.use_grad_accumulation = (
            self.parallel_mode in (ParallelMode.DATA_PARALLEL, ParallelMode.STAND_ALONE)
            and self.auto_boost.boost_config["grad_accumulation"]
            and steps > 1
        )
        self.max_accumulation_step = steps if self.use_grad_accumulation else 1
        self.freeze_nets: tuple[Cell, ...] = ()
        self.enable_dim_reduce = self.check_dim_reduce_enable()
        self.enable_adasum = self.check_adasum_enable()
        if self.freeze:
            self._make_freezing()
            return
        if self.enable_dim_reduce:
            self._make_dim_reduce()
        elif self.enable_adasum:
            self._make_adasum()
        if self.use_grad_accumulation:
            self.grad_accumulation = GradientAccumulation(steps, optimizer)

    # ---- what was chosen
    def check_adasum_enable(self) -> bool:
        """Return whether changes of weights are summed up adaptively: asked for, and on 2, 4, 8 ... groups of ranks."""
        if not getattr(self.optimizer, "adasum", False) or self.freeze:
            return False
        groups = world_comm().size // self.auto_boost.device_number if self.reducer_flag else 0
        if groups > 1 and groups & (groups - 1) == 0 and world_comm().size % groups == 0:
            return True
        _log.warning(
            "For 'AutoBoost', 'adasum' needs 2, 4, 8 ... groups of 'device_number' (%d) ranks that train together: "
            "gradients are averaged.",
            self.auto_boost.device_number,
        )
        return False

    def check_dim_reduce_enable(self) -> bool:
        """Return whether steps are taken in few dimensions."""
        return bool(getattr(self.optimizer, "dim_reduce", False))

    def _make_freezing(self) -> None:
        mean, degree = (self.mean, self.degree) if self.reducer_flag else (None, None)
        self.freeze_nets = freeze_cell(
            *(self.reducer_flag, self.network, self.optimizer, self.sens, self.grad, self.use_grad_accumulation),
            *(mean, degree, self.max_accumulation_step),
        )

    def _make_dim_reduce(self) -> None:
        boost = self.auto_boost
        share = load_share(str(boost.local_pca_mat_path), boost.timeout)
        rank, size = (world_comm().rank, world_comm().size) if self.reducer_flag else (0, 1)
        self.weights_clone = ParameterTuple(self.weights).clone(prefix="weights_clone", init="same")
        self.dim_reduce = DimReduce(
            *(self.network, self.optimizer, self.weights, share, boost.n_components),
            *(boost.rho, boost.gamma, boost.alpha, boost.sigma, rank, size),
        )

    def _make_adasum(self) -> None:
        comm, count = world_comm(), self.auto_boost.device_number
        own = comm.rank // count
        name = f"boost_group_{own}_of_{count}"
        create_group(name, list(range(own * count, (own + 1) * count)))
        for p in self.network.get_parameters():  # the groups start equal; each sees to its own ranks only
            p.set_data(from_array(comm.broadcast(np.array(p.asnumpy()))))
        self.grad_reducer = DistributedGradReducer(self.weights, self.mean, group=name, network=self)
        self.adasum = AdaSum(comm.rank, count, comm.size // count, self.weights)

    # ---- the step
    def construct(self, *inputs: Any) -> Any:
        """Train on one batch and return the loss."""
        if self.freeze:
            return self.gradient_freeze_process(*inputs)
        loss, grads = self._gradients(inputs, self.sens)
        return loss if self._summing else self._take(loss, grads, self.sens, inputs)

    def _take(self, loss: Any, grads: Sequence[Tensor], sens: Any, inputs: tuple) -> Any:
        """Update the weights with the gradients, in the chosen way."""
        if self.use_grad_accumulation:
            return self.gradient_accumulation_process(loss, grads, sens, *inputs)
        return self._update_weights(loss, grads, sens, inputs)

    def _update_weights(self, loss: Any, grads: Sequence[Tensor], sens: Any, inputs: tuple) -> Any:
        if self.enable_dim_reduce:
            self._like_weights()
            scale = sens if isinstance(sens, Tensor) else Tensor(np.float32(sens))
            return self.dim_reduce(loss, tuple(grads), scale, self.weights, self.weights_clone, *inputs)
        if self.enable_adasum:
            return self.adasum_process(loss, tuple(grads))
        return self._update(loss, list(grads))

    def _like_weights(self) -> None:
        """Let the copies of the weights be what the weights are: a checkpoint may have been loaded."""
        for kept, p in zip(self.weights_clone, self.weights):
            kept.assign_value(p)

    def gradient_freeze_process(self, *inputs: Any) -> Any:
        """Train the set of parameters whose turn it is on one batch, and return the loss.

        Args:
            inputs: the batch.

        Raises:
            RuntimeError: within `no_sync`.
        """
        if self._summing:
            raise RuntimeError(
                "For 'BoostTrainOneStepCell', 'no_sync' must not be used with a FreezeOpt, whose sets of parameters "
                "differ from step to step: use 'grad_accumulation' of AutoBoost."
            )
        step = int(self.step.asnumpy())
        strategy = self.train_strategy
        count = len(self.freeze_nets) if strategy is None else strategy.size
        loss = self.freeze_nets[step if strategy is None else int(strategy.asnumpy()[step])](*inputs)
        self.step.set_data(Tensor(np.int32((step + 1) % count)))
        return loss

    def gradient_accumulation_process(self, loss: Any, grads: Sequence[Tensor], sens: Any, *inputs: Any) -> Any:
        """Add a step's share to the mean of the gradients; the last of `max_accumulation_step` updates the weights.

        Args:
            loss: the loss, which is returned.
            grads: the gradients.
            sens: the gradient of the loss.
            inputs: the batch.
        """
        kept = self.grad_accumulation
        return kept.add(loss, grads, lambda mean: self._update_weights(loss, mean, sens, inputs))

    def adasum_process(self, loss: Any, grads: tuple[Tensor, ...]) -> Any:
        """Update the weights with the mean over this rank's group, then add the groups' changes up adaptively.

        Args:
            loss: the loss, which is returned.
            grads: the gradients.
        """
        before = [Tensor(p.asnumpy().copy()) for p in self.weights]
        self._update(loss, list(grads))
        changes = [Tensor(old.asnumpy() - p.asnumpy()) for old, p in zip(before, self.weights)]
        self.adasum(tuple(changes), self.weights, tuple(before))
        return loss

    def idle_step(self, loss: Any = None) -> Any:
        """Take part in a step of the other ranks without a batch of one's own, in steps that are plain ones.

        Args:
            loss: what to return as this rank's loss.

        Raises:
            NotImplementedError: in a chosen way.
        """
        if self.freeze or self.enable_dim_reduce or self.enable_adasum or self.use_grad_accumulation:
            raise NotImplementedError(
                f"For '{type(self).__name__}', 'uneven' must not be 'exact' with AutoBoost: every rank must have a "
                "batch for every step."
            )
        return super().idle_step(loss)


class BoostTrainOneStepWithLossScaleCell(BoostTrainOneStepCell, TrainOneStepWithLossScaleCell):
    """One training step with loss scaling and what `AutoBoost` has chosen: returns (loss, overflow, scale).

    Args:
        network: a Cell that returns the loss.
        optimizer: its optimizer.
        scale_sense: as for `nn.TrainOneStepWithLossScaleCell`; a `GroupLossScaleManager` where "loss_scale_group" is
            chosen.

    Raises:
        TypeError: if `scale_sense` is something else, or the optimizer a `FreezeOpt`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.WithLossCell(nn.Dense(1, 1, weight_init="ones", has_bias=False), nn.MSELoss())
        >>> opt = nn.SGD(net.trainable_params(), 0.5)
        >>> step = ms.boost.BoostTrainOneStepWithLossScaleCell(net, opt, ms.Tensor(4.0))
        >>> loss, overflow, scale = step(ms.Tensor([[1.0]]), ms.Tensor([[0.0]]))
        >>> print(loss, overflow, scale)
        1.0 False 4.0
    """

    def __init__(self, network: Cell, optimizer: Optimizer, scale_sense: Cell | Tensor) -> None:
        if isinstance(optimizer, FreezeOpt):
            raise TypeError(
                "For 'BoostTrainOneStepWithLossScaleCell', 'optimizer' must be an Optimizer, but got a FreezeOpt: use "
                "BoostTrainOneStepCell."
            )
        grouped = AutoBoost().boost_config["loss_scale_group"]
        if grouped and not hasattr(scale_sense, "set_loss_scale_status"):
            raise TypeError(
                "For 'BoostTrainOneStepWithLossScaleCell', 'scale_sense' must be a GroupLossScaleManager with "
                f"'loss_scale_group', but got {type(scale_sense).__name__}."
            )
        super().__init__(network, optimizer, Tensor(1.0) if grouped else scale_sense)  # type: ignore[arg-type]
        self.enable_enhanced_amp = grouped
        if grouped:
            self._make_groups(scale_sense)

    def _make_groups(self, manager: Any) -> None:
        """Find the group of each parameter, and make the groups' scales."""
        self.loss_scaling_manager, groups = manager, manager.loss_scale_groups
        number = {id(p): place for place, group in enumerate(groups) for p in group}
        missing = [p.name for p in self.weights if id(p) not in number]
        if missing:
            raise ValueError(
                f"For 'GroupLossScaleManager', 'loss_scale_groups' must hold every parameter, but {missing} are in "
                "none."
            )
        self._groups = [number[id(p)] for p in self.weights]
        manager.set_loss_scale_status(len(groups), manager.get_loss_scale())

    def construct(self, *inputs: Any) -> tuple[Any, Tensor, Tensor]:
        """Train on one batch; return the loss, whether it overflowed, and the scale of this step."""
        if self.enable_enhanced_amp:
            return self._grouped_step(inputs)
        scale = Tensor(self.scale_sense.asnumpy())
        with np.errstate(all="ignore"):
            loss, grads = self._gradients(inputs, scale)
            grads = [self._unscaled(g, scale) for g in grads]
        if self._summing:
            return loss, Tensor(False), scale
        overflow = self.get_overflow_status(None, grads)
        if not self.process_loss_scale(overflow).asnumpy().all():
            self._take(loss, grads, 1.0, inputs)
        return loss, overflow, scale

    def _update(self, loss: Any, grads: list[Tensor]) -> Any:
        """Give the optimizer the gradients, which have no scale any more."""
        self.optimizer(tuple(self._clipped(grads)))
        return loss

    def _grouped_step(self, inputs: tuple) -> tuple[Any, Tensor, Tensor]:
        """A step whose groups of parameters have scales of their own; returns how many of them overflowed."""
        scales = [Tensor(p.asnumpy()) for p in self.loss_scaling_manager.dynamic_loss_scale[1:-1]]
        with np.errstate(all="ignore"):
            loss, grads = self._gradients(inputs, 1.0)
            grads = [self._unscaled(g, scales[group]) for g, group in zip(grads, self._groups)]
        overflowed: list[bool] = []
        if self._summing:
            return loss, Tensor(np.int32(0)), scales[0]
        for group in range(len(scales)):
            overflow = self.get_overflow_status(None, [g for g, place in zip(grads, self._groups) if place == group])
            overflowed.append(bool(overflow.asnumpy()))
            self.loss_scaling_manager.update_loss_scale_status(group, _LOWER if overflowed[-1] else _RAISE)
        if not any(overflowed):
            self._take(loss, grads, 1.0, inputs)
        return loss, Tensor(np.int32(sum(overflowed))), scales[0]
