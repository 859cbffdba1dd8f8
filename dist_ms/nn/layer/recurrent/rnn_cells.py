"""Cells of recurrent layers: one time step of one layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_positive_int, check_string, check_type, complaint
from dist_ms.common.error_classes import reads_of_none
from dist_ms.common.initializer import Uniform, initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.layers.dense import dense
from dist_ms.ops.layers.recurrence import one_step

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]

_FLOATS = (mstype.float32, mstype.float16, mstype.bfloat16)


def check_pair(value: Any, name: str, owner: str) -> tuple:
    """Require a tuple of two Tensors, as the states of an LSTM are.

    Raises:
        TypeError: otherwise.
    """
    check_type(value, name, owner, tuple)
    if len(value) != 2:
        raise TypeError(complaint(name, owner, "a tuple of 2", f"one of {len(value)}"))
    for i, x in enumerate(value):
        check_type(x, f"{name}[{i}]", owner, Tensor)
    return value


class _OneStep(Cell):
    """What the cells share: weight_ih (G H, input), weight_hh (G H, H) and their biases."""

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool, gates: int, dtype: Any) -> None:
        super().__init__()
        owner = self.cls_name
        self.has_bias = check_bool(has_bias, "has_bias", owner)
        self.hidden_size = check_positive_int(hidden_size, "hidden_size", owner)
        self.input_size = check_positive_int(input_size, "input_size", owner)
        rows, bound = gates * hidden_size, Uniform(1 / math.sqrt(hidden_size))
        for shape in ((rows, input_size), (rows, hidden_size), *[(rows,)] * (2 * has_bias)):
            np.random.randn(*shape)  # drawn and overwritten by MindSpore: all that follows from a seed stays the same
        self.weight_ih = Parameter(initializer(bound, (rows, input_size), dtype))
        self.weight_hh = Parameter(initializer(bound, (rows, hidden_size), dtype))
        self.bias_ih = Parameter(initializer(bound, (rows,), dtype)) if has_bias else None
        self.bias_hh = Parameter(initializer(bound, (rows,), dtype)) if has_bias else None

    def _step(self, kind: str, x: Tensor, state: tuple) -> tuple:
        """Check the inputs and run the step."""
        for value, name in ((x, "x"), *((s, "hx") for s in state)):
            if check_type(value, name, self.cls_name, Tensor).dtype not in _FLOATS:
                raise TypeError(complaint(name, self.cls_name, "of dtype Float32, Float16 or BFloat16", value.dtype))
        rows = (x.shape[0] if x.ndim else 0, self.hidden_size)
        for h in state:
            if x.ndim != 2 or h.shape != rows:
                raise ValueError(
                    f"For '{self.cls_name}', 'x' must have the shape (batch, {self.input_size}) and 'hx' "
                    f"(batch, {self.hidden_size}), but got {x.shape} and {h.shape}."
                )
        gates = dense(x, self.weight_ih, self.bias_ih)
        return one_step(kind, gates, state, self.weight_hh, self.bias_hh)


class RNNCell(_OneStep):
    """A step of an Elman network: h' = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Parameters are `weight_ih` (hidden_size, input_size), `weight_hh` (hidden_size, hidden_size),
    `bias_ih` and `bias_hh` (hidden_size,), uniform in +-1 / sqrt(hidden_size).

    Args:
        input_size: length of x.
        hidden_size: length of h.
        has_bias: whether there are biases.
        nonlinearity: "tanh" or "relu".
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (batch, input_size) float32 or a 16-bit float.
        hx (Tensor): (batch, hidden_size).

    Outputs:
        Tensor (batch, hidden_size), h'.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, `nonlinearity` is another string, or shapes do not
            agree.

    Examples:
        >>> import dist_ms as ms
        >>> cell = ms.nn.RNNCell(10, 16)
        >>> cell(ms.ops.ones((3, 10)), ms.ops.zeros((3, 16))).shape
        (3, 16)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, 1, dtype)
        check_type(nonlinearity, "nonlinearity", "RNNCell", str)
        self.nonlinearity = check_string(nonlinearity, "nonlinearity", "RNNCell", ["tanh", "relu"])

    def construct(self, x: Tensor, hx: Tensor) -> Tensor:
        return self._step(self.nonlinearity, x, (hx,))[0]


class LSTMCell(_OneStep):
    """A step of an LSTM: c' = f c + i g, h' = o tanh(c').

    i, f, o = sigmoid(W x + b + W' h + b'), g = tanh(the same), in the order i, f, g, o along the
    rows of the parameters `weight_ih` (4 hidden_size, input_size), `weight_hh` (4 hidden_size,
    hidden_size), `bias_ih` and `bias_hh` (4 hidden_size,), uniform in +-1 / sqrt(hidden_size).
    Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997.

    Args:
        input_size: length of x.
        hidden_size: length of h and c.
        has_bias: whether there are biases.
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (batch, input_size) float32 or a 16-bit float.
        hx (tuple): (h, c), each (batch, hidden_size).

    Outputs:
        tuple (h', c'), each (batch, hidden_size).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or shapes do not agree; also for the arguments of
            the layer that had this name in old MindSpore: that is `LSTM` now.

    Examples:
        >>> import dist_ms as ms
        >>> cell, zero = ms.nn.LSTMCell(10, 16), ms.ops.zeros((3, 16))
        >>> h, c = cell(ms.ops.ones((3, 10)), (zero, zero))
        >>> h.shape, c.shape
        ((3, 16), (3, 16))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        dtype: Any = mstype.float32,
        *layer_args: Any,
        **layer_options: Any,
    ) -> None:
        unknown = set(layer_options) - {"batch_size", "dropout", "bidirectional"}
        if unknown:
            raise TypeError(f"LSTMCell.__init__() got an unexpected keyword argument '{min(unknown)}'")
        if layer_args or layer_options:
            raise ValueError(
                "For 'LSTMCell', the arguments are those of the layer it was before MindSpore 1.6: "
                "use nn.LSTM for a layer over all time steps."
            )
        super().__init__(input_size, hidden_size, has_bias, 4, dtype)

    def construct(self, x: Tensor, hx: tuple) -> tuple:
        return self._step("lstm", x, check_pair(hx, "hx", "LSTMCell"))


@reads_of_none("x")
class GRUCell(_OneStep):
    """A step of a GRU: h' = (1 - z) n + z h.

    r, z = sigmoid(W x + b + W' h + b'), n = tanh(W x + b + r (W' h + b')), in the order r, z, n
    along the rows of the parameters `weight_ih` (3 hidden_size, input_size), `weight_hh`
    (3 hidden_size, hidden_size), `bias_ih` and `bias_hh` (3 hidden_size,), uniform in
    +-1 / sqrt(hidden_size). Cho et al., "Learning Phrase Representations using RNN
    Encoder-Decoder for Statistical Machine Translation", 2014.

    Args:
        input_size: length of x.
        hidden_size: length of h.
        has_bias: whether there are biases.
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (batch, input_size) float32 or a 16-bit float.
        hx (Tensor): (batch, hidden_size).

    Outputs:
        Tensor (batch, hidden_size), h'.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> cell = ms.nn.GRUCell(10, 16)
        >>> cell(ms.ops.ones((3, 10)), ms.ops.zeros((3, 16))).shape
        (3, 16)
    """

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = mstype.float32) -> None:
        super().__init__(input_size, hidden_size, has_bias, 3, dtype)

    def construct(self, x: Tensor, hx: Tensor) -> Tensor:
        return self._step("gru", x, (hx,))[0]
