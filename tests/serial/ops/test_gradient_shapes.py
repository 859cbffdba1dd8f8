"""Gradients against finite differences in float64 over odd shapes: broadcast, empty, of length 1, negative axes."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.gradcheck import check_gradient

SHAPES = [(), (1,), (0,), (3, 1), (2, 0, 3), (1, 1, 1), (2, 3, 2)]
PAIRS = [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 2)), ((0, 3), (1, 3)), ((1,), (4, 1, 2)), ((2, 3), (2, 3))]
BESSEL = [f"bessel_{letter}{n}{e}" for letter in "ijky" for n in "01" for e in (["", "e"] if letter in "ik" else [""])]
UNARY = [*BESSEL, "relu", "gelu", "silu", "mish", "elu", "selu", "softplus", "softsign", "erf", "lgamma"]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "maximum",
    "minimum",
    "atan2",
    "xlogy",
    "hypot",
    "logaddexp",
    "float_power",
]
REDUCED = [
    "sum",
    "mean",
    "prod",
    "logsumexp",
    "std",
    "var",
    "cumsum",
    "cumprod",
    "softmax",
    "log_softmax",
    "amax",
    "amin",
]


def positive(rng, shape):
    """Numbers from 0.6 to 1.9, no two alike."""
    count = int(np.prod(shape))
    order = rng.permutation(count).reshape(shape)
    return 0.6 + 1.3 * (order + rng.uniform(0.1, 0.9)) / (count + 1)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", [n for n in UNARY if hasattr(ops, n)])
def test_one_operand(name, shape):
    check_gradient(getattr(ops, name), positive(np.random.default_rng(0), shape), order=1)


@pytest.mark.parametrize("shapes", PAIRS, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_broadcast(name, shapes):
    rng = np.random.default_rng(1)
    x, y = (positive(rng, shape) for shape in shapes)
    check_gradient(getattr(ops, name), x, y + 0.01)


@pytest.mark.parametrize("shape", [(3,), (2, 1), (2, 3), (1, 2, 3), (2, 0)], ids=str)
@pytest.mark.parametrize("axis", [-1, -2, 0])
@pytest.mark.parametrize("name", REDUCED)
def test_along_an_axis(name, axis, shape):
    undefined = ("std", "var", "amax", "amin", "mean", "logsumexp")
    if axis < -len(shape) or (name in undefined and (0 in shape or (name in ("std", "var") and shape[axis] < 2))):
        pytest.skip("the operation has no value there")
    check_gradient(lambda x: getattr(ops, name)(x, axis), positive(np.random.default_rng(2), shape))


def test_extreme_with_its_place():
    x = positive(np.random.default_rng(3), (2, 3, 2))
    for axis in (-1, -2, 0):
        check_gradient(lambda x, axis=axis: ops.ArgMaxWithValue(axis)(x)[1], x)


def test_select_broadcasts():
    mask = ms.Tensor([[True], [False]])
    rng = np.random.default_rng(4)
    check_gradient(lambda x, y: ops.where(mask, x, y), positive(rng, (2, 3)), positive(rng, (1, 3)))
