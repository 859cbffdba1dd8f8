"""How many floating-point operations one call of an operation takes: two for each multiplication of products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from dist_ms.ops.convolutions.conv import Convolution, TransposedConvolution, WeightGradient
from dist_ms.ops.layers.attention import BlockAttention, BlockAttentionGrad
from dist_ms.ops.layers.dense import Dense
from dist_ms.ops.layers.recurrence import Recurrence, RecurrenceGrad
from dist_ms.ops.linear_algebra.matmul import Ger, MatMul

__all__ = ["operation_flops"]


def operation_flops(primitive: Any, inputs: Sequence, result: Any) -> int:
    """Return the operations of matrix products, convolutions, attention and recurrence, and of their gradients.

    Args:
        primitive: the operation.
        inputs: of the call: arrays, Tensors or shapes where those are asked for, and what else it takes.
        result: what it returned.

    Returns:
        int: 0 for any other operation.

    Examples:
        >>> import numpy as np
        >>> from dist_ms import ops
        >>> from dist_ms.ops.operation_flops import operation_flops
        >>> operation_flops(ops.MatMul(), (np.ones((2, 3)), np.ones((3, 4))), np.ones((2, 4)))
        48
    """
    for kind, count in _COUNTS:
        if isinstance(primitive, kind):
            return count(primitive, inputs, result)
    return 0


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(getattr(value, "shape", value))


def _product(primitive: Any, inputs: Sequence, result: Any) -> int:
    first = _shape(inputs[0])
    inner = first[-2] if primitive.transpose_a and len(first) > 1 else first[-1]
    return 2 * prod(_shape(result)) * inner


def _recurrence_gradient(primitive: Any, inputs: Sequence, result: Any) -> int:
    gates, weight = map(_shape, inputs[inputs[0] + 1 : inputs[0] + 3])
    return 4 * gates[0] * gates[1] * prod(weight)


# How the operations of each class are counted.
_COUNTS: tuple[tuple[type, Callable[[Any, Sequence, Any], int]], ...] = (
    (Dense, lambda _, inputs, result: 2 * prod(_shape(result)) * _shape(inputs[1])[-1]),
    (MatMul, _product),
    (Ger, lambda _, inputs, result: 2 * prod(_shape(result))),
    (Convolution, lambda _, inputs, result: 2 * prod(_shape(result)) * prod(_shape(inputs[1])[1:])),
    (TransposedConvolution, lambda _, inputs, result: 2 * prod(_shape(inputs[0])) * prod(_shape(inputs[1])[1:])),
    # The input, the gradient of the output, the shape of the weight.
    (WeightGradient, lambda _, inputs, result: 2 * prod(_shape(inputs[1])) * prod(_shape(inputs[2])[1:])),
    (BlockAttention, lambda _, inputs, result: 4 * prod(_shape(inputs[0])) * _shape(inputs[1])[-2]),
    # Five products of the size of the forward pass's two.
    (BlockAttentionGrad, lambda _, inputs, result: 10 * prod(_shape(inputs[1])) * _shape(inputs[2])[-2]),
    (Recurrence, lambda _, inputs, result: 2 * prod(_shape(inputs[0])[:2]) * prod(_shape(inputs[1]))),
    (RecurrenceGrad, _recurrence_gradient),
)
