"""Operations that read 16-bit numbers themselves where mixed precision has them run in float32."""

from __future__ import annotations

from typing import Any

from dist_ms.autograd import tape
from dist_ms.common import dtype as mstype
from dist_ms.common.tensor import Tensor
from dist_ms.ops.creating.casting import cast

_FLOATS = (mstype.float16, mstype.bfloat16, mstype.float32, mstype.float64)
_LOW = (mstype.bfloat16, mstype.float16)


def widened(primitive: Any, inputs: tuple) -> Any:
    """The float32 result of an operation of a low type, as if its inputs had been cast before.

    The gradient of the first input has that input's type. None if the operation or its first input
    is of another kind: then casts are needed.

    Args:
        primitive: has a method `widening` if it can: the operation that reads low types and computes in float32.
        inputs: what it is called with.
    """
    wide = getattr(primitive, "widening", None)
    if wide is None or not isinstance(inputs[0], Tensor) or inputs[0].dtype not in _LOW:
        return None
    rest = [cast(v, mstype.float32) if isinstance(v, Tensor) and v.dtype in _FLOATS else v for v in inputs[1:]]
    with tape.as_given():
        return tape.apply(wide(), inputs[0], *rest)
