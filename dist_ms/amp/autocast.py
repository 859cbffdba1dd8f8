"""The level "auto": each operation of a region runs in the type that suits it.

A region puts its rule where `autograd.tape.apply`, the gate of all operations, asks for it. The rule
looks at the operation alone; casts are operations themselves, so gradients have the types of
what was cast. Within a cell that `to_float` was called on, and while gradients are swept, no
rule holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.autograd import tape
from dist_ms.common import dtype as mstype
from dist_ms.common.tensor import Tensor
from dist_ms.ops.creating.casting import cast
from dist_ms.ops.linear_algebra.mixed_precision.mixed_matmul import mixed_matmul
from dist_ms.ops.linear_algebra.mixed_precision.mixed_products import mixed
from dist_ms.ops.shaping.reshaping import reshape
from dist_ms.ops.widening import widened

_FLOATS = (mstype.float16, mstype.bfloat16, mstype.float32, mstype.float64)
_WITH_BIAS = ("Convolution", "Dense")
_LOW = (*_WITH_BIAS, "TransposedConvolution", "MatMul", "PReLU", "Einsum", "Contraction")
# Low too, but for the bias: a mask of large negative numbers may have none in the low type.
_ATTENTION = ("LayerAttention",)
_FLOAT32 = (
    *(
        "Pow",
        "ACos",
        "Asin",
        "Cosh",
        "Erfinv",
        "Exp",
        "Exp2",
        "Expm1",
        "Log",
        "Log10",
        "Log1p",
        "Log2",
        "Reciprocal",
        "Rsqrt",
    ),
    *("Sinh", "Tan", "Softplus", "Softmax", "LogSoftmax", "LayerNorm", "RowNorm", "BatchNorm", "BatchNormTrain"),
    *("BatchNormInfer", "ReduceProd", "CumProd", "CumSum", "ReduceSum", "NLLLoss", "LabelCrossEntropy", "PickLabel"),
    *("KLDivLoss", "SmoothL1Loss", "BCEWithLogitsLoss", "MultilabelMarginLoss", "MultiMarginLoss", "SoftMarginLoss"),
    *("TripletMarginLoss", "LogSumExp", "LogDeterminant", "Cdist", "Pdist", "Renorm"),
)
_WIDEST = ("AddN", "BiasAdd", "Concat", "Resample")

_RULES = (
    ("bias", _WITH_BIAS),
    ("low", _LOW),
    ("attention", _ATTENTION),
    ("float32", _FLOAT32),
    ("widest", _WIDEST),
)

_kinds: dict[type, str | None] = {}


def _kind(primitive: Any) -> str | None:
    """Return which rule an operation's class, or a class it derives from, has."""
    kind = type(primitive)
    if kind not in _kinds:
        names = [c.__name__ for c in kind.__mro__]
        _kinds[kind] = next((rule for name in names for rule, listed in _RULES if name in listed), None)
    return _kinds[kind]


class Region:
    """A region in which operations run in the types of the level "auto".

    Args:
        low: float16 or bfloat16.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.amp.autocast import Region
        >>> x = ms.ops.ones((2, 2))
        >>> with Region(ms.float16):
        ...     y = ms.ops.matmul(x, x)
        >>> y.dtype, ms.ops.exp(y).dtype
        (mindspore.float16, mindspore.float16)
    """

    def __init__(self, low: Any) -> None:
        self._low = low
        self._before: list[Callable | None] = []

    def __enter__(self) -> Region:
        self._before.append(tape.recording.policy)
        tape.recording.policy = self._policy
        return self

    def __exit__(self, *exc: Any) -> None:
        tape.recording.policy = self._before.pop()

    def _policy(self, primitive: Any, inputs: tuple) -> Any:
        """Return the inputs of an operation in the right types, or the result where a cast is part of it."""
        rule = _kind(primitive)
        if rule is None:
            return inputs
        if rule == "attention":
            return (*(cast(x, self._low) for x in inputs[:3]), *inputs[3:])
        floats = [x for x in inputs if isinstance(x, Tensor) and x.dtype in _FLOATS]
        if not floats:
            return inputs
        if rule == "bias" and len(inputs) > 2 and isinstance(inputs[2], Tensor):
            return self._with_bias(primitive, *inputs[:3])
        if rule == "float32" and (out := widened(primitive, inputs)) is not None:
            return out
        to = {"low": self._low, "bias": self._low, "float32": mstype.float32}.get(rule) or _widest(floats)
        if all(x.dtype is to for x in floats):
            return inputs
        if rule == "bias" and (out := mixed(primitive, to, *inputs[:2])) is not None:
            return out
        if rule == "low" and len(inputs) == 2:
            if (out := mixed_matmul(primitive, to, *inputs)) is not None:
                return out
        return tuple([cast(x, to) if isinstance(x, Tensor) and x.dtype in _FLOATS else x for x in inputs])

    def _with_bias(self, primitive: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Run the product in the low type and add the bias in the wider of its type and that."""
        if (out := mixed(primitive, self._low, x, weight, bias)) is not None:
            return out
        out = tape.apply(primitive, cast(x, self._low), cast(weight, self._low))
        to = _widest([out, bias])
        spatial = weight.ndim - 2  # the bias belongs to the axis before the spatial ones
        return cast(out, to) + reshape(cast(bias, to), (-1, *(1,) * spatial))


def _widest(tensors: list[Tensor]) -> Any:
    """Return the type that holds the values of all."""
    found = {x.dtype for x in tensors}
    if mstype.float64 in found:
        return mstype.float64
    return mstype.float32 if len(found) > 1 else found.pop()
