"""A run of a recurrent layer through its steps on arrays, with what it keeps for its gradient."""

from __future__ import annotations

import numpy as np

from dist_ms.ops.kernels import recurrent_steps
from dist_ms.ops.layout import contiguous
from dist_ms.ops.linear_algebra.array_products import product

# Bytes of W_hh that a core's cache keeps from step to step, and rows of a batch: beyond either the products are made
# one by one, by a kernel that divides W_hh among the threads and is quicker where there is much to multiply.
_MOST_BYTES = 1 << 20
_MOST_ROWS = 64


class Steps:
    """The arrays of one run: `h[k]` is the hidden state that enters step k, `c[k]` the cell state.

    Args:
        kind: "tanh", "relu", "lstm" or "gru".
        backwards: step k is time t = steps - 1 - k instead of t = k.
        live: bool array (steps, N), false past the end of a sequence, or None.
        x: (steps, N, G H), the inputs' part of the gates.
        states: the states at the start, (N, H) each: the hidden one, and an LSTM's cell.
    """

    def __init__(self, kind: str, backwards: bool, live: np.ndarray | None, x: np.ndarray, states: list) -> None:
        self.kind, self.backwards = kind, backwards
        self.live = None if live is None else np.ascontiguousarray(live)
        steps, rows, _ = x.shape
        size = states[0].shape[1]
        self.states = [np.empty((steps + 1, rows, size), x.dtype) for _ in states]
        for run, start in zip(self.states, states):
            run[0] = start
        self.h, self.c = (*self.states, None)[:2]
        self._gates = np.empty(x.shape, x.dtype) if kind in ("lstm", "gru") else None
        self._inner_n = np.empty((steps, rows, size), x.dtype) if kind == "gru" else None

    def forward(self, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
        """Run all steps and return the outputs by time (steps, N, H)."""
        outputs = np.empty(self.h[1:].shape, x.dtype)
        kept = (bias, self.h, self.c, self._gates, self._inner_n, self.live, outputs, self.backwards)
        if self._at_once(weight):
            recurrent_steps.forward(self.kind, x, contiguous(weight), *kept)
        else:
            turned = weight.T
            for k in range(len(x)):
                recurrent_steps.forward_step(self.kind, k, x, product(self.h[k], turned), *kept)
        return outputs

    def backward(self, weight: np.ndarray, dout: np.ndarray, dlast: list) -> tuple:
        """Return the gradients of x, of W_hh h, by time, and of the first states, given those of the results."""
        dgates = np.empty((*dout.shape[:2], weight.shape[0]), dout.dtype)
        dinner = np.empty_like(dgates) if self.kind == "gru" else dgates
        dstates = [np.array(x, dout.dtype, order="C") for x in dlast]
        dh, dc = (*dstates, None)[:2]
        kept = (dout, self.h, self.c, self._gates, self._inner_n, self.live, dh, dc, dgates, dinner, self.backwards)
        if self._at_once(weight):
            recurrent_steps.backward(self.kind, contiguous(weight), *kept)
        else:
            for k in reversed(range(len(dout))):
                recurrent_steps.backward_step(self.kind, k, *kept)
                dh += product(dinner[len(dout) - 1 - k if self.backwards else k], weight)
        return dgates, dinner, dstates

    def _at_once(self, weight: np.ndarray) -> bool:
        return weight.nbytes <= _MOST_BYTES and self.h.shape[1] <= _MOST_ROWS
