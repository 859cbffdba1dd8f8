"""Operations that MindSpore has on Ascend only: recurrences against nn's, dropout in two steps."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.compat.inner.operations.ascend_operations import (
    DropoutDoMask,
    DropoutGenMask,
    DynamicGRUV2,
    DynamicRNN,
    FusedWeightScaleApplyMomentum,
)

T, N, L, H = 4, 2, 3, 5
rng = np.random.default_rng(7)
X, H0, C0 = (ms.Tensor(rng.normal(size=s).astype(np.float32)) for s in ((T, N, L), (1, N, H), (1, N, H)))


def blocks(weight, order, size=H):
    """The transposed weight with its gates in another order."""
    parts = np.split(weight.asnumpy(), weight.shape[0] // size)
    return ms.Tensor(np.concatenate([parts[i] for i in order]).T.copy())


def test_an_lstm_is_that_of_nn():
    layer = nn.LSTM(L, H)
    w_ih, w_hh, b_ih, b_hh = list(layer.get_parameters())
    order = (0, 2, 1, 3)  # i, f, g, o there
    w = ops.concat([blocks(w_ih, order), blocks(w_hh, order)])
    b = blocks(ops.expand_dims(b_ih + b_hh, 1), order)[0]
    outputs = DynamicRNN()(X, w, b, None, H0, C0)
    wanted, (h, c) = layer(X, (H0, C0))
    assert len(outputs) == 8 and all(o.shape == (T, N, H) for o in outputs)
    assert np.allclose(outputs[0].asnumpy(), wanted.asnumpy(), atol=1e-5)
    assert np.allclose(outputs[1][-1].asnumpy(), h[0].asnumpy(), atol=1e-5)
    assert np.allclose(outputs[2][-1].asnumpy(), c[0].asnumpy(), atol=1e-5)
    _, _, cells, i, j, f, o, squashed = (out.asnumpy() for out in outputs)
    assert np.allclose(cells[1:], f[1:] * cells[:-1] + i[1:] * j[1:], atol=1e-5)
    assert np.allclose(outputs[0].asnumpy(), o * squashed, atol=1e-5)
    assert ms.grad(lambda x: DynamicRNN()(x, w, b)[0].sum())(X).shape == X.shape
    short = DynamicRNN()(X, w, b, ms.Tensor([2, 4], ms.int32), H0, C0)
    assert not short[0][2:, 0].asnumpy().any()
    assert np.array_equal(short[1][-1, 0].asnumpy(), short[1][1, 0].asnumpy())


def test_a_forget_bias_is_added():
    w, b = ms.Tensor(rng.normal(size=(L + H, 4 * H)).astype(np.float32)), ops.zeros(4 * H)
    bias = ms.Tensor(np.repeat(np.float32([0, 0, 1, 0]), H))
    assert np.allclose(
        DynamicRNN(forget_bias=1.0)(X, w, b)[0].asnumpy(), DynamicRNN()(X, w, bias)[0].asnumpy(), atol=1e-6
    )


@pytest.mark.parametrize("order", ["rzh", "zrh"])
def test_a_gru_is_that_of_nn(order):
    cell = nn.GRUCell(L, H)
    places = [("rzh".index(gate)) for gate in order]
    arguments = [blocks(cell.weight_ih, places), blocks(cell.weight_hh, places)]
    arguments += [blocks(ops.expand_dims(b, 1), places)[0] for b in (cell.bias_ih, cell.bias_hh)]
    outputs = DynamicGRUV2(gate_order=order)(X, *arguments, None, H0[0])
    h = H0[0]
    for t in range(T):
        h = cell(X[t], h)
        assert np.allclose(outputs[0][t].asnumpy(), h.asnumpy(), atol=1e-5)
    assert len(outputs) == 6 and outputs[5].shape == (T, N, H)
    before = DynamicGRUV2(reset_after=False)(X, *arguments[:2], None, None, ms.Tensor([2, 4]), H0[0])
    assert not before[0][2:, 0].asnumpy().any()


def test_dropout_in_two_steps():
    x = ops.ones((40, 50))
    mask = DropoutGenMask(1, 2)(x.shape, ms.Tensor(0.8, ms.float32))
    assert mask.dtype == ms.uint8 and mask.shape == (-(-2000 // 128) * 16,)
    out = DropoutDoMask()(x, mask, ms.Tensor(0.8, ms.float32)).asnumpy()
    assert {*np.unique(out).round(4).tolist()} == {0.0, 1.25} and 0.75 < (out > 0).mean() < 0.85
    again = DropoutGenMask(1, 2)(x.shape, 0.8)
    assert np.array_equal(again.asnumpy(), mask.asnumpy())
    grad = ms.grad(lambda v: DropoutDoMask()(v, mask, 0.8).sum())(x)
    assert np.allclose(grad.asnumpy(), out)
    ms.set_seed(5)
    first = DropoutGenMask()((200,), 0.5).asnumpy()
    ms.set_seed(5)
    assert np.array_equal(first, DropoutGenMask()((200,), 0.5).asnumpy())


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="For 'DynamicRNN', 'cell_type' must be 'LSTM', but got 'GRU'"):
        DynamicRNN("GRU")
    with pytest.raises(ValueError, match="For 'DynamicGRUV2', 'gate_order' must be 'rzh' or 'zrh', but got 'hrz'"):
        DynamicGRUV2(gate_order="hrz")
    with pytest.raises(ValueError, match=r"For 'DynamicRNN', 'w' must be \(3 \+ hidden, 4 hidden\)"):
        DynamicRNN()(X, ops.ones((3, 8)), ops.zeros(8))
    with pytest.raises(ValueError, match="For 'DropoutGenMask', 'keep_prob' must be"):
        DropoutGenMask()((2,), 1.5)
    with pytest.raises(ValueError, match="For 'DropoutDoMask', 'mask' must be of at least 40 bits, but got 8"):
        DropoutDoMask()(ops.ones(40), ms.Tensor([1], ms.uint8), 0.5)


def test_a_step_of_momentum():
    weight, speed = (ms.Parameter(ms.Tensor(v, ms.float32), name=n) for n, v in (("w", [1.0, 2.0]), ("v", [0.5, 0.0])))
    grad = ms.Tensor([4.0, -2.0], ms.float32)
    FusedWeightScaleApplyMomentum()(0.1, ms.Tensor(0.5), weight, speed, 0.2, grad, 0.9)
    wanted = 0.9 * np.array([0.5, 0.0]) + 0.5 * np.array([4, -2]) + 0.1 * np.array([1, 2])
    assert np.allclose(speed.asnumpy(), wanted) and np.allclose(weight.asnumpy(), [1, 2] - 0.2 * wanted)
