"""Recurrent layers as one operation: all time steps of a layer in one direction.

The inputs' product with W_ih for all steps comes from outside; what is left are the steps'
products with W_hh and the gates. One node instead of a dozen per step, and one product for
the gradient of W_hh instead of one per step. Second-order gradients go through
`unrolled`, the same layer in plain operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms._ext.tape import Kept, wanted
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.activations import activation
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.layers.bias_add import row_sum
from dist_ms.ops.layers.dense import dense
from dist_ms.ops.layers.recurrence_steps import Steps
from dist_ms.ops.layout import contiguous, working_type
from dist_ms.ops.linear_algebra.array_products import product
from dist_ms.ops.picking import selection
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.shaping import joining, reshaping, splitting

__all__: list[str] = []


def tanh_step(gates: Tensor, state: tuple, weight: Tensor, bias: Tensor | None = None) -> tuple:
    """One step of an Elman layer: tanh(gates + W_hh h + b_hh)."""
    return (activation.tanh(gates + dense(state[0], weight, bias)),)


def relu_step(gates: Tensor, state: tuple, weight: Tensor, bias: Tensor | None = None) -> tuple:
    """One step of an Elman layer: relu(gates + W_hh h + b_hh)."""
    return (activation.relu(gates + dense(state[0], weight, bias)),)


def lstm_step(gates: Tensor, state: tuple, weight: Tensor, bias: Tensor | None = None) -> tuple:
    """One step of an LSTM: c' = f c + i g, h' = o tanh(c'), with the gates in the order i, f, g, o."""
    i, f, g, o = splitting.Split(1, 4)(gates + dense(state[0], weight, bias))
    c = activation.sigmoid(f) * state[1] + activation.sigmoid(i) * activation.tanh(g)
    return activation.sigmoid(o) * activation.tanh(c), c


def gru_step(gates: Tensor, state: tuple, weight: Tensor, bias: Tensor | None = None) -> tuple:
    """One step of a GRU: h' = n + z (h - n), n = tanh(x_n + r h_n), with the gates in the order r, z, n."""
    h = state[0]
    x_r, x_z, x_n = splitting.Split(1, 3)(gates)
    h_r, h_z, h_n = splitting.Split(1, 3)(dense(h, weight, bias))
    n = activation.tanh(x_n + activation.sigmoid(x_r + h_r) * h_n)
    return (n + activation.sigmoid(x_z + h_z) * (h - n),)


PLAIN_STEPS = {"tanh": tanh_step, "relu": relu_step, "lstm": lstm_step, "gru": gru_step}


def unrolled(
    kind: str,
    backwards: bool,
    live: np.ndarray | None,
    gates: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    state: tuple,
) -> tuple:
    """What `Recurrence` computes, in plain operations step by step."""
    step, outputs = PLAIN_STEPS[kind], {}
    slices = splitting.Unstack(0)(gates)
    for t in reversed(range(len(slices))) if backwards else range(len(slices)):
        new = step(slices[t], state, weight, bias)
        outputs[t] = new[0]
        if live is not None:
            now = wrap(np.broadcast_to(live[t][:, None], new[0].shape))
            outputs[t] = selection.select(now, new[0], new[0] * 0)
            new = tuple([selection.select(now, a, b) for a, b in zip(new, state)])
        state = new
    return joining.stack([outputs[t] for t in range(len(slices))]), *state


class Recurrence(Primitive):
    """All steps of a recurrent layer in one direction.

    Args:
        kind: "tanh", "relu", "lstm" or "gru".
        backwards: run from the last step to the first.

    Call:
        gates: (T, N, G H), the inputs' part of the gates with its bias.
        weight: W_hh (G H, H).
        bias: b_hh (G H,) where the gates do not have it already (GRU), or None.
        hidden: (N, H).
        cell: (N, H) for an LSTM, or None.
        live: bool array (T, N), false past the end of a sequence: there the state stays and
            the output is 0; None when all have the full length.
        kept: takes what the gradient needs.

    Returns:
        (outputs (T, N, H), last hidden state), with the last cell state for an LSTM.
    """

    def __init__(self, kind: str, backwards: bool = False) -> None:
        self._kind, self._backwards = kind, backwards

    @quiet
    def forward(
        self,
        gates: np.ndarray,
        weight: np.ndarray,
        bias: np.ndarray | None,
        hidden: np.ndarray,
        cell: np.ndarray | None,
        live: np.ndarray | None,
        kept: Kept,
    ) -> tuple:
        d, work = gates.dtype, working_type(gates.dtype)
        x = contiguous(gates, work)
        states = [hidden] if cell is None else [hidden, cell]
        steps = Steps(self._kind, self._backwards, live, x, states)
        b = None if bias is None else contiguous(bias, work)
        outputs = steps.forward(x, weight.astype(work, copy=False), b)
        kept.value = steps
        last = [run[len(x)].astype(d) for run in steps.states]
        return outputs.astype(d, copy=False), *last

    def gradient(self, inputs: tuple, output: Any, dout: tuple) -> tuple:
        *tensors, live, kept = inputs
        grads = RecurrenceGrad(self._kind, self._backwards)(len(dout), *dout, *tensors, live, kept.value)
        found = iter(grads)
        grads = [None if x is None else next(found) for x in tensors]
        return (*[g if wanted(x) else None for g, x in zip(grads, tensors)], None, None)


class RecurrenceGrad(Primitive):
    """The gradients of `Recurrence` with respect to its tensors, through the kept states.

    Call:
        count: number of output gradients, which follow.
        gates ... live: as in `Recurrence`.
        steps: the states and gates that the forward pass kept.
    """

    def __init__(self, kind: str, backwards: bool) -> None:
        self._kind, self._backwards = kind, backwards

    @quiet
    def forward(self, count: int, *arrays: Any) -> tuple:
        (dout, *dlast), (gates, weight, bias, hidden, cell, _, steps) = arrays[:count], arrays[count:]
        work = steps.h.dtype
        dgates, dinner, dstate = steps.backward(weight.astype(work, copy=False), contiguous(dout, work), dlast)
        # Row t of dinner meets the state that entered time t.
        entered = steps.h[:-1][::-1] if self._backwards else steps.h[:-1]
        flat = dinner.reshape(-1, dinner.shape[-1])
        dweight = product(flat.T, contiguous(entered).reshape(flat.shape[0], -1))
        grads = [dgates, dweight, *([] if bias is None else [row_sum(flat)]), *dstate]
        given = [x for x in (gates, weight, bias, hidden, cell) if x is not None]
        return tuple([g.astype(x.dtype, copy=False) for g, x in zip(grads, given)])

    def gradient(self, inputs: tuple, output: Any, dout: tuple) -> tuple:
        tensors = [x for x in inputs[1:-2] if x is not None]
        found = iter(formula_gradient(self._formula(inputs), tensors, dout))
        return (None, *[None if x is None else next(found) for x in inputs[1:-2]], None, None)

    def _formula(self, inputs: tuple) -> Callable:
        """The gradients as a function of the tensors among the inputs, in plain operations."""
        count, *arguments, live, _ = inputs
        present = [x is not None for x in arguments]

        def first_order(*tensors: Tensor) -> tuple:
            given = iter(tensors)
            everything = [next(given) if there else None for there in present]
            dout, arguments = everything[:count], everything[count:]
            names = [i for i, x in enumerate(arguments) if x is not None]

            def layer(*values: Tensor) -> tuple:
                gates, weight, bias, *state = [values[names.index(i)] if i in names else None for i in range(5)]
                state = tuple([s for s in state if s is not None])
                return unrolled(self._kind, self._backwards, live, gates, weight, bias, state)

            return tuple(formula_gradient(layer, [arguments[i] for i in names], tuple(dout)))

        return first_order


def one_step(kind: str, gates: Tensor, state: tuple, weight: Tensor, bias: Tensor | None) -> tuple:
    """The states after one step, given the inputs' part of the gates (N, G H): what a cell of a layer computes."""
    # An Elman step is too short to gain, and plain operations cast, or refuse, what has several types.
    if kind in ("tanh", "relu") or not gates.dtype == weight.dtype == state[0].dtype == state[-1].dtype:
        return PLAIN_STEPS[kind](gates, state, weight, bias)
    hidden, cell = (*state, None)[:2]
    whole = reshaping.expand_dims(gates, 0)
    return Recurrence(kind)(whole, weight, bias, hidden, cell, None, Kept())[1:]
