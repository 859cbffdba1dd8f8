"""Products whose factors are rounded to 16 bits; sums and a bias are float32, and so is the result with one.

What mixed precision makes of a layer, as one operation: the weights and the input are cast once,
for both directions, and gradients come out of the kernels in the types of what was cast.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms._ext.tape import ask_for_low_copy, low_copy, set_low_copy, wanted
from dist_ms.autograd.places import taken
from dist_ms.autograd.tape import apply, as_given, recording
from dist_ms.common.dtype import Number, bfloat16, from_numpy
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.capabilities import capabilities
from dist_ms.ops.convolutions import conv_arrays
from dist_ms.ops.convolutions.conv import Convolution
from dist_ms.ops.creating.casting import cast
from dist_ms.ops.kernels import dnnl
from dist_ms.ops.layers.bias_add import row_sum
from dist_ms.ops.layers.dense import Dense
from dist_ms.ops.layout import channels_last, contiguous, converted
from dist_ms.ops.linear_algebra.matrix_product import multiply_rounded
from dist_ms.ops.linear_algebra.product_plan import rounds_itself
from dist_ms.ops.primitive import Primitive

FLOAT32 = np.dtype(np.float32)


def mixes(low: Number) -> bool:
    """Whether products have mixed forms of a type: bfloat16 always, float16 where the CPU computes in it."""
    return low is bfloat16 or dnnl.has_float16()


def mixed(primitive: Primitive, low: Number, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor | None:
    """Run the mixed form of a layer's operation in a 16-bit type; None if it has none for these operands."""
    if any(t._element != FLOAT32 and t._element != low.np for t in (x, weight)) or not mixes(low):
        return None
    if bias is not None and bias._element != FLOAT32:
        return None
    forms = ((Dense, MixedDense), (Convolution, MixedConvolution))
    made = next((made for kind, made in forms if isinstance(primitive, kind)), None)
    if made is None or not x.size:
        return None
    product = made(primitive, low)
    product.weight_low = kept = low_copy(weight)
    if kept is not None and kept.dtype != low.np:
        product.weight_low = kept = None
    with as_given():
        out = apply(product, x, weight) if bias is None else apply(product, x, weight, bias)
    if kept is None:
        product.ask_for_copy(weight)
    elif (tape := recording.tape) is None or (tape.pack is None and tape.watched is None):
        set_low_copy(weight, kept)  # nobody but the product has had the weight's array
    return out


class MixedProduct(Primitive):
    """What the mixed forms share.

    Args:
        plain: the operation on operands of one type.
        low: the 16-bit type.

    Call:
        x, weight: float32 or `low`, as `plain` takes them.
        bias: float32, and so is the result; without one the result is `low`.
    """

    keeps = (0, 1)

    def __init__(self, plain: Any, low: Number) -> None:
        self.plain, self.name = plain, plain.name
        self.low, self.low_type = low, low.np
        self._rounded: tuple | None = None
        self.weight_low: np.ndarray | None = None

    def rounded(self, x: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The factors in the low type, x perhaps as it is; those of the last call are kept for the gradient."""
        kept = self._rounded
        if kept is None or kept[0] is not x or kept[1] is not weight:
            low, self.weight_low = self.weight_low, None
            low = converted(weight, self.low_type) if low is None else low
            x_low = x if self.rounds_input(x, weight) else converted(x, self.low_type)
            kept = self._rounded = x, weight, x_low, low
        return kept[2:]

    def rounds_input(self, x: np.ndarray, weight: np.ndarray) -> bool:
        """Whether the kernels of both directions take the input in float32."""
        return False

    def ask_for_copy(self, weight: Tensor) -> None:
        """Have the optimizer write the rounded weight beside the weight, as the next call needs it."""
        low = self._rounded[3]
        if type(weight) is Parameter and weight._element == FLOAT32 and low.flags.c_contiguous:
            ask_for_low_copy(weight, low)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, weight = inputs[:2]
        if recording.tape is None:
            factors = self.rounded(x.array(), weight.array())
            return self.array_gradient(inputs, *factors, dout.array())
        low = (cast(x, self.low), cast(weight, self.low), *inputs[2:])
        found = self.plain.gradient(low, output, cast(dout, self.low))
        return tuple(None if g is None else cast(g, from_numpy(t.dtype.np)) for g, t in zip(found, inputs))

    def array_gradient(self, inputs: tuple, x: np.ndarray, weight: np.ndarray, dout: np.ndarray) -> tuple:
        """The gradients of the inputs from the factors as `rounded` gives them and from `dout`, not yet rounded."""
        raise NotImplementedError


def gradient_place(x: Any, shape: tuple, dtype: np.dtype) -> np.ndarray:
    """Where the gradient of an input goes: where it is wanted, else anywhere."""
    place = taken(x, dtype)
    return np.empty(shape, dtype) if place is None else place


class MixedDense(MixedProduct):
    """A fully connected product of 16-bit numbers, perhaps with a float32 bias and result."""

    def rounds_input(self, x: np.ndarray, weight: np.ndarray) -> bool:
        return rounds_itself(math.prod(x.shape[:-1]), min(weight.shape), capabilities(), False, self.low_type)

    def forward(self, x: Any, weight: Any, bias: Any = None) -> np.ndarray:
        x_low, weight_low = self.rounded(x, weight)
        if (
            weight.ndim != 2
            or x.shape[-1:] != weight.shape[1:]
            or (bias is not None and bias.shape != weight.shape[:1])
        ):
            low = self.low_type
            self.plain._check(converted(x, low), weight_low, None if bias is None else bias.astype(low))
        out = np.empty((math.prod(x.shape[:-1]), weight.shape[0]), self.low_type if bias is None else FLOAT32)
        bias = None if bias is None else contiguous(bias)
        multiply_rounded(x_low.reshape(-1, x.shape[-1]), weight_low.T, out, bias, low=self.low_type)
        return out.reshape(*x.shape[:-1], -1)

    def array_gradient(self, inputs: tuple, x: np.ndarray, weight: np.ndarray, dout: np.ndarray) -> tuple:
        rows, matrix = dout.reshape(-1, dout.shape[-1]), x.reshape(-1, x.shape[-1])
        of_x, of_weight, of_bias = (i < len(inputs) and wanted(inputs[i]) for i in range(3))
        dx = dw = db = low = None
        kind = self.low_type
        if of_x:
            if not rounds_itself(rows.shape[0], weight.shape[1], capabilities(), False, kind):
                low = converted(rows, kind)
            dx = np.empty(matrix.shape, inputs[0].dtype.np)
            multiply_rounded(rows if low is None else low, weight, dx, low=kind)
            dx = wrap(dx.reshape(x.shape))
        if of_weight and rounds_itself(*weight.shape, capabilities(), True, kind):
            dw = gradient_place(inputs[1], weight.shape, inputs[1].dtype.np)
            db = gradient_place(inputs[2], weight.shape[:1], FLOAT32) if of_bias else None
            multiply_rounded(contiguous(rows).T, matrix, dw, sums=db, low=kind)
            dw, db = wrap(dw), None if db is None else wrap(db)
        elif of_weight:
            dw = gradient_place(inputs[1], weight.shape, inputs[1].dtype.np)
            multiply_rounded((rows if low is None else low).T, matrix, dw, low=kind)
            dw = wrap(dw)
        if of_bias and db is None:
            db = wrap(row_sum(contiguous(rows, FLOAT32), taken(inputs[2], FLOAT32)))
        return (dx, dw, db)[: len(inputs)]


class MixedConvolution(MixedProduct):
    """A convolution of 16-bit numbers, perhaps with a float32 bias and result."""

    def forward(self, x: Any, weight: Any, bias: Any = None) -> np.ndarray:
        plain = self.plain
        x_low, weight_low = self.rounded(x, weight)
        sizes = plain.checked_sizes(x_low, weight_low, None)
        if bias is not None and bias.shape != weight.shape[:1]:
            plain.checked_sizes(x_low, weight_low, bias.astype(self.low_type))
        out = channels_last((x.shape[0], weight.shape[0], *sizes), self.low_type if bias is None else FLOAT32)
        return conv_arrays.convolve(x_low, weight_low, bias, plain.geometry(x.shape, weight.shape), out)

    def array_gradient(self, inputs: tuple, x: np.ndarray, weight: np.ndarray, dout: np.ndarray) -> tuple:
        dx = dw = db = None
        dout = converted(dout, self.low_type)
        with_bias = len(inputs) == 3 and wanted(inputs[2])
        at = self.plain.geometry(x.shape, weight.shape)
        if wanted(inputs[0]):
            dx = channels_last(x.shape, inputs[0].dtype.np)
            dx = wrap(conv_arrays.convolve_transposed(dout, weight, at, dx))
        if wanted(inputs[1]) or with_bias:
            dw = gradient_place(inputs[1], weight.shape, inputs[1].dtype.np)
            db = gradient_place(inputs[2], weight.shape[:1], FLOAT32) if with_bias else None
            conv_arrays.convolution_weights(x, dout, at, with_bias, dw, db)
            dw, db = wrap(dw), db if db is None else wrap(db)
        return (dx, dw) if len(inputs) == 2 else (dx, dw, db)
