"""Steps of recurrent layers against a twin in NumPy, at once and one by one."""

import numpy as np
import pytest

from dist_ms._ext import recurrent_steps
from tests.serial.kernels.calls import DTYPES, assert_close, call, random, wide

GATES = {"tanh": 1, "relu": 1, "lstm": 4, "gru": 3}
SHAPES = [(0, 3, 2), (2, 0, 5), (1, 1, 1), (3, 5, 7), (2, 18, 32), (4, 33, 45), (2, 4, 70), (3, 40, 64)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gates_of(kind, x, inner):
    """The gates of a step, each (N, H)."""
    parts, inners = np.split(x, GATES[kind], 1), np.split(inner, GATES[kind], 1)
    if kind == "gru":
        r, z = (sigmoid(a + b) for a, b in zip(parts[:2], inners[:2]))
        return r, z, np.tanh(parts[2] + r * inners[2])
    if kind == "lstm":
        return tuple([(np.tanh if i == 2 else sigmoid)(a + b) for i, (a, b) in enumerate(zip(parts, inners))])
    return (np.tanh(x + inner) if kind == "tanh" else np.maximum(x + inner, 0),)


def twin(kind, x, weight, bias, states, live, backwards, dout, dlast):
    """Outputs, last states, gradients of x and of W_hh h, and of the first states."""
    steps = len(x)
    order = range(steps - 1, -1, -1) if backwards else range(steps)
    outputs, dgates, dinner, trace = np.zeros(dout.shape), np.zeros(x.shape), np.zeros(x.shape), []
    for t in order:
        h, inner = states[0], states[0] @ weight.T + bias
        gates = gates_of(kind, x[t], inner)
        if kind == "lstm":
            i, f, g, o = gates
            c = f * states[1] + i * g
            new = [o * np.tanh(c), c]
        else:
            new = [gates[2] + gates[1] * (h - gates[2])] if kind == "gru" else [gates[0]]
        now = live[t][:, None]
        trace.append((t, states, gates, new, inner))
        outputs[t] = np.where(now, new[0], 0)
        states = [np.where(now, a, b) for a, b in zip(new, states)]
    last, d = states, list(dlast)
    for t, before, gates, new, inner in reversed(trace):
        now = live[t][:, None]
        dh = d[0] + dout[t]
        if kind == "lstm":
            i, f, g, o = gates
            shape = np.tanh(new[1])
            dc = d[1] + dh * o * (1 - shape**2)
            parts = [dc * g * i * (1 - i), dc * before[1] * f * (1 - f), dc * i * (1 - g**2), dh * shape * o * (1 - o)]
            left = [0, dc * f]
        elif kind == "gru":
            r, z, n = gates
            dn = dh * (1 - z) * (1 - n**2)
            of_n = np.split(inner, 3, 1)[2]
            parts, left = [dn * of_n * r * (1 - r), dh * (before[0] - n) * z * (1 - z), dn], [dh * z]
        else:
            parts, left = [dh * (1 - new[0] ** 2 if kind == "tanh" else new[0] > 0)], [0]
        dgates[t] = np.where(now, np.concatenate(parts, 1), 0)
        dinner[t] = dgates[t]
        if kind == "gru":
            dinner[t][:, -dh.shape[1] :] *= gates[0]
        left[0] = left[0] + dinner[t] @ weight
        d = [np.where(now, a, b) for a, b in zip(left, d)]
    return outputs, last, dgates, dinner, d


def forward_by_steps(kind, x, weight, bias, h, c, gates, inner_n, live, outputs, backwards):
    for k in range(len(x)):
        inner = np.ascontiguousarray(h[k] @ weight.T)
        recurrent_steps.forward_step(kind, k, x, inner, bias, h, c, gates, inner_n, live, outputs, backwards)


def backward_by_steps(kind, weight, dout, h, c, gates, inner_n, live, dh, dc, dgates, dinner, backwards):
    for k in reversed(range(len(dout))):
        recurrent_steps.backward_step(kind, k, dout, h, c, gates, inner_n, live, dh, dc, dgates, dinner, backwards)
        dh += dinner[len(dout) - 1 - k if backwards else k] @ weight


@pytest.mark.parametrize("by_steps", [False, True], ids=["at once", "by steps"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("backwards, with_bias, ragged", [(False, False, False), (True, True, True)])
def test_against_the_twin(kind, backwards, with_bias, ragged, shape, dtype, by_steps):
    steps, rows, size = shape
    width = GATES[kind] * size
    seed = int(ragged)
    x = random((steps, rows, width), dtype, seed)
    weight = random((width, size), dtype, seed + 2) / dtype(np.sqrt(size))
    bias = random((width,), dtype, seed + 4) if with_bias else None
    starts = [random((rows, size), dtype, seed + 6 + i) for i in range(2 if kind == "lstm" else 1)]
    dout, dlast = random((steps, rows, size), dtype, 9), [random((rows, size), dtype, 10 + i) for i in range(2)]
    dlast = dlast[: len(starts)]
    lengths = np.random.default_rng(seed).integers(0, steps + 1, rows)
    live = np.arange(steps)[:, None] < lengths if ragged else None
    wanted = twin(
        kind, wide(x), wide(weight), wide(bias) if with_bias else 0.0, [wide(s) for s in starts],
        np.ones((steps, rows), bool) if live is None else live, backwards, wide(dout), [wide(g) for g in dlast],
    )  # fmt: skip
    states = [np.zeros((steps + 1, rows, size), dtype) for _ in starts]
    h, c = (*states, None)[:2]
    gates = np.zeros(x.shape, dtype) if kind in ("lstm", "gru") else None
    inner_n = np.zeros((steps, rows, size), dtype) if kind == "gru" else None
    outputs = np.empty((steps, rows, size), dtype)

    def run_forward():
        for state, start in zip(states, starts):
            state[0] = start
        kernel = forward_by_steps if by_steps else recurrent_steps.forward
        kernel(kind, x, weight, bias, h, c, gates, inner_n, live, outputs, backwards)

    call(run_forward, (), [outputs, *states])
    scale = 20 * max(steps, 1)
    assert_close(outputs, wanted[0], scale)
    for state, right in zip(states, wanted[1]):
        assert_close(state[-1], right, scale)

    dgates = np.empty(x.shape, dtype)
    dinner = np.empty(x.shape, dtype) if kind == "gru" else dgates
    d = [np.empty((rows, size), dtype) for _ in starts]

    def run_backward():
        for gradient, given in zip(d, dlast):
            gradient[...] = given
        dh, dc = (*d, None)[:2]
        kernel = backward_by_steps if by_steps else recurrent_steps.backward
        kernel(kind, weight, dout, h, c, gates, inner_n, live, dh, dc, dgates, dinner, backwards)

    call(run_backward, (), [dgates, dinner, *d])
    for found, right in zip((dgates, dinner, *d), (*wanted[2:4], *wanted[4]), strict=True):
        assert_close(found, right, 4 * scale)


def test_special_values():
    x = np.array([[[np.nan, np.inf, -np.inf]]])
    h, out = np.zeros((2, 1, 3)), np.empty((1, 1, 3))
    for kind, wanted in (("relu", [np.nan, np.inf, 0]), ("tanh", [np.nan, 1, -1])):
        recurrent_steps.forward(kind, x, np.zeros((3, 3)), None, h, None, None, None, None, out, False)
        np.testing.assert_array_equal(out[0, 0], wanted)


@pytest.mark.parametrize(
    "place, value, error",
    [
        (0, "elman", ValueError),
        (1, np.zeros((2, 3, 15)), ValueError),
        (1, np.zeros((2, 3, 16), np.float32), TypeError),
        (1, None, TypeError),
        (2, np.zeros((4, 16)), ValueError),
        (3, np.zeros(4), ValueError),
        (4, np.zeros((3, 4)), ValueError),
        (4, np.zeros((3, 3, 4), np.float16), TypeError),
        (5, None, ValueError),
        (6, None, ValueError),
        (7, np.zeros((2, 3, 4)), ValueError),
        (8, np.ones((2, 3)), TypeError),
        (9, np.zeros((2, 4, 3)), ValueError),
    ],
)
def test_errors(place, value, error):
    arguments = [
        "lstm", np.zeros((2, 3, 16)), np.zeros((16, 4)), None, np.zeros((3, 3, 4)), np.zeros((3, 3, 4)),
        np.zeros((2, 3, 16)), None, None, np.zeros((2, 3, 4)), False,
    ]  # fmt: skip
    arguments[place] = value
    with pytest.raises(error, match="For 'forward'"):
        recurrent_steps.forward(*arguments)


def test_errors_of_a_gradient():
    zeros, rows, gates = np.zeros((2, 3, 4)), np.zeros((3, 4)), np.zeros((2, 3, 12))
    given = (zeros, np.zeros((3, 3, 4)), None, gates, zeros, None, rows)
    with pytest.raises(ValueError, match="For 'backward', 'dinner'"):
        recurrent_steps.backward("gru", np.zeros((12, 4)), *given, None, gates, gates, False)
    with pytest.raises(ValueError, match="For 'backward', 'dc'"):
        recurrent_steps.backward("gru", np.zeros((12, 4)), *given, rows, gates, gates.copy(), False)
    with pytest.raises(ValueError, match="For 'backward_step', 'k'"):
        recurrent_steps.backward_step("gru", 2, *given, None, gates, gates.copy(), False)
