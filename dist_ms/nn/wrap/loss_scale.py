"""Loss scaling: a train step whose gradients cannot underflow, and which skips those that overflow.

The loss' gradient starts from the scale instead of 1, gradients are divided by it afterwards. When
one of them is infinite or NaN on any rank, no rank updates its parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.scaled import scaled
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.wrap.finite_guard import first_not_finite
from dist_ms.nn.wrap.train_step import TrainOneStepCell
from dist_ms.ops.flow.mapping import HyperMap


def finite(tensors: Iterable[Tensor]) -> bool:
    """Return whether all elements of all tensors are finite.

    Args:
        tensors: of any dtypes.
    """
    return first_not_finite(list(tensors)) < 0


class FixedLossScaleUpdateCell(Cell):
    """Leaves the loss scale as it is.

    Args:
        loss_scale_value: the scale.

    Examples:
        >>> from dist_ms import nn
        >>> nn.FixedLossScaleUpdateCell(2**12).get_loss_scale()
        4096
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """Return the scale to start with."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Tensor) -> Tensor:
        """Return `overflow`.

        Args:
            loss_scale: the scale, which stays.
            overflow: whether the step overflowed.
        """
        return overflow


class DynamicLossScaleUpdateCell(Cell):
    """Lowers the loss scale after an overflow and raises it after many steps without one.

    Args:
        loss_scale_value: the scale to start with.
        scale_factor: what the scale is multiplied with, or divided by (not below 1).
        scale_window: raise the scale after so many steps without overflow.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> update = nn.DynamicLossScaleUpdateCell(2**12, scale_factor=2, scale_window=1000)
        >>> scale = ms.Parameter(ms.Tensor(4096.0), name="scale")
        >>> overflow = update(scale, ms.Tensor(True))
        >>> print(scale.asnumpy())
        2048.0
    """

    def __init__(self, loss_scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value
        self.scale_factor = Tensor(np.float32(scale_factor))
        self.scale_window = Tensor(np.int32(scale_window))
        self.cur_iter = Parameter(Tensor(np.int32(1)), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(np.int32(0)), name="last_overflow_iterator_step")

    def get_loss_scale(self) -> float:
        """Return the scale to start with."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Tensor) -> Tensor:
        """Change the scale and return `overflow`.

        Args:
            loss_scale: the scale.
            overflow: whether the step overflowed.
        """
        now, last = int(self.cur_iter.asnumpy()), int(self.last_overflow_iter.asnumpy())
        factor = self.scale_factor.asnumpy()
        scale = loss_scale.asnumpy()
        overflowed = bool(overflow.asnumpy().all())
        due = now - last >= int(self.scale_window.asnumpy())
        if overflowed:
            loss_scale.set_data(Tensor(np.maximum(scale / factor, np.ones_like(scale))))
        elif due:
            loss_scale.set_data(Tensor(scale * factor))
        if overflowed or due:
            self.last_overflow_iter.set_data(Tensor(np.int32(now)))
        self.cur_iter.set_data(Tensor(np.int32(now + 1)))
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step with loss scaling: `construct(*inputs)` returns (loss, overflow, scale).

    Parameters stay as they are in a step that overflows on any rank.

    Args:
        network: a Cell that returns the loss.
        optimizer: updates the parameters it was made with; it gets gradients without the scale.
        scale_sense: the scale as a Tensor of shape () or (1,); or a cell that also changes it, such
            as `DynamicLossScaleUpdateCell`.

    Raises:
        TypeError: if `scale_sense` is neither.
        ValueError: if the Tensor has another shape.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.WithLossCell(nn.Dense(1, 1, weight_init="ones", has_bias=False), nn.MSELoss())
        >>> update = nn.DynamicLossScaleUpdateCell(2**12, scale_factor=2, scale_window=1000)
        >>> step = nn.TrainOneStepWithLossScaleCell(net, nn.SGD(net.trainable_params(), 0.5), update)
        >>> loss, overflow, scale = step(ms.Tensor([[1.0]]), ms.Tensor([[0.0]]))
        >>> print(loss, overflow, scale)
        1.0 False 4096.0
    """

    def __init__(self, network: Cell, optimizer: Optimizer, scale_sense: Cell | Tensor) -> None:
        super().__init__(network, optimizer)
        owner = "TrainOneStepWithLossScaleCell"
        self.loss_scaling_manager: Any = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            scale_sense = Tensor(np.float32(scale_sense.get_loss_scale()))
        elif not isinstance(scale_sense, Tensor):
            raise TypeError(f"For '{owner}', 'scale_sense' must be a Cell or a Tensor, but got {scale_sense!r}.")
        if scale_sense.shape not in ((), (1,)):
            raise ValueError(f"For '{owner}', 'scale_sense' must have shape () or (1,), but got {scale_sense.shape}.")
        self.scale_sense = Parameter(scale_sense, name="scale_sense")
        # Names that steps derived from MindSpore's use in their own `construct`.
        self.hyper_map = HyperMap()
        self.base = Tensor(np.float32(1))
        self.is_distributed = self.reducer_flag

    def construct(self, *inputs: Any) -> tuple[Any, Tensor, Tensor]:
        """Train on one batch; return the loss, whether it overflowed, and the scale of this step."""
        scale = Tensor(self.scale_sense.asnumpy())
        with np.errstate(all="ignore"):  # what overflows is found below
            loss, grads = self._gradients(inputs, scale)
        return self._update(loss, grads)

    def _update(self, loss: Any, grads: list[Tensor]) -> tuple[Any, Tensor, Tensor]:
        """Update the parameters unless the gradients overflowed anywhere, or are being summed up."""
        scale = Tensor(self.scale_sense.asnumpy())
        if self._summing:
            return loss, Tensor(False), scale
        with np.errstate(all="ignore"):
            grads = [self._unscaled(g, scale) for g in grads]
        overflow = self.get_overflow_status(None, grads)
        if not self.process_loss_scale(overflow).asnumpy().all():
            self.optimizer(tuple(self._clipped(grads)))
        return loss, overflow, scale

    @staticmethod
    def _unscaled(grad: Any, scale: Tensor) -> Any:
        """Divide a gradient by the scale, in the gradient's type."""
        if type(grad) is RowTensor:
            return grad.with_values(TrainOneStepWithLossScaleCell._unscaled(grad.values, scale))
        return scaled(grad, (1 / scale.asnumpy()).item())

    def set_sense_scale(self, sens: Tensor) -> None:
        """Set the scale.

        Args:
            sens: of the shape of the present one.

        Raises:
            TypeError: if it is no Tensor.
        """
        check_type(sens, "sens", "TrainOneStepWithLossScaleCell", Tensor)
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> tuple[Tensor, Any]:
        """Return a status for `get_overflow_status`, and `compute_input`: nothing has to be cleared here.

        Args:
            pre_cond: accepted; orders the check after other work on other hardware.
            compute_input: returned.
        """
        return Tensor(np.zeros(8, np.int32)), compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Tensor:
        """Return whether something is not finite, on this rank or any other.

        Args:
            status: what `start_overflow_check` returned; not looked at.
            compute_output: the gradients.
        """
        overflow = np.array([not finite(compute_output)], np.int32)
        return Tensor(bool(self.session.comm.all_reduce(overflow, "max")[0]))

    def process_loss_scale(self, overflow: Tensor) -> Tensor:
        """Let the update cell change the scale, and return `overflow`.

        Args:
            overflow: what `get_overflow_status` returned.
        """
        if self.loss_scaling_manager is None:
            return overflow
        return self.loss_scaling_manager(self.scale_sense, overflow)
