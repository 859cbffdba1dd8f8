"""Data types as MindSpore chooses them, gradients, and what is refused."""

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.numpy as mnp

INTS, FLOATS, BOOLS = mnp.array([3, 1, 2]), mnp.array([0.5, 2.0, 1.0]), mnp.array([True, False, True])


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (lambda: mnp.array([1, 2]), "Int32"),
        (lambda: mnp.array([1, 2.5]), "Float32"),
        (lambda: mnp.array([True]), "Bool"),
        (lambda: mnp.arange(3), "Int32"),
        (lambda: mnp.zeros(2), "Float32"),
        (lambda: mnp.sum(INTS), "Int64"),
        (lambda: mnp.mean(INTS), "Int32"),
        (lambda: mnp.std(INTS), "Float32"),
        (lambda: mnp.argmax(FLOATS), "Int64"),
        (lambda: mnp.argmin(FLOATS), "Int32"),
        (lambda: mnp.divide(INTS, INTS), "Float32"),
        (lambda: mnp.add(INTS, 1.5), "Float32"),
        (lambda: mnp.maximum(INTS, 1.5), "Int32"),
        (lambda: mnp.sin(BOOLS), "Float16"),
        (lambda: mnp.sin(INTS), "Float32"),
        (lambda: mnp.sqrt(INTS), "Float32"),
        (lambda: mnp.exp2(INTS), "Int32"),
        (lambda: mnp.copysign(INTS, -1.0), "Int32"),
        (lambda: mnp.cumsum(BOOLS), "Int32"),
        (lambda: mnp.trace(mnp.diag(INTS)), "Int64"),
        (lambda: mnp.bincount(INTS), "Float32"),
        (lambda: mnp.searchsorted([1, 2], 1), "Int32"),
        (lambda: mnp.equal(INTS, INTS, dtype=ms.float32), "Float32"),
        (lambda: mnp.logaddexp(FLOATS.astype("float16"), FLOATS.astype("float16")), "Float16"),
    ],
)
def test_type_of_the_result(made, wanted):
    assert str(made().dtype) == wanted


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: mnp.sum(mnp.square(x)), lambda x: 2 * x),
        (lambda x: mnp.sum(mnp.pad(x, 2, mode="edge")), lambda x: np.array([3, 1, 3])),
        (lambda x: mnp.sum(mnp.convolve(x, [1.0, 2.0])), lambda x: np.full(3, 3)),
        (lambda x: mnp.var(x), lambda x: 2 / 3 * (x - x.mean())),
        (lambda x: mnp.norm(x), lambda x: x / np.linalg.norm(x)),
        (lambda x: mnp.sum(mnp.tile(x, (2, 2))), lambda x: np.full(3, 4)),
        (lambda x: mnp.trapz(x), lambda x: np.array([0.5, 1, 0.5])),
        (lambda x: mnp.sum(mnp.kron(x, x)), lambda x: np.full(3, 2 * x.sum())),
        (lambda x: mnp.sum(mnp.take(x, mnp.array([0, 0, 2]))), lambda x: np.array([2, 0, 1])),
        (lambda x: mnp.cov(x), lambda x: x - x.mean()),
        (lambda x: mnp.sum(mnp.where(x > 0.7, x, 0.0)), lambda x: (x > 0.7).astype(float)),
    ],
)
def test_gradients(function, wanted):
    found = ms.grad(function)(FLOATS).asnumpy()
    np.testing.assert_allclose(found, wanted(FLOATS.asnumpy()), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: mnp.array("a"), TypeError),
        (lambda: mnp.sin([1.0]), TypeError),
        (lambda: mnp.exp(INTS), TypeError),
        (lambda: mnp.multiply(FLOATS, 2), TypeError),
        (lambda: mnp.matmul(INTS, FLOATS), TypeError),
        (lambda: mnp.where(BOOLS), TypeError),
        (lambda: mnp.clip(FLOATS, None, None), ValueError),
        (lambda: mnp.arange(2, 0), ValueError),
        (lambda: mnp.sum(FLOATS, axis=5), ValueError),
        (lambda: mnp.pad(FLOATS, 1, mode="x"), ValueError),
        (lambda: mnp.norm(mnp.eye(2), "nuc"), NotImplementedError),
    ],
)
def test_refused(call, error):
    with pytest.raises(error, match=r"For '\w+', "):
        call()


def test_promotion_and_lazy_loading():
    assert mnp.promote_types("int8", "uint8") == ms.int16
    assert mnp.result_type("int8", mnp.float16, True) == ms.float16
    assert ms.numpy is mnp
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ms.nothing
