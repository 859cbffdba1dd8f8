"""Group, instance, root-mean-square, L2 and local response normalisation."""

import numpy as np
import pytest

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor

FUNCTIONS = {
    "group": (lambda x, w, b: ops.group_norm(x, 2, w, b), (2, 4, 3, 3), (4,), (4,)),
    "instance": (lambda x, w, b: ops.instance_norm(x, w, b), (2, 3, 5), (3,), (3,)),
    "rms": (lambda x, w: ops.rms_norm(x, w), (2, 3, 4), (4,)),
    "l2": (lambda x: ops.L2Normalize(axis=1)(x), (2, 3)),
    "lrn": (lambda x: ops.lrn(x, 2, 1.0, 0.5, 0.75), (1, 6, 2, 2)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name):
    function, *shapes = FUNCTIONS[name]
    inputs = [normal(*s, seed=i) for i, s in enumerate(shapes)]
    check_gradient(function, *inputs, tolerance=1e-5)
    check_precisions(function, *inputs, tolerance=1e-4)


def test_group_norm():
    x, w, b = normal(2, 4, 3), normal(4, seed=1), normal(4, seed=2)
    groups = x.reshape(2, 2, 6)
    plain = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
    wanted = plain.reshape(x.shape) * w[:, None] + b[:, None]
    np.testing.assert_allclose(ops.group_norm(Tensor(x), 2, Tensor(w), Tensor(b)).asnumpy(), wanted, atol=1e-12)


def test_instance_norm():
    x = normal(2, 3, 5)
    wanted = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(ops.instance_norm(Tensor(x)).asnumpy(), wanted, atol=1e-12)


def test_rms_norm():
    x, gamma = normal(2, 3), normal(3, seed=1)
    rstd = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    out, factor = ops.rms_norm(Tensor(x), Tensor(gamma))
    np.testing.assert_allclose(out.asnumpy(), x * rstd * gamma, atol=1e-12)
    np.testing.assert_allclose(factor.asnumpy(), rstd, atol=1e-12)


def test_l2_normalize():
    assert ops.L2Normalize(axis=1)(tensor([[3, 4], [0, 0]])).asnumpy() == pytest.approx(
        np.array([[0.6, 0.8], [0, 0]]), abs=1e-6
    )


def test_lrn():
    x = normal(1, 5, 2, 2)
    total = np.stack([(x[:, max(c - 1, 0) : c + 2] ** 2).sum(1) for c in range(5)], axis=1)
    wanted = x / (2.0 + 0.5 * total) ** 0.75
    np.testing.assert_allclose(ops.lrn(Tensor(x), 1, 2.0, 0.5, 0.75).asnumpy(), wanted, atol=1e-12)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: ops.group_norm(x, 3), ValueError),
        (lambda x: ops.group_norm(x, 0), ValueError),
        (lambda x: ops.group_norm(x, 2.0), TypeError),
        (lambda x: ops.group_norm(x, 2, tensor([1, 1, 1])), ValueError),
        (lambda x: ops.group_norm(tensor([1, 1]), 2), IndexError),
        (lambda x: ops.instance_norm(x, tensor([1])), ValueError),
        (lambda x: ops.rms_norm(x, tensor([1])), ValueError),
        (lambda x: ops.L2Normalize(axis=(0, 1)), TypeError),
        (lambda x: ops.L2Normalize(axis=2)(tensor([[1.0]])), ValueError),
        (lambda x: ops.LRN(-1), ValueError),
        (lambda x: ops.LRN(5, 1), TypeError),
        (lambda x: ops.lrn(tensor([[1.0]])), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call(tensor(normal(2, 4, 3)))
