"""gmm and its gradients, products of quantised matrices, rmod: MindSpore's functions of both forms of arguments."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.ops import functional_overload as overload
from tests.gradcheck import check_gradient

ENDS = (2, 2, 5)


def draw(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("kind", [0, 1])
def test_a_matrix_for_each_group_of_rows(kind):
    x, w, bias = draw(0, 5, 3), draw(1, 3, 3, 4), draw(2, 3, 4)
    groups = Tensor(np.array([2, 0, 3] if kind else ENDS, np.int64))
    wanted = np.concatenate([x[:2] @ w[0] + bias[0], x[2:] @ w[2] + bias[2]])
    (found,) = overload.gmm([Tensor(x)], [Tensor(w)], [Tensor(bias)], groups, 0, kind)
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-5)
    assert np.array_equal(overload.gmm((Tensor(x),), (Tensor(w),), (Tensor(bias),), list(ENDS), 0, kind)[0], found)


def test_a_matrix_from_each_group_of_columns():
    x, w = draw(0, 4, 5), draw(1, 5, 3)
    (found,) = overload.gmm([Tensor(x)], [Tensor(w)], group_list=ENDS, group_type=2)
    wanted = [x[:, :2] @ w[:2], np.zeros((4, 3)), x[:, 2:] @ w[2:]]
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-5)


def test_gradients_of_groups():
    x, w, dout = draw(0, 5, 3), draw(1, 3, 3, 4), draw(2, 5, 4)
    run = lambda a, b: (overload.gmm([a], [b], group_list=ENDS)[0] * Tensor(dout)).sum()  # noqa: E731
    wanted = ms.grad(run, (0, 1))(Tensor(x), Tensor(w))
    (dx,), (dw,), (db,) = overload.gmm_backward([Tensor(dout)], [Tensor(x)], [Tensor(w)], group_list=ENDS)
    for found, want in zip((dx, dw), wanted):
        np.testing.assert_allclose(found.asnumpy(), want.asnumpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(db.asnumpy(), [dout[:2].sum(0), np.zeros(4), dout[2:].sum(0)], rtol=1e-5, atol=1e-5)
    assert np.array_equal(overload.gmm_backward_fusion([Tensor(dout)], [Tensor(w)], group_list=ENDS)[0][0], dx)
    check_gradient(lambda a, b: overload.gmm([a], [b], group_list=ENDS)[0], x.astype(float), w.astype(float))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x, w: overload.gmm(x, [w], group_list=ENDS), ValueError),
        (lambda x, w: overload.gmm([x], [w], group_list=(2, 4)), ValueError),
        (lambda x, w: overload.gmm([x], [w], group_list=(5, 2, 5)), ValueError),
        (lambda x, w: overload.gmm([x], [w], group_list=ENDS, group_type=1), ValueError),
        (lambda x, w: overload.gmm([x], [w], group_list=ENDS, group_list_type=2), ValueError),
        (lambda x, w: overload.gmm([x], [w[:2]], group_list=ENDS), ValueError),
        (lambda x, w: overload.gmm([x], [w], [w], group_list=ENDS), ValueError),
        (lambda x, w: overload.gmm([x], [w.astype(ms.float16)], group_list=ENDS), TypeError),
        (lambda x, w: overload.gmm([x], [w], group_list="a"), TypeError),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call(Tensor(draw(0, 5, 3)), Tensor(draw(1, 3, 3, 4)))


def test_quantised_products():
    a, b, scale, rows = draw(0, 2, 3, 4), draw(1, 2, 4, 5), draw(2, 5), draw(3, 3)
    offset, bias = draw(4, 1), draw(5, 5)
    low = [Tensor(x).astype(ms.float8_e4m3fn) for x in (a, b)]
    exact = [x.astype(ms.float32).asnumpy() for x in low]
    found = overload.quant_matmul(
        *low,
        Tensor(scale),
        offset=Tensor(offset),
        pertoken_scale=Tensor(rows),
        bias=Tensor(bias),
        output_dtype=ms.float32,
    )
    wanted = ((exact[0] @ exact[1]) * scale + offset) * rows[:, None] + bias
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-5)
    cast = overload.quant_matmul(
        Tensor(a), Tensor(b), Tensor(scale), x1_dtype=ms.float8_e4m3fn, x2_dtype=ms.float8_e4m3fn
    )
    assert cast.dtype is ms.float16
    np.testing.assert_allclose(cast.asnumpy(), exact[0] @ exact[1] * scale, rtol=1e-2, atol=1e-2)
    for wrong in ({"group_sizes": [1, 1, 1]}, {"pertoken_scale": Tensor(scale)}, {"bias": Tensor(rows)}):
        with pytest.raises(ValueError, match="must be"):
            overload.quant_matmul(*low, Tensor(scale), **wrong)
    with pytest.raises(ValueError, match="float type"):
        overload.quant_matmul(Tensor(a).astype(ms.int8), low[1], Tensor(scale))


def test_remainders_of_a_number():
    assert overload.rmod(7, Tensor(3.0)).asnumpy() == 1 and overload.rmod(Tensor(3.0), Tensor(7.0)).asnumpy() == 3
    assert overload.rmod(-7.5, Tensor([2.0, -2.0])).asnumpy().tolist() == [0.5, -1.5]
    for wrong in ((Tensor([3]), 7), (Tensor([3.0]), Tensor([2.0])), (3, 2)):
        with pytest.raises(TypeError):
            overload.rmod(*wrong)
