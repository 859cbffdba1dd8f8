"""LSTM: the primitive with all its weights in one tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import Kept
from dist_ms.common.checks import check_bool, check_number_range, check_positive_int, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import tensor
from dist_ms.ops.layers.recurrence import Recurrence
from dist_ms.ops.primitive import Primitive

__all__ = ["LSTM"]


class LSTM(Primitive):
    """Stacked LSTM layers over whole sequences.

    i, f, o = sigmoid(W x + W' h + b), g = tanh(the same), c' = f c + i g, h' = o tanh(c').

    Args:
        input_size: length of x.
        hidden_size: length of h and c.
        num_layers: number of layers.
        has_bias: whether there are biases.
        bidirectional: whether each layer also runs from the end to the start.
        dropout: probability to drop an element between layers, in [0, 1].
        proj_size: 0, as there are no projections on CPUs.

    Call:
        input (Tensor): (time, batch, input_size) floats.
        h, c (Tensor): (num_layers * directions, batch, hidden_size).
        w (Tensor): all weights one after the other: W of each layer and direction, then each W',
            then each b, with the gates in the order i, f, g, o. What follows is not read.

    Returns:
        A tuple (output, h_n, c_n, reserve, state); the last two, where MindSpore keeps what its
        gradient needs, hold one 0.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> x, state = ms.ops.ones((5, 2, 10)), ms.ops.ones((1, 2, 2))
        >>> output, h_n, c_n, _, _ = ms.ops.LSTM(10, 2, 1, True, False, 0.0)(x, state, state, ms.ops.ones((112, 1, 1)))
        >>> print(output[0, 0].asnumpy().round(3))
        [0.964 0.964]
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        has_bias: bool,
        bidirectional: bool,
        dropout: float,
        proj_size: int = 0,
    ) -> None:
        self.input_size = check_positive_int(input_size, "input_size", "LSTM")
        self.hidden_size = check_positive_int(hidden_size, "hidden_size", "LSTM")
        self.num_layers = check_positive_int(num_layers, "num_layers", "LSTM")
        self.has_bias = check_bool(has_bias, "has_bias", "LSTM")
        self.bidirectional = check_bool(bidirectional, "bidirectional", "LSTM")
        self.dropout = check_number_range(dropout, "dropout", "LSTM", 0, 1)
        if proj_size != 0:
            raise ValueError(complaint("proj_size", "LSTM", "0", proj_size))
        self.proj_size = proj_size

    def __call__(self, input: Tensor, h: Tensor, c: Tensor, w: Tensor) -> tuple:
        for given, name in ((input, "input"), (h, "h"), (c, "c"), (w, "w")):
            tensor(given, name, "LSTM")
        runs = self.num_layers * (1 + self.bidirectional)
        if input.ndim != 3 or input.shape[2] != self.input_size:
            raise ValueError(
                complaint("input", "LSTM", f"of 3 dimensions with the last one {self.input_size}", input.shape)
            )
        for given, name in ((h, "h"), (c, "c")):
            if given.shape != (runs, input.shape[1], self.hidden_size):
                raise ValueError(
                    complaint(name, "LSTM", f"of shape {(runs, input.shape[1], self.hidden_size)}", given.shape)
                )
        weights = self._weights(w, runs)
        x, last = input, []
        for layer in range(self.num_layers):
            outputs = []
            for i in range(layer * (1 + self.bidirectional), (layer + 1) * (1 + self.bidirectional)):
                w_ih, w_hh, bias = weights[i]
                gates = ops.dense(x, w_ih, bias)
                backwards = self.bidirectional and i % 2 == 1
                out, *ends = Recurrence("lstm", backwards)(gates, w_hh, None, h[i], c[i], None, Kept())
                outputs.append(out)
                last.append(ends)
            x = ops.concat(outputs, 2) if len(outputs) > 1 else outputs[0]
            if self.dropout and layer < self.num_layers - 1:
                x = ops.dropout(x, float(self.dropout))
        empty = np.zeros((1, 1), input.array().dtype)
        h_n, c_n = (ops.stack([ends[k] for ends in last]) for k in (0, 1))
        return x, h_n, c_n, wrap(empty), wrap(empty.copy())

    def _weights(self, w: Tensor, runs: int) -> list[tuple]:
        """W, W' and b of each layer and direction."""
        rows, wide = 4 * self.hidden_size, self.hidden_size * (1 + self.bidirectional)
        lengths = [self.input_size if i < 1 + self.bidirectional else wide for i in range(runs)]
        shapes: list[Any] = [(rows, n) for n in lengths] + [(rows, self.hidden_size)] * runs
        shapes += [(rows,)] * runs if self.has_bias else []
        sizes = [int(np.prod(shape)) for shape in shapes]
        if w.size < sum(sizes):
            raise ValueError(complaint("w", "LSTM", f"{sum(sizes)} weights", f"shape {w.shape}"))
        parts = ops.split(ops.reshape(w, (-1,))[: sum(sizes)], sizes)
        parts = [ops.reshape(part, shape) for part, shape in zip(parts, shapes)]
        biases = parts[2 * runs :] if self.has_bias else [None] * runs
        return list(zip(parts[:runs], parts[runs : 2 * runs], biases))
