"""Dense: a fully connected layer's product, with the bias added inside the kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.layout import are_layer
from dist_ms._ext.tape import wanted
from dist_ms.autograd.places import taken
from dist_ms.autograd.tape import apply, unseen
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import reads_of_none
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.arguments import one_dtype, tensor
from dist_ms.ops.layers.bias_add import channel_sum, row_sum
from dist_ms.ops.layout import converted, onednn_type
from dist_ms.ops.linear_algebra.array_products import SMALL, product
from dist_ms.ops.linear_algebra.matrix_product import multiply
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.shaping import reshaping, transposing

__all__ = ["Dense", "bidense", "dense"]

_F32 = np.dtype(np.float32)


class Dense(Primitive):
    """`dense` as a primitive: `Dense()(input, weight, bias)`."""

    keeps = (0, 1)

    @quiet
    def forward(self, input: Any, weight: Any, bias: Any = None) -> np.ndarray:
        if not are_layer(input, weight, bias):
            self._check(input, weight, bias)
        elif input.size * weight.shape[0] < SMALL:
            matrix = input if input.ndim == 2 else input.reshape(-1, input.shape[-1])
            out = np.matmul(matrix, weight.T)
            if bias is not None:
                np.add(out, bias, out=out)
            return out if input.ndim == 2 else out.reshape(*input.shape[:-1], out.shape[1])
        rows, columns = math.prod(input.shape[:-1]), weight.shape[0]
        work = onednn_type(input.dtype)
        if work is None:
            out = np.matmul(input, weight.T)
            return out if bias is None else np.add(out, bias, out=out)
        out = multiply(
            converted(input.reshape(rows, input.shape[-1]), work),
            converted(weight.T, work),
            None if bias is None else converted(bias, work),
        )
        return converted(out.reshape(*input.shape[:-1], columns), input.dtype)

    def _check(self, input: Any, weight: Any, bias: Any) -> None:
        arguments.floating(input, "input", self.name, complex_too=False)
        arguments.floating(weight, "weight", self.name, complex_too=False)
        if input.dtype != weight.dtype:
            raise TypeError(
                f"For '{self.name}', 'input' and 'weight' must have one dtype, but got "
                f"{from_numpy(input.dtype)} and {from_numpy(weight.dtype)}; cast one of them."
            )
        if weight.ndim != 2 or input.ndim < 1 or input.shape[-1] != weight.shape[1]:
            raise ValueError(
                f"For '{self.name}', the last length of 'input' must be that of the matrix 'weight' "
                f"{weight.shape}, but got shape {input.shape}."
            )
        if bias is not None:
            arguments.array(bias, "bias", self.name)
            if bias.dtype != weight.dtype:
                raise TypeError(
                    f"For '{self.name}', 'bias' must have the dtype {from_numpy(weight.dtype)} of "
                    f"'weight', but got {from_numpy(bias.dtype)}; cast it first."
                )
            if bias.shape != weight.shape[:1]:
                raise ValueError(f"For '{self.name}', 'bias' must have shape {weight.shape[:1]}, but got {bias.shape}.")

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, weight = inputs[:2]
        if unseen() and dout.array().dtype == weight.array().dtype:
            return self._of_arrays(inputs, dout.array())
        dx = _dense(dout, transposing.transpose(weight, (1, 0))) if wanted(x) else None
        dw = db = None
        bias = inputs[2] if len(inputs) > 2 else None
        if wanted(weight) or wanted(bias):
            columns, length = weight.shape
            rows = reshaping.reshape(dout, (math.prod(x.shape[:-1]), columns))
            if wanted(weight):
                matrix = reshaping.reshape(x, (rows.shape[0], length))
                dw = _dense(transposing.transpose(rows, (1, 0)), transposing.transpose(matrix, (1, 0)))
            if wanted(bias):
                db = channel_sum(rows)
        return (dx, dw) if len(inputs) == 2 else (dx, dw, db)

    @quiet
    def _of_arrays(self, inputs: tuple, dout: np.ndarray) -> tuple:
        """The gradients without operations, those of the weights where they are wanted."""
        x, weight = inputs[:2]
        bias = inputs[2] if len(inputs) > 2 else None
        count, (columns, length) = math.prod(x.shape[:-1]), weight.shape
        rows = dout.reshape(count, columns)
        dx = wrap(self.forward(dout, weight.array().T)) if wanted(x) else None
        dw = db = None
        if wanted(weight):
            matrix = x.array().reshape(count, length)
            there = taken(weight, dout.dtype)
            dw = wrap(self.forward(rows.T, matrix.T) if there is None else product(rows.T, matrix, there))
        if wanted(bias):
            db = wrap(row_sum(rows, taken(bias, dout.dtype)))
        return (dx, dw) if len(inputs) == 2 else (dx, dw, db)


_dense = Dense()


def dense(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Apply a fully connected layer: out = input weight^T + bias.

    Args:
        input: (..., in).
        weight: (out, in).
        bias: (out,), or None.

    Returns:
        Tensor (..., out).

    Raises:
        TypeError: if the dtypes are no floats or differ.
        ValueError: if the lengths do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dense(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[1.0, 1.0]])))
        [[3.]]
    """
    tensor(weight, "weight", "dense")
    return apply(_dense, input, weight) if bias is None else apply(_dense, input, weight, bias)


@reads_of_none("input1", "weight")
def bidense(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Apply a bilinear layer: out[..., k] = input1 weight[k] input2^T + bias[k].

    Args:
        input1: (..., in1).
        input2: (..., in2), with the leading lengths of `input1`.
        weight: (out, in1, in2).
        bias: (out,), or None.

    Returns:
        Tensor (..., out).

    Raises:
        TypeError: if the dtypes are no floats or differ.
        ValueError: if the lengths do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.ops.ones((1, 2, 2))
        >>> print(ms.ops.bidense(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0, 4.0]]), w))
        [[21.]]
    """
    one_dtype("bidense", "fV", input1=input1)
    one_dtype("bidense", "bifuV", input2=arguments.not_array(input2, "input2", "bidense"))
    one_dtype("bidense", "fV", weight=weight)
    input2 = ops.cast(input2, input1.dtype) if input2._element.kind in "biu" else input2
    arguments.has_dimensions(input2, 1, "input2", "bidense")
    if (
        weight.ndim != 3
        or input1.shape[:-1] != input2.shape[:-1]
        or (input1.shape[-1], input2.shape[-1]) != weight.shape[1:]
    ):
        raise ValueError(
            f"For 'bidense', the lengths must be (..., in1), (..., in2) and (out, in1, in2), but got "
            f"{input1.shape}, {input2.shape} and {weight.shape}."
        )
    # All pairs of the two inputs' elements are the input of a dense layer.
    pairs = reshaping.expand_dims(input1, -1) * reshaping.expand_dims(input2, -2)
    flat = reshaping.reshape(pairs, (*input1.shape[:-1], math.prod(weight.shape[1:])))
    return dense(flat, reshaping.reshape(weight, (weight.shape[0], -1)), bias)
