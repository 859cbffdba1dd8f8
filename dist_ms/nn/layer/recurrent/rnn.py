"""RNN, LSTM and GRU: stacked recurrent layers over whole sequences."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import Kept
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import (
    check_bool,
    check_float,
    check_float_range,
    check_positive_int,
    check_string,
    check_type,
    complaint,
)
from dist_ms.common.error_classes import raises, reads
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.dropout import Dropout
from dist_ms.nn.layer.recurrent.rnn_cells import check_pair
from dist_ms.ops.arguments import has_dimensions
from dist_ms.ops.layers.dense import dense
from dist_ms.ops.layers.recurrence import Recurrence

__all__ = ["GRU", "LSTM", "RNN"]

_log = logging.getLogger("dist_ms")
_GATES = {"tanh": 1, "relu": 1, "lstm": 4, "gru": 3}
_PRINTED = {
    "tanh": "_DynamicRNNTanh",
    "relu": "_DynamicRNNRelu",
    "lstm": "_DynamicLSTMCPUGPU",
    "gru": "_DynamicGRUCPUGPU",
}


class _Run(Cell):
    """One layer in one direction: the inputs' product for all time steps, then the recurrence."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    @property
    def cls_name(self) -> str:
        """The name that MindSpore prints."""
        return _PRINTED[self.kind]

    def construct(
        self,
        x: Tensor,
        state: tuple,
        live: np.ndarray | None,
        backwards: bool,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None,
        b_hh: Tensor | None,
    ) -> tuple:
        if w_ih.dtype is not x.dtype:
            w_ih, w_hh = ops.cast(w_ih, x.dtype), ops.cast(w_hh, x.dtype)
            b_ih, b_hh = (None if b is None else ops.cast(b, x.dtype) for b in (b_ih, b_hh))
        if b_ih is not None and self.kind != "gru":
            b_ih, b_hh = b_ih + b_hh, None
        hidden, cell = (*state, None)[:2]
        return Recurrence(self.kind, backwards)(dense(x, w_ih, b_ih), w_hh, b_hh, hidden, cell, live, Kept())


class _Layers(Cell):
    """What RNN, LSTM and GRU share: the parameters of all layers, and the runs through them."""

    def __init__(
        self,
        kind: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.hidden_size = check_positive_int(hidden_size, "hidden_size", owner)
        self._input_size = check_positive_int(input_size, "input_size", owner)
        self.num_layers = check_positive_int(num_layers, "num_layers", owner)
        self.dropout = check_float_range(check_float(dropout, "dropout", owner), "dropout", owner, 0, 1, "[)")
        self.has_bias = check_bool(has_bias, "has_bias", owner)
        self.batch_first = check_bool(batch_first, "batch_first", owner)
        self.bidirectional = check_bool(bidirectional, "bidirectional", owner)
        if dropout and num_layers == 1:
            _log.warning("For '%s', 'dropout' comes between layers: %s has no effect on one layer.", owner, dropout)
        self.is_lstm = kind == "lstm"
        self.rnn = _Run(kind)
        self.dropout_op = Dropout(p=float(dropout))
        lists = self._draw(_GATES[kind] * hidden_size, dtype)
        self.w_ih_list, self.w_hh_list, self.b_ih_list, self.b_hh_list = (ParameterTuple(p) for p in lists)

    def _draw(self, rows: int, dtype: Any) -> tuple:
        """Make the parameters, uniform in +-1 / sqrt(hidden_size) from NumPy's generator as MindSpore does."""
        bound, lists = 1 / math.sqrt(self.hidden_size), ([], [], [], [])
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if self.has_bias else 2]
        for layer in range(self.num_layers):
            for direction in ("", "_reverse")[: 1 + self.bidirectional]:
                length = self.hidden_size * (1 + self.bidirectional) if layer else self._input_size
                shapes = ((rows, length), (rows, self.hidden_size), (rows,), (rows,))
                for name, shape, found in zip(names, shapes, lists):
                    values = np.random.uniform(-bound, bound, shape).astype(np.float32)
                    found.append(Parameter(Tensor(values, dtype=dtype), name=f"{name}_l{layer}{direction}"))
        return lists

    def construct(self, x: Tensor, hx: Any = None, seq_length: Tensor | None = None) -> tuple:
        owner = self.cls_name
        check_type(x, "x", owner, Tensor)
        has_dimensions(x, 1 if self.batch_first else 2, "x", owner)
        if x.ndim != 3 or x.shape[2] != self._input_size:
            raise ValueError(complaint("x", owner, f"of 3 dimensions with the last one {self._input_size}", x.shape))
        if self.batch_first:
            x = ops.transpose(x, (1, 0, 2))
        state = self._state(x, hx)
        live = None if seq_length is None else self._live(x, seq_length)
        runs = 1 + self.bidirectional
        last: tuple[list, ...] = tuple([] for _ in state)
        for layer in range(self.num_layers):
            outputs = []
            for i in range(layer * runs, (layer + 1) * runs):
                bias = (self.b_ih_list[i], self.b_hh_list[i]) if self.has_bias else (None, None)
                out, *ends = self.rnn(
                    x, tuple([s[i] for s in state]), live, i % runs == 1, self.w_ih_list[i], self.w_hh_list[i], *bias
                )
                outputs.append(out)
                for found, end in zip(last, ends):
                    found.append(end)
            x = ops.concat(outputs, 2) if len(outputs) > 1 else outputs[0]
            if self.dropout and layer < self.num_layers - 1:
                x = self.dropout_op(x)
        if self.batch_first:
            x = ops.transpose(x, (1, 0, 2))
        ends = tuple([ops.stack(found) for found in last])
        return (x, ends) if self.is_lstm else (x, ends[0])

    def _state(self, x: Tensor, hx: Any) -> tuple:
        """The first states, one (layers * directions, batch, hidden_size) for each kind."""
        shape = (self.num_layers * (1 + self.bidirectional), x.shape[1], self.hidden_size)
        if hx is None:
            return (ops.zeros(shape, x.dtype),) * (1 + self.is_lstm)
        state = check_pair(hx, "hx", self.cls_name) if self.is_lstm else (hx,)
        for h in state:
            if check_type(h, "hx", self.cls_name, Tensor).dtype is not x.dtype:
                raise TypeError(complaint("hx", self.cls_name, f"of the dtype {x.dtype} of 'x'", h.dtype))
            if h.dtype not in (mstype.float32, mstype.float16, mstype.bfloat16):
                raise TypeError(complaint("hx", self.cls_name, "of dtype Float32, Float16 or BFloat16", h.dtype))
            if not h.ndim:
                raise TypeError(complaint("hx", self.cls_name, f"of shape {shape}", "a scalar"))
            if h.shape[0] < shape[0] and (h.ndim == 3 or not h.shape[0]):
                raise IndexError(complaint("hx", self.cls_name, f"of shape {shape}", h.shape))
            if h.shape != shape:
                raise ValueError(complaint("hx", self.cls_name, f"of shape {shape}", h.shape))
        return state

    def _live(self, x: Tensor, seq_length: Tensor) -> np.ndarray:
        """Which time steps lie within each sequence."""
        lengths = check_type(seq_length, "seq_length", self.cls_name, Tensor)
        if lengths.dtype not in (mstype.int32, mstype.int64):
            raise TypeError(complaint("seq_length", self.cls_name, "of dtype Int32 or Int64", lengths.dtype))
        if lengths.shape != (x.shape[1],):
            raise ValueError(
                complaint(
                    "seq_length",
                    self.cls_name,
                    f"one length for each of {x.shape[1]} sequences",
                    f"shape {lengths.shape}",
                )
            )
        return np.arange(x.shape[0])[:, None] < lengths.asnumpy()[None, :]


@reads(x="shape")
@reads(seq_length="dtype")
class RNN(_Layers):
    """Stacked Elman layers: h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh).

    Parameters of layer k are `weight_ih_lk` (hidden_size, input), `weight_hh_lk` (hidden_size,
    hidden_size), `bias_ih_lk` and `bias_hh_lk` (hidden_size,), with the suffix `_reverse` for the
    other direction, uniform in +-1 / sqrt(hidden_size). Elman, "Finding Structure in Time", 1990.

    Args:
        input_size: length of x_t.
        hidden_size: length of h_t.
        num_layers: number of layers, each fed with the outputs of the one before.
        nonlinearity: "tanh" or "relu", by keyword.
        has_bias: whether there are biases.
        batch_first: whether the batch is the first dimension of the input and output.
        dropout: probability to drop an element between layers in training, a float in [0, 1).
        bidirectional: whether each layer also runs from the end to the start.
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (time, batch, input_size), or (batch, time, input_size), floats.
        hx (Tensor, optional): (num_layers * directions, batch, hidden_size), the first states; zeros by
            default.
        seq_length (Tensor, optional): (batch,) int32 or int64, where each sequence ends.

    Outputs:
        tuple (output, hx_n): (time, batch, directions * hidden_size), zeros past the ends, and the
        last states in the shape of `hx`.

    Raises:
        TypeError: if an argument has the wrong type, or dtypes differ.
        ValueError: if a number is out of range, or shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.RNN(10, 16, 2, batch_first=True)
        >>> output, hx_n = layer(ms.ops.ones((3, 5, 10)))
        >>> output.shape, hx_n.shape
        ((3, 5, 16), (2, 3, 16))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kind = kwargs.pop("nonlinearity", "tanh")
        check_string(kind, "nonlinearity", "RNN", ("tanh", "relu"))
        super().__init__(kind, *args, **kwargs)


@reads(x="shape")
@reads(seq_length="dtype")
class LSTM(_Layers):
    """Stacked LSTM layers; the step is that of `LSTMCell`.

    Parameters of layer k are `weight_ih_lk` (4 hidden_size, input), `weight_hh_lk` (4 hidden_size,
    hidden_size), `bias_ih_lk` and `bias_hh_lk` (4 hidden_size,), gates in the order i, f, g, o.

    Args:
        input_size: length of x_t.
        hidden_size: length of h_t and c_t.
        num_layers, has_bias, batch_first, dropout, bidirectional, dtype: as in `RNN`.

    Inputs:
        x (Tensor): (time, batch, input_size), or (batch, time, input_size), floats.
        hx (tuple, optional): (h, c), each (num_layers * directions, batch, hidden_size); zeros by
            default.
        seq_length (Tensor, optional): (batch,) int32 or int64, where each sequence ends.

    Outputs:
        tuple (output, (h_n, c_n)): as in `RNN`.

    Raises:
        TypeError: if an argument has the wrong type, or dtypes differ.
        ValueError: if a number is out of range, or shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.LSTM(10, 16, bidirectional=True)
        >>> output, (h_n, c_n) = layer(ms.ops.ones((5, 3, 10)), seq_length=ms.Tensor([5, 2, 3]))
        >>> output.shape, h_n.shape, c_n.shape
        ((5, 3, 32), (2, 3, 16), (2, 3, 16))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("lstm", *args, **kwargs)


@reads(x="shape")
@raises(hx=(TypeError, IndexError))
@reads(seq_length="dtype")
class GRU(_Layers):
    """`RNN` with the step of `GRUCell`, without `nonlinearity`.

    Parameters of layer k are `weight_ih_lk` (3 hidden_size, input), `weight_hh_lk` (3 hidden_size,
    hidden_size), `bias_ih_lk` and `bias_hh_lk` (3 hidden_size,), gates in the order r, z, n.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.GRU(10, 16)
        >>> output, hx_n = layer(ms.ops.ones((5, 3, 10)))
        >>> output.shape, hx_n.shape
        ((5, 3, 16), (1, 3, 16))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("gru", *args, **kwargs)
