"""`_rnn_tanh_cell` and its kin of `mindspore.nn.layer.rnn_cells`: one step of a recurrent layer, given its weights."""

from __future__ import annotations

from dist_ms.common.tensor import Tensor
from dist_ms.ops.layers.dense import dense
from dist_ms.ops.layers.recurrence import one_step

__all__: list[str] = []


def _step(kind: str, inputs: Tensor, state: tuple, weights: tuple) -> tuple:
    w_ih, w_hh, b_ih, b_hh = weights
    return one_step(kind, dense(inputs, w_ih, b_ih), state, w_hh, b_hh)


def _rnn_tanh_cell(
    inputs: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Tensor:
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.recurrent_steps import _rnn_tanh_cell
        >>> x, h, w = ms.ops.ones((1, 2)), ms.ops.zeros((1, 3)), ms.ops.zeros((3, 2))
        >>> print(_rnn_tanh_cell(x, h, w, ms.ops.zeros((3, 3)), None, None))
        [[0. 0. 0.]]
    """
    return _step("tanh", inputs, (hidden,), (w_ih, w_hh, b_ih, b_hh))[0]


def _rnn_relu_cell(
    inputs: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Tensor:
    """h' = ReLU(W_ih x + b_ih + W_hh h + b_hh)."""
    return _step("relu", inputs, (hidden,), (w_ih, w_hh, b_ih, b_hh))[0]


def _gru_cell(
    inputs: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Tensor:
    """A step of a GRU, as `nn.GRUCell` makes it."""
    return _step("gru", inputs, (hidden,), (w_ih, w_hh, b_ih, b_hh))[0]


def _lstm_cell(
    inputs: Tensor,
    hidden: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """A step of an LSTM, as `nn.LSTMCell` makes it: (h', c')."""
    h, c = _step("lstm", inputs, tuple(hidden), (w_ih, w_hh, b_ih, b_hh))[:2]
    return h, c
