"""Random operations draw the numbers of MindSpore 2.10's CPU operations: figures printed by it."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.ops.drawing_numbers.random_engines import MersenneTwister, MinimalStandard, mixed_seed

CASES = {
    "UniformReal": (lambda: ops.UniformReal(1)((3,)), [0.5429620, 0.8057863, 0.3675010]),
    "both seeds": (lambda: ops.UniformReal(3, 7)((3,)), [0.6489102, 0.0551583, 0.7023632]),
    "StandardNormal": (lambda: ops.StandardNormal(1)((3,)), [0.2279800, -0.9599476, 0.5314623]),
    "StandardLaplace": (lambda: ops.StandardLaplace(1)((3,)), [-1.4387108, 0.1998557, 0.9283266]),
    "UniformInt": (lambda: ops.UniformInt(1)((3,), ms.Tensor(0), ms.Tensor(1000000)), [889789, 543084, 963656]),
    "wide UniformInt": (
        lambda: ops.UniformInt(1)((3,), ms.Tensor(-(2**31)), ms.Tensor(2**31 - 1)),
        [1673273803, 184520524, 1990456750],
    ),
    "RandomShuffle 8": (lambda: ops.RandomShuffle(1)(ops.arange(8)), [5, 2, 0, 3, 4, 7, 1, 6]),
    "RandomShuffle 9": (lambda: ops.RandomShuffle(1)(ops.arange(9)), [2, 4, 3, 1, 8, 6, 7, 0, 5]),
    "RandomShuffle 2": (lambda: ops.RandomShuffle(1)(ops.arange(2)), [1, 0]),
    "shuffled rows": (
        lambda: ops.RandomShuffle(1)(ops.arange(16).reshape(8, 2))[:, 0],
        [10, 4, 0, 6, 8, 14, 2, 12],
    ),
    "Multinomial": (
        lambda: ops.Multinomial(1)(ops.ones((2, 1000)), 3),
        [[118, 590, 802], [814, 734, 199]],
    ),
    "RandomPoisson": (lambda: ops.RandomPoisson(1)(ms.Tensor([6]), ms.Tensor(5.0)), [5, 3, 2, 1, 10, 9]),
    "large RandomPoisson": (
        lambda: ops.RandomPoisson(1)(ms.Tensor([3]), ms.Tensor([1.0, 50.0])),
        [[1, 43], [0, 52], [2, 40]],
    ),
    "RandomGamma": (
        lambda: ops.RandomGamma(1)(ms.Tensor([3]), ms.Tensor([1.0, 0.5])),
        [[0.14327535, 0.00902325], [4.606316, 0.00803952], [0.45032296, 0.01672236]],
    ),
    "larger RandomGamma": (lambda: ops.RandomGamma(3)(ms.Tensor([2]), ms.Tensor([3.0]))[:, 0], [5.0348296, 2.8475039]),
    "ParameterizedTruncatedNormal": (
        lambda: ops.ParameterizedTruncatedNormal(1, 2)(
            ms.Tensor([2, 3]), *[ms.Tensor([v]) for v in (0.0, 1.0, -100.0, 100.0)]
        ),
        [[-1.3713126, 1.7887708, 0.2618214], [-0.98487025, 1.2943813, 2.4439487]],
    ),
    "TruncatedNormal": (
        lambda: ops.TruncatedNormal(seed=3, seed2=4)(ms.Tensor([1, 6])),
        [[-0.2081423, -0.2710466, -0.3850772, 0.0706685, 1.0757784, 0.1574438]],
    ),
    "UniformCandidateSampler": (
        lambda: ops.UniformCandidateSampler(1, 5, True, 10, 1)(ms.Tensor([[1]]))[0],
        [1, 5, 8, 7, 9],
    ),
    "LogUniformCandidateSampler": (
        lambda: ops.LogUniformCandidateSampler(1, 5, False, 1000, 1)(ms.Tensor([[1]]))[0],
        [545, 15, 111, 129, 1],
    ),
    "its counts": (
        lambda: ops.LogUniformCandidateSampler(1, 5, True, 10, 1)(ms.Tensor([[1]]))[2],
        [0.3316436, 0.7727922, 0.4688124, 0.9347411, 0.6402764],
    ),
    "randperm": (lambda: ops.randperm(8, 1, 0), [1, 0, 2, 5, 7, 4, 6, 3]),
    "randperm offset": (lambda: ops.randperm(8, 7, 9), [3, 2, 4, 7, 0, 1, 5, 6]),
    "randperm default": (lambda: ops.randperm(4), [0, 2, 1, 3]),
    "rand": (lambda: ops.rand(2), [0.5429620, 0.8057863]),
    "rand seed": (lambda: ops.rand(3, seed=2), [0.2787379, 0.4935370, 0.3562354]),
    "randn": (lambda: ops.randn(2), [0.2279800, -0.9599476]),
    "randint": (lambda: ops.randint(0, 100, (5,)), [88, 54, 96, 80, 21]),
    "multinomial": (lambda: ops.multinomial(ops.ones(1000), 4), [118, 590, 802, 814]),
    "bernoulli": (lambda: ops.bernoulli(ops.ones(10), 0.5, 7), [0, 1, 1, 0, 1, 1, 0, 1, 1, 1]),
    "bernoulli, a long seed": (lambda: ops.bernoulli(ops.ones(10), 0.5, 2**40 + 5), [0, 0, 0, 0, 1, 1, 1, 1, 1, 0]),
    "Bernoulli": (
        lambda: ops.Bernoulli(0)(ops.ones(10), ms.Tensor(np.linspace(0, 1, 10))),
        [0, 0, 0, 1, 0, 1, 1, 0, 0, 1],
    ),
    "rrelu": (lambda: ops.rrelu(ms.Tensor([-1.0, 2.0, -3.0])), [-0.238117099, 2, -0.604688108]),
    "gumbel_softmax": (
        lambda: ops.gumbel_softmax(ms.Tensor([[1.0, 2.0, 3.0]])),
        [[0.0757812858, 0.5825985, 0.34162024]],
    ),
    "random_categorical": (
        lambda: ops.random_categorical(ms.Tensor([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]]), 6, 3),
        [[2, 2, 3, 3, 3, 3], [0, 0, 0, 0, 1, 1]],
    ),
    "mnp.rand": (lambda: ms.numpy.rand(3), [0.5108306, 0.7556617, 0.5683984]),
    "mnp.randn": (lambda: ms.numpy.randn(3), [-0.3862506, 0.1952420, 0.3263997]),
    "mnp.randint": (lambda: ms.numpy.randint(1, 10, (6,)), [7, 5, 2, 7, 8, 6]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_numbers_are_mindspores(name):
    ms.set_seed(1)
    draw, wanted = CASES[name]
    np.testing.assert_allclose(draw().asnumpy(), wanted, rtol=2e-6)


def test_noise_is_drawn_before_it_is_broadcast():
    ms.set_seed(1)
    x = ops.normal((2, 1), ms.Tensor([0.0, 10.0]), ms.Tensor(1.0)).asnumpy()
    np.testing.assert_allclose(x[:, 1] - x[:, 0], 10, rtol=1e-5)


def test_an_object_goes_on_with_its_sequence_for_each_shape():
    draw = ops.UniformReal(2)
    whole = ops.UniformReal(2)((6,)).asnumpy()
    np.testing.assert_array_equal(np.concatenate([draw((3,)).asnumpy(), draw((3,)).asnumpy()]), whole)
    np.testing.assert_array_equal(draw((4,)).asnumpy(), whole[:4])
    normal = ops.StandardNormal(2)
    first = normal((3,)).asnumpy()
    np.testing.assert_allclose(normal((3,)).asnumpy(), [0.4119366, -2.0538282, 0.2590888], rtol=2e-6)
    np.testing.assert_allclose(first, [0.6124248, 0.8653315, 1.0171256], rtol=2e-6)


@pytest.mark.parametrize("engine", [MersenneTwister, MinimalStandard])
def test_numbers_in_one_go_are_numbers_one_by_one(engine):
    for draw in ("words", "doubles", "floats"):
        together, apart = engine(7), engine(7)
        values = getattr(together, draw)(37)
        np.testing.assert_array_equal(values, [getattr(apart, draw)(1)[0] for _ in range(37)])
        assert together.words(1) == apart.words(1)
    together, apart = engine(7), engine(7)
    span = 3 * together.top // 5  # two words of five are left out
    np.testing.assert_array_equal(together.integers(span, 50), [apart.integers(span, 1)[0] for _ in range(50)])
    assert together.words(1) == apart.words(1)
    np.testing.assert_array_equal(together.normals(20), np.concatenate([apart.normals(2) for _ in range(10)]))


def test_each_call_of_bernoulli_with_a_seed_starts_anew():
    draws = [ops.bernoulli(ops.ones(9), 0.5, 3).asnumpy() for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    halves = ops.bernoulli(ops.ones((10, 1000)), ms.Tensor([[0.25] * 500 + [0.75] * 500] * 10), 3).asnumpy()
    assert abs(halves[:, :500].mean() - 0.25) < 0.03 and abs(halves[:, 500:].mean() - 0.75) < 0.03


def test_rows_of_random_categorical_are_drawn_apart_without_a_seed():
    first, second = ops.random_categorical(ops.ones((2, 1000)), 50).asnumpy()
    assert (first != second).any()


def test_gamma_numbers_go_on():
    draw = ops.RandomGamma(1)
    draw(ms.Tensor([3]), ms.Tensor([1.0, 0.5]))
    again = draw(ms.Tensor([3]), ms.Tensor([1.0, 0.5])).asnumpy()
    wanted = [[0.11291548, 0.18102387], [1.1742994, 0.59198654], [1.1102777, 0.14839548]]
    np.testing.assert_allclose(again, wanted, rtol=2e-6)


def test_the_mersenne_twister_is_numpys():
    np.testing.assert_array_equal(MersenneTwister(5).words(9), np.random.RandomState(5).randint(0, 2**32, 9, np.uint64))
    assert mixed_seed(1, 0) == 5021939587448326713


def test_moments_of_the_streams():
    ms.set_seed(5)
    n = 40000
    for x, mean, deviation in (
        (ops.randn(n), 0, 1),
        (ops.rand(n), 0.5, 12**-0.5),
        (ops.standard_laplace((n,)), 0, 2**0.5),
        (ops.randint(0, 7, (n,)), 3, 2),
        (ops.random_poisson(ms.Tensor([n // 8]), ms.Tensor([3.0, 30.0]))[:, 1], 30, 30**0.5),
    ):
        values = x.asnumpy().astype(float)
        assert abs(values.mean() - mean) < 5 * deviation / values.size**0.5
        assert abs(values.std() - deviation) < 0.05 * deviation


def test_refusals():
    with pytest.raises(ValueError, match="seed"):
        ops.StandardNormal(-1)
    with pytest.raises(TypeError, match="seed"):
        ops.UniformReal(1.5)
    with pytest.raises(ValueError, match="maxval"):
        ops.UniformInt(1)((2,), ms.Tensor(3), ms.Tensor(3))
    with pytest.raises(ValueError, match="num_samples"):
        ops.Multinomial(1)(ms.Tensor([0.0, 0.0]), 2)
