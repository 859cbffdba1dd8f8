"""drawing.py, distribution_functions.py, distributions.py: shapes, seeds, moments, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.common.random import seed
from dist_ms.ops.drawing_numbers.distributions import _earliest
from tests.serial.ops.compare import equal, tensor

ONE = tensor([1.0], "float32")
DRAWS = {
    "standard_normal": lambda: ops.standard_normal((50,)),
    "normal": lambda: ops.normal((50,), 1.0, ONE),
    "uniform": lambda: ops.uniform((50,), ONE - 1, ONE),
    "uniform int": lambda: ops.uniform((50,), ms.Tensor(0, ms.int32), ms.Tensor(99, ms.int32), dtype=ms.int32),
    "rand": lambda: ops.rand(5, 10),
    "randn": lambda: ops.randn((5, 10)),
    "randint": lambda: ops.randint(0, 99, (50,)),
    "rand_like": lambda: ops.rand_like(ops.ones(50)),
    "randn_like": lambda: ops.randn_like(ops.ones(50)),
    "randint_like": lambda: ops.randint_like(ops.ones(50, ms.int32), 0, 99),
    "randperm": lambda: ops.randperm(50, -1),
    "shuffle": lambda: ops.shuffle(ops.arange(50)),
    "gamma": lambda: ops.gamma((50,), ONE, ONE),
    "random_gamma": lambda: ops.random_gamma((50,), ONE),
    "poisson": lambda: ops.poisson((50,), ONE * 20),
    "random_poisson": lambda: ops.random_poisson((50,), ONE * 20),
    "laplace": lambda: ops.laplace((50,), 0.0, ONE),
    "standard_laplace": lambda: ops.standard_laplace((50,)),
    "bernoulli": lambda: ops.bernoulli(ops.ones(50)),
    "multinomial": lambda: ops.multinomial(ops.ones(99), 50),
    "no replacement": lambda: ops.multinomial(ops.ones(99), 50, False),
    "random_categorical": lambda: ops.random_categorical(ops.ones((1, 99)), 50),
    "StandardNormal": lambda: ops.StandardNormal()((50,)),
    "UniformReal": lambda: ops.UniformReal()((50,)),
    "Multinomial": lambda: ops.Multinomial()(ops.ones(99), 50),
    "RandomShuffle": lambda: ops.RandomShuffle()(ops.arange(50)),
    "uniform_": lambda: ops.zeros(50).uniform_(),
    "normal_": lambda: ops.zeros(50).normal_(),
    "exponential_": lambda: ops.zeros(50).exponential_(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_global_seed_decides(name):
    ms.set_seed(3)
    first, second = DRAWS[name]().asnumpy(), DRAWS[name]().asnumpy()
    assert first.size == 50
    assert (first != second).any()
    ms.set_seed(3)
    assert (DRAWS[name]().asnumpy() == first).all()
    ms.set_seed(4)
    assert (DRAWS[name]().asnumpy() != first).any()


@pytest.mark.parametrize("name", DRAWS)
def test_without_a_global_seed_numpys_decides(name, monkeypatch):
    monkeypatch.setattr(seed, "_seed", None)
    np.random.seed(3)
    first = DRAWS[name]().asnumpy()
    np.random.seed(3)
    assert (DRAWS[name]().asnumpy() == first).all()


def test_the_seed_of_a_call_leaves_the_global_one_alone():
    ms.set_seed(1)
    wanted = ops.rand(5).asnumpy()
    ms.set_seed(1)
    a, b = ops.randn(5, seed=7).asnumpy(), ops.randn(5, seed=7).asnumpy()
    assert (a != b).any()  # a call's seed moves on
    equal(ops.rand(5), wanted)
    ms.set_seed(1)
    equal(ops.randn(5, seed=7), a)
    equal(ops.StandardNormal(seed=2)((3,)), ops.StandardNormal(seed=2)((3,)).asnumpy())


def test_moments():
    ms.set_seed(0)
    n = 20000
    for x, mean, deviation in (
        (ops.standard_normal((n,)), 0, 1),
        (ops.normal((n,), 3.0, 2.0), 3, 2),
        (ops.uniform((n,), ms.Tensor(1.0), ms.Tensor(3.0)), 2, 2 / 12**0.5),
        (ops.rand(n), 0.5, 12**-0.5),
        (ops.gamma((n,), ONE * 4, ONE * 2), 2, 1),
        (ops.random_gamma((n,), ONE * 4), 4, 2),
        (ops.poisson((n,), ONE * 4), 4, 2),
        (ops.laplace((n,), 1.0, 2.0), 1, 8**0.5),
        (ops.bernoulli(ops.ones(n), 0.2), 0.2, 0.4),
        (ops.zeros(n).normal_(2, 3), 2, 3),
        (ops.zeros(n).uniform_(-1, 1), 0, 3**-0.5),
        (ops.zeros(n).exponential_(2.0), 0.5, 0.5),
    ):
        values = x.asnumpy().astype("float64")
        assert abs(values.mean() - mean) < 5 * deviation / n**0.5
        assert abs(values.std() - deviation) < 0.06 * max(deviation, 1)


def test_ranges_and_types():
    x = ops.uniform((1000,), ms.Tensor(1.0), ms.Tensor(1.0000001)).asnumpy()
    assert ((x >= 1) & (x < np.float32(1.0000001))).all()
    x = ops.randint(2, 5, (300,))
    assert set(x.asnumpy().tolist()) == {2, 3, 4}
    assert x.dtype == ms.int64
    assert ops.randint(0, 2, (2,), dtype=ms.int32).dtype == ms.int32
    for dtype in (ms.float16, ms.bfloat16, ms.float64):
        assert ops.rand(3, dtype=dtype).dtype == ops.randn(3, dtype=dtype).dtype == dtype
    assert ops.rand_like(ops.ones(2, ms.float64)).dtype == ms.float64
    assert sorted(ops.randperm(9).tolist()) == list(range(9))
    assert ops.randperm(3, seed=1).tolist() == ops.randperm(3, seed=1).tolist()
    assert ops.gamma((4,), tensor([1.0, 2.0]), tensor([[1.0], [2.0], [3.0]])).shape == (4, 3, 2)
    assert ops.normal((4, 2), ONE, ops.ones((3, 1, 1))).shape == (3, 4, 2)
    assert (ops.Randperm(5)(ms.Tensor(3)).asnumpy()[3:] == -1).all()


def test_multinomial():
    ms.set_seed(0)
    weights = tensor([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0]])
    out = ops.multinomial(weights, 4000).asnumpy()
    assert out.dtype == np.int32
    assert set(out[0].tolist()) == {1, 2}
    assert abs((out[0] == 2).mean() - 0.75) < 0.04
    assert (out[1] == 0).all()
    once = ops.multinomial(tensor([1.0, 2.0, 3.0]), 3, False)
    assert sorted(once.tolist()) == [0, 1, 2]


@pytest.mark.parametrize(
    "fn, error",
    [
        (lambda: ops.standard_normal(2.0), TypeError),
        (lambda: ops.standard_normal((-1,)), ValueError),
        (lambda: ops.rand(2, seed=-1), ValueError),
        (lambda: ops.rand(2, seed=1.5), TypeError),
        (lambda: ops.rand(2, dtype=ms.int32), ValueError),
        (lambda: ops.randint(3, 3, (2,)), RuntimeError),
        (lambda: ops.randint(0, 3, 2), ValueError),
        (lambda: ops.randint(0.0, 3, (2,)), TypeError),
        (lambda: ops.randint(0, 3, (2,), dtype=ms.float32), ValueError),
        (lambda: ops.randperm(-1), ValueError),
        (lambda: ops.uniform((2,), ms.Tensor(3, ms.int32), ms.Tensor(3, ms.int32), dtype=ms.int32), RuntimeError),
        (lambda: ops.normal((2,), "a", 1.0), TypeError),
        (lambda: ops.gamma((2,), 1.0, ONE), TypeError),
        (lambda: ops.bernoulli(ONE, 1.5), ValueError),
        (lambda: ops.bernoulli(ONE, seed=-2), ValueError),
        (lambda: ops.bernoulli(ONE, seed=1.5), TypeError),
        (lambda: ops.multinomial(tensor([-1.0, 2.0]), 1), ValueError),
        (lambda: ops.multinomial(tensor([0.0]), 1), ValueError),
        (lambda: ops.multinomial(tensor([1.0, 0.0]), 2, False), ValueError),
        (lambda: ops.multinomial(ONE, 1.0), TypeError),
        (lambda: ops.random_categorical(ONE, 1), ValueError),
        (lambda: ops.Randperm(2)(3), ValueError),
        (lambda: ops.rand_like(3), TypeError),
    ],
)
def test_errors(fn, error):
    with pytest.raises(error, match="For '"):
        fn()


@pytest.mark.parametrize("levels", [2, 30, 10**6])
def test_the_earliest_clocks_are_those_of_a_stable_sort(levels):
    rng = np.random.default_rng(levels)
    for count in (1, 3, 60):
        clocks = rng.integers(0, levels, (5, 60)).astype(float)
        np.testing.assert_array_equal(_earliest(clocks, count), np.argsort(clocks, -1, kind="stable")[:, :count])
