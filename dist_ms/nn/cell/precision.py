"""Mixed precision of a Cell: the type its operations run in.

Fields of a cell: writes `_cell_float_type`, `_cell_policy`.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from dist_ms.autograd.tree import map_tensors
from dist_ms.common import dtype as mstype
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell.shortcut import choose_call
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.widening import widened

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell


class MixedPrecisionType(enum.Enum):
    """The type that a cell's operations run in."""

    NOTSET = 0
    FP16 = 1
    FP32 = 2
    BF16 = 3


# By flag of `add_flags`.
_TYPES = {"fp16": mstype.float16, "fp32": mstype.float32, "bf16": mstype.bfloat16}
_FLOATS = frozenset(t.np for t in (mstype.float16, mstype.bfloat16, mstype.float32, mstype.float64))
# Operations that keep the type of what they are given.
_KEEPING = frozenset(
    "Cast Reshape Transpose ExpandDims Squeeze BroadcastTo GetItem SetItem StridedSlice ZerosLike OnesLike Identity "
    "Depend Load".split()
)


class RunIn:
    """A policy of operations (`autograd.tape.recording.policy`): floating-point inputs are cast to one type.

    It returns the inputs, or the result of an operation that the casts are part of.

    Args:
        dtype: the type.
    """

    def __init__(self, dtype: mstype.Number) -> None:
        self.dtype = dtype
        self._np = dtype.np

    def __call__(self, primitive: Any, inputs: tuple) -> Any:
        if primitive.name in _KEEPING:
            return inputs
        if self.dtype is mstype.float32 and (out := widened(primitive, inputs)) is not None:
            return out
        return tuple([self._cast(x) if isinstance(x, Tensor) else x for x in inputs])

    def _cast(self, x: Tensor) -> Tensor:
        found = x._element
        return cast_array(x, self._np) if found != self._np and found in _FLOATS else x


def to_float(self: Cell, dst_type: mstype.Number) -> Any:
    """Run the operations of this cell and all nested ones in a floating-point type.

    Every operation inside casts its floating-point tensors, parameters among them, to the
    type; parameters keep theirs, and so do their gradients. A later call of a nested cell's
    own `to_float` wins there.

    Args:
        dst_type: float32, float16 or bfloat16.

    Returns:
        The cell itself.

    Raises:
        ValueError: for another type.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.Dense(2, 1).to_float(ms.float16)
        >>> print(net(ms.Tensor([[1.0, 2.0]])).dtype, net.weight.dtype)
        Float16 Float32
    """
    if not any(dst_type is t for t in _TYPES.values()):
        raise ValueError(
            f"For 'to_float', 'dst_type' must be float16, bfloat16 or float32 of dist_ms' types, but got {dst_type!r}."
        )
    return self.add_flags_recursive(**{flag: dst_type is t for flag, t in _TYPES.items()})


def set_precision(cell: Cell, flags: dict) -> None:
    """Follow the flags `fp16`, `fp32` and `bf16`; a false one changes nothing."""
    for flag, dtype in _TYPES.items():
        if flags.get(flag):
            cell.__dict__["_cell_float_type"] = dtype
            cell.__dict__["_cell_policy"] = RunIn(dtype)
            choose_call(cell)


def get_mixed_precision_type(self: Cell) -> MixedPrecisionType:
    """The type that this cell's operations run in, as `to_float` or a flag has set it.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.ReLU().to_float(ms.bfloat16).get_mixed_precision_type().name
        'BF16'
    """
    flag = next((flag for flag, dtype in _TYPES.items() if dtype is self._cell_float_type), None)
    return MixedPrecisionType[flag.upper()] if flag else MixedPrecisionType.NOTSET


def set_mixed_precision_type(self: Cell, mixed_type: MixedPrecisionType) -> None:
    """Set the type that operations of this cell run in, and not of nested ones that have their own.

    Args:
        mixed_type: NOTSET: that of the cell around, or of the inputs.

    Raises:
        TypeError: if it is no MixedPrecisionType.
    """
    if not isinstance(mixed_type, MixedPrecisionType):
        raise TypeError(
            "For 'set_mixed_precision_type', 'mixed_type' must be a MixedPrecisionType, but got "
            f"{type(mixed_type).__name__}."
        )
    dtype = _TYPES.get(mixed_type.name.lower())
    self.__dict__["_cell_float_type"] = dtype
    self.__dict__["_cell_policy"] = None if dtype is None else RunIn(dtype)
    choose_call(self)


def cast_inputs(self: Cell, inputs: tuple, dst_type: mstype.Number) -> tuple:
    """Cast the floating-point tensors among some inputs, nested ones too.

    Args:
        inputs: a tuple.
        dst_type: the type.

    Examples:
        >>> import dist_ms as ms
        >>> print([x.dtype for x in ms.nn.ReLU().cast_inputs((ms.Tensor([1.0]), ms.Tensor([1])), ms.float16)])
        [mindspore.float16, mindspore.int64]
    """
    return map_tensors(RunIn(dst_type)._cast, inputs)
