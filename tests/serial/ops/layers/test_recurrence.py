"""The recurrence of RNN, LSTM and GRU as one operation, against the same in plain operations."""

import numpy as np
import pytest

from dist_ms import Tensor, float16, float32, grad
from dist_ms._ext.tape import Kept
from dist_ms.ops.creating.casting import cast
from dist_ms.ops.layers.recurrence import PLAIN_STEPS, Recurrence, one_step, unrolled
from tests.gradcheck import check_gradient

GATES = {"tanh": 1, "relu": 1, "lstm": 4, "gru": 3}
LIVE = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0]], bool)  # lengths 3, 1, 0
RNG = np.random.default_rng(3)


def arguments(kind, steps=3, rows=3, size=2):
    """The arrays a kind takes: gates, weight, bias of a GRU, hidden state, cell state of an LSTM."""
    width = GATES[kind] * size
    arrays = [RNG.normal(size=(steps, rows, width)), RNG.normal(size=(width, size)), RNG.normal(size=(rows, size))]
    if kind == "gru":
        arrays.insert(2, RNG.normal(size=width))
    if kind == "lstm":
        arrays.append(RNG.normal(size=(rows, size)))
    return arrays


def layers(kind, backwards, live):
    """The operation, and the layer in plain operations, as functions of those arrays."""

    def parts(tensors):
        gates, weight, *rest = tensors
        bias = rest.pop(0) if kind == "gru" else None
        return gates, weight, bias, tuple(rest)

    def fused(*tensors):
        gates, weight, bias, state = parts(tensors)
        hidden, cell = (*state, None)[:2]
        return Recurrence(kind, backwards)(gates, weight, bias, hidden, cell, live, Kept())

    def plain(*tensors):
        return unrolled(kind, backwards, live, *parts(tensors))

    return fused, plain


@pytest.mark.parametrize("live", [None, LIVE], ids=["full", "ragged"])
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("kind", GATES)
def test_equals_plain_operations(kind, backwards, live):
    fused, plain = layers(kind, backwards, live)
    arrays = arguments(kind)
    tensors = [Tensor(a) for a in arrays]
    for found, wanted in zip(fused(*tensors), plain(*tensors), strict=True):
        np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-12, atol=1e-14)
    check_gradient(fused, *arrays, step=1e-6)


@pytest.mark.parametrize("kind", GATES)
def test_past_the_end_the_state_stays_and_the_output_is_zero(kind):
    fused, _ = layers(kind, False, LIVE)
    tensors = [Tensor(a) for a in arguments(kind)]
    outputs, last = (x.asnumpy() for x in fused(*tensors)[:2])
    assert (outputs[~LIVE] == 0).all() and (kind == "relu" or (outputs[LIVE] != 0).all())
    hidden = tensors[3 if kind == "gru" else 2].asnumpy()
    assert (last[0] == outputs[2, 0]).all() and (last[1] == outputs[0, 1]).all() and (last[2] == hidden[2]).all()


def test_half_precision_keeps_its_type():
    arrays = arguments("lstm")
    fused, _ = layers("lstm", False, None)
    wanted = fused(*[Tensor(a) for a in arrays])
    found = fused(*[Tensor(a.astype(np.float16)) for a in arrays])
    assert all(x.dtype is float16 for x in found)
    np.testing.assert_allclose(found[0].asnumpy(), wanted[0].asnumpy(), atol=5e-3)


def test_each_gradient_has_the_type_of_its_input():
    gates, weight, hidden, cell = (Tensor(a.astype(np.float32)) for a in arguments("lstm"))
    low = cast(gates, float16)

    def loss(gates, weight, hidden, cell):
        return Recurrence("lstm")(gates, weight, None, hidden, cell, None, Kept())[0]

    found = [g.dtype for g in grad(loss, (0, 1, 2, 3))(low, weight, hidden, cell)]
    assert found == [float16, float32, float32, float32]


def test_nothing_to_run():
    for steps, rows in ((0, 3), (3, 0)):
        outputs, last = layers("gru", False, None)[0](*[Tensor(a) for a in arguments("gru", steps, rows)])
        assert outputs.shape == (steps, rows, 2) and last.shape == (rows, 2)


@pytest.mark.parametrize("kind", GATES)
def test_one_step(kind):
    gates, weight, *rest = arguments(kind, steps=1)
    bias, state = (rest[0] if kind == "gru" else RNG.normal(size=len(weight))), rest[kind == "gru" :]

    def step(gates, weight, bias, *state):
        return one_step(kind, gates, state, weight, bias)

    def plain(gates, weight, bias, *state):
        return PLAIN_STEPS[kind](gates, state, weight, bias)

    tensors = [Tensor(a) for a in (gates[0], weight, bias, *state)]
    for found, wanted in zip(step(*tensors), plain(*tensors), strict=True):
        np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-12, atol=1e-14)
    check_gradient(step, gates[0], weight, bias, *state, step=1e-6)


def test_one_step_refuses_mixed_types():
    gates, weight, hidden, cell = (Tensor(a.astype(np.float32)) for a in arguments("lstm", steps=1))
    with pytest.raises(TypeError, match="For 'Dense'"):
        one_step("lstm", gates[0], (cast(hidden, float16), cast(cell, float16)), weight, None)
