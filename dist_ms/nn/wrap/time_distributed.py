"""TimeDistributed: one layer on every step of a sequence."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_int
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.joining import stack
from dist_ms.ops.shaping.reshaping import reshape
from dist_ms.ops.shaping.splitting import unstack
from dist_ms.ops.shaping.transposing import movedim


class TimeDistributed(Cell):
    """Apply a layer to every step of a sequence.

    Args:
        layer: a Cell or Primitive of one Tensor.
        time_axis: the axis of the steps.
        reshape_with_axis: do all steps in one call, as part of this axis (usually the batch); the
            time axis then stands beside it in the result. None: one call per step.

    Inputs:
        inputs (Tensor): of at least 3 dimensions.

    Outputs:
        Tensor, the layer's outputs stacked along the time axis.

    Raises:
        TypeError: for arguments of the wrong type, or if the layer returns no Tensor.
        ValueError: if the input has fewer than 3 dimensions, or the layer's output does not keep the
            axis that was reshaped.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> layer = nn.TimeDistributed(nn.Dense(4, 2), time_axis=1, reshape_with_axis=0)
        >>> layer(ms.ops.ones((3, 5, 4))).shape
        (3, 5, 2)
    """

    def __init__(self, layer: Any, time_axis: int, reshape_with_axis: int | None = None) -> None:
        super().__init__()
        if not isinstance(layer, (Cell, Primitive)):
            raise TypeError(
                f"For 'TimeDistributed', 'layer' must be a Cell or a Primitive, but got {type(layer).__name__}."
            )
        self.layer = layer
        self.time_axis = check_int(time_axis, "time_axis", "TimeDistributed")
        if reshape_with_axis is not None:
            check_int(reshape_with_axis, "reshape_with_axis", "TimeDistributed")
        self.reshape_with_axis = reshape_with_axis

    def construct(self, inputs: Tensor) -> Tensor:
        """Apply the layer."""
        _check_tensor("inputs", inputs)
        if inputs.ndim < 3:
            raise ValueError(
                f"For 'TimeDistributed', 'inputs' must have at least 3 dimensions, but got shape {inputs.shape}."
            )
        time = self.time_axis % inputs.ndim
        if self.reshape_with_axis is not None:
            return self._reshaped(inputs, time, self.reshape_with_axis % inputs.ndim)
        outputs = [self._output(step) for step in unstack(inputs, time)]
        if time > outputs[0].ndim:
            raise ValueError(
                f"For 'TimeDistributed', 'time_axis' must be at most the dimensions of an output {outputs[0].shape}, "
                f"but got {self.time_axis}."
            )
        return stack(outputs, time)

    def _output(self, step: Tensor) -> Tensor:
        output = self.layer(step)
        _check_tensor("the layer's output", output)
        return output

    def _reshaped(self, inputs: Tensor, time: int, axis: int) -> Tensor:
        """Put the time axis beside another, make the two one, and part them in the output."""
        if axis == inputs.ndim - 1:
            beside = axis - 1
        else:
            beside = axis + 1 if time > axis else axis - 1
        moved = movedim(inputs, max(beside, time), min(beside, time))
        first = min(beside, axis)
        pair = moved.shape[first : first + 2]
        merged = reshape(moved, (*moved.shape[:first], -1, *moved.shape[first + 2 :]))
        output = self._output(merged)
        if first >= output.ndim or output.shape[first] != merged.shape[first]:
            raise ValueError(
                f"For 'TimeDistributed', the layer must keep axis {first} of length {merged.shape[first]}, but its "
                f"output has shape {output.shape}. Leave 'reshape_with_axis' out."
            )
        return reshape(output, (*output.shape[:first], *pair, *output.shape[first + 1 :]))


def _check_tensor(what: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"For 'TimeDistributed', {what} must be a Tensor, but got {type(value).__name__}.")
