"""Distributions against SciPy's, and what is checked."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.nn.probability import distribution as families

REAL, POSITIVE, UNIT, COUNTS = (
    np.linspace(-6, 7, 9),
    np.linspace(0.05, 8, 9),
    np.linspace(0.05, 0.95, 9),
    np.arange(9.0),
)
# Of each family the parameters, others of it, values, and SciPy's.
CASES = {
    "Normal": ((1.5, 2.0), (0.5, 3.0), REAL, lambda m, s: stats.norm(m, s)),
    "Uniform": ((-1.0, 3.0), (-2.0, 4.0), REAL, lambda a, b: stats.uniform(a, b - a)),
    "Bernoulli": ((0.3,), (0.6,), np.array([0.0, 1.0]), stats.bernoulli),
    "Beta": ((2.0, 3.0), (1.5, 2.5), UNIT, stats.beta),
    "Cauchy": ((1.5, 2.0), (0.5, 3.0), REAL, stats.cauchy),
    "Exponential": ((1.5,), (0.5,), POSITIVE, lambda r: stats.expon(scale=1 / r)),
    "Gamma": ((2.0, 1.5), (1.0, 2.5), POSITIVE, lambda c, r: stats.gamma(c, scale=1 / r)),
    "Geometric": ((0.3,), (0.6,), COUNTS, lambda p: stats.geom(p, loc=-1)),
    "Gumbel": ((1.5, 2.0), (0.5, 3.0), REAL, stats.gumbel_r),
    "Laplace": ((1.5, 2.0), None, REAL, stats.laplace),
    "HalfNormal": ((0.0, 2.0), None, REAL, stats.halfnorm),
    "Logistic": ((1.5, 2.0), None, REAL, stats.logistic),
    "LogNormal": ((0.5, 0.7), (0.2, 1.1), POSITIVE, lambda m, s: stats.lognorm(s, scale=math.exp(m))),
    "Poisson": ((2.5,), None, COUNTS, stats.poisson),
    "StudentT": ((3.0, 1.5, 2.0), None, REAL, stats.t),
}
VALUES = {
    "prob": "pdf",
    "log_prob": "logpdf",
    "cdf": "cdf",
    "log_cdf": "logcdf",
    "survival_function": "sf",
    "log_survival": "logsf",
}


def made(name, parameters):
    return getattr(families, name)(*parameters, dtype=ms.float64)


def f64(*values):
    return [Tensor(np.asarray(value, np.float64)) for value in values]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("question", VALUES)
def test_probabilities(name, question):
    parameters, _, values, scipy = CASES[name]
    known = VALUES[question]
    if not hasattr(scipy(*parameters), "pdf") or hasattr(getattr(scipy(*parameters), "dist", None), "pmf"):
        known = known.replace("pdf", "pmf")
    one = made(name, parameters)
    if name in ("Beta", "HalfNormal", "Laplace", "StudentT") and not question.endswith("prob"):
        with pytest.raises(NotImplementedError, match=question):
            getattr(one, question)(*f64(values))
        return
    with np.errstate(divide="ignore"):
        wanted = getattr(scipy(*parameters), known)(values)
    found = getattr(one, question)(*f64(values))
    assert found.dtype == ms.float64 or name in ("Bernoulli", "Geometric", "Poisson")
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=2e-5, atol=2e-6)
    np.testing.assert_array_equal(one(question, *f64(values)).asnumpy(), found.asnumpy())
    if name != "Gumbel":  # its parameters are those it was made with
        free = getattr(families, name)(dtype=ms.float64)
        rows = [Tensor(np.full((2, 1), p, np.float32)) for p in parameters]
        again = getattr(free, question)(*f64(values), *rows).asnumpy()
        np.testing.assert_allclose(again, np.stack([wanted, wanted]), rtol=3e-5, atol=3e-6)


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("HalfNormal", "Laplace", "StudentT", "Cauchy")])
def test_moments(name):
    parameters, _, _, scipy = CASES[name]
    one, known = made(name, parameters), scipy(*parameters)
    for question, wanted in (("mean", known.mean()), ("var", known.var()), ("sd", known.std())):
        np.testing.assert_allclose(getattr(one, question)().asnumpy(), wanted, rtol=1e-5)
    if name != "Poisson":
        np.testing.assert_allclose(one.entropy().asnumpy(), known.entropy(), rtol=1e-5)


def test_modes():
    for name, wanted in (
        ("Normal", 1.5),
        ("Beta", 1 / 3),
        ("Gamma", 2 / 3),
        ("Gumbel", 1.5),
        ("Poisson", 2),
        ("Exponential", 0),
    ):
        np.testing.assert_allclose(made(name, CASES[name][0]).mode().asnumpy(), wanted, rtol=1e-6)
    np.testing.assert_allclose(made("LogNormal", (0.5, 0.7)).mode().asnumpy(), math.exp(0.5 - 0.49), rtol=1e-6)
    assert families.Bernoulli([0.3, 0.7]).mode().asnumpy().tolist() == [0, 1]
    assert np.isnan(families.Gamma(0.5, 1.0).mode().asnumpy()) and np.isnan(families.Beta(0.5, 2.0).mode().asnumpy())
    with pytest.raises(NotImplementedError, match="'mode'"):
        families.Uniform(0.0, 1.0).mode()
    for undefined in ("mean", "sd", "var"):
        with pytest.raises(ValueError, match=f"'{undefined}' is not defined"):
            getattr(families.Cauchy(0.0, 1.0), undefined)()
    assert families.Cauchy(1.0, 2.0)._quantile(Tensor(0.75)).asnumpy() == pytest.approx(3.0)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case[1] is not None])
def test_divergences(name):
    a, b, _, scipy = CASES[name]
    one, known, other = made(name, a), scipy(*a), scipy(*b)
    if name in ("Bernoulli", "Geometric"):
        points = np.arange(2 if name == "Bernoulli" else 400)
        wanted = (known.pmf(points) * (known.logpmf(points) - other.logpmf(points))).sum()
    else:
        low, high = known.support()
        if name == "Gumbel":  # beyond, its density is 0 and the logarithm infinite
            low, high = -6, 60
        wanted = integrate.quad(lambda x: known.pdf(x) * (known.logpdf(x) - other.logpdf(x)), low, high, limit=400)[0]
    found = one.kl_loss(name, *f64(*b)).asnumpy()
    np.testing.assert_allclose(found, wanted, rtol=2e-4)
    np.testing.assert_allclose(one.cross_entropy(name, *f64(*b)).asnumpy(), known.entropy() + wanted, rtol=2e-4)
    names = [f"{key}_b" for key in one.parameter_names]
    assert one.kl_loss(name, **dict(zip(names, f64(*b), strict=True))).asnumpy() == found
    with pytest.raises(ValueError, match=f"'dist' must be '{name}'"):
        one.kl_loss("Other", *f64(*b))
    with pytest.raises(TypeError):
        one.kl_loss(name)
    with pytest.raises(TypeError):
        one.kl_loss(name, *b)


def test_a_uniform_one_beyond_another_diverges():
    assert np.isinf(families.Uniform(0.0, 3.0).kl_loss("Uniform", Tensor(1.0), Tensor(4.0)).asnumpy())


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("HalfNormal", "Laplace", "StudentT")])
def test_draws(name):
    ms.set_seed(3)
    parameters, _, _, scipy = CASES[name]
    first = [parameters[0]] if len(parameters) == 1 else parameters[0]
    one = getattr(families, name)(first, *parameters[1:], seed=5)
    drawn = one.sample((4000,)).asnumpy().ravel()
    known = scipy(*parameters)
    assert drawn.shape == (4000,)
    points = known.ppf([0.2, 0.5, 0.8])
    share = (drawn[:, None] <= points).mean(0)
    np.testing.assert_allclose(share, known.cdf(points), atol=0.035)
    shape = one.sample().shape
    assert one.sample((2, 3)).shape == (2, 3, *shape) and one("sample", (2,)).shape == (2, *shape)
    for wrong in ([2], 2):
        with pytest.raises(TypeError, match="'shape' must be a tuple"):
            one.sample(wrong)


def test_draws_follow_the_seed():
    numbers = []
    for _ in range(2):
        ms.set_seed(1)
        numbers.append(families.Normal(0.0, 1.0, seed=7).sample((3,)).asnumpy())
    np.testing.assert_array_equal(*numbers)
    assert numbers[0].dtype == np.float32 and families.Bernoulli(0.5).sample((3,)).dtype == ms.int32


@pytest.mark.parametrize("name", CASES)
def test_arguments(name):
    parameters = CASES[name][0]
    family = getattr(families, name)
    count = len(parameters)
    for seed, error in ((-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="seed"):
            family(*parameters, seed=seed)
    for changes, error in (
        ({"name": 3}, TypeError),
        ({"dtype": ms.bool_}, TypeError),
        ({"dtype": "float32"}, TypeError),
    ):
        with pytest.raises(error):
            family(*parameters, **changes)
    for wrong in ("a", True):
        with pytest.raises(TypeError):
            family(*[wrong] * count)
    with pytest.raises(ValueError):
        family(*[-1.0] * count)
    one = family(*parameters)
    with pytest.raises(TypeError, match="'value' must be a Tensor"):
        one.log_prob(1.0)
    with pytest.raises(NotImplementedError, match="must be one of prob, log_prob"):
        one("nothing")
    if name != "Gumbel":
        with pytest.raises(TypeError, match="give it here or when the distribution is made"):
            family().log_prob(Tensor(0.5))
        with pytest.raises(TypeError):
            one.log_prob(Tensor(0.5), *parameters)
        with pytest.raises(TypeError, match="besides"):
            one.log_prob(Tensor(0.5), wrong=Tensor(0.5))
        with pytest.raises(TypeError, match="at most"):
            one.log_prob(Tensor(0.5), *[Tensor(0.5)] * (count + 1))
        if count > 1:
            with pytest.raises(TypeError):
                family(*[Tensor(0.5, t) for t in (ms.float16, ms.float32, ms.float32)[:count]])


def test_what_a_distribution_tells():
    one = families.Normal([1.0, 2.0], 2.0, seed=4)
    assert repr(one) == "Normal(batch_shape = (2,))" and one.batch_shape == one.broadcast_shape == (2,)
    assert (one.name, one.seed, one.dtype, one.is_scalar_batch) == ("Normal", 4, ms.float32, False)
    assert repr(families.Normal(1.5, 2.0)) == "Normal(mean = 1.5, standard deviation = 2.0)"
    assert one.get_dist_type() == "Normal" and [t.shape for t in one.get_dist_args()] == [(2,), ()]
    assert families.Normal().get_dist_args() == (None, None) and families.Normal().batch_shape is None
    assert families.Uniform(0.0, 2.0).high.asnumpy() == 2 and families.Bernoulli(0.25).probs.asnumpy() == 0.25
    assert families.Normal(0.0, 1.0, dtype=ms.float16).log_prob(Tensor(1.0)).dtype == ms.float16
    assert one.mean(sd=Tensor(3.0)).shape == (2,) and one.parameters["param_dict"] == {"mean": [1.0, 2.0], "sd": 2.0}


def test_gradients_and_parameters():
    one = families.Normal(0.0, 1.0)
    x, m = Tensor([1.0, 2.0]), Tensor([0.5, 0.1])
    by_x, by_m = ms.grad(lambda x, m: one.log_prob(x, m, Tensor(2.0)).sum(), (0, 1))(x, m)
    np.testing.assert_allclose(by_x.asnumpy(), [-0.125, -0.475], rtol=1e-6)
    np.testing.assert_allclose(by_m.asnumpy(), [0.125, 0.475], rtol=1e-6)

    class Fit(nn.Cell):
        def __init__(self):
            super().__init__()
            self.family = families.Normal(Parameter(Tensor([0.0]), name="mean"), Parameter(Tensor([1.0]), name="sd"))

        def construct(self, x):
            return -self.family.log_prob(x).mean()

    fit, numbers = Fit(), Tensor(np.random.RandomState(0).normal(2, 0.5, 200).astype(np.float32))
    step = nn.TrainOneStepCell(fit, nn.Adam(fit.trainable_params(), 0.1))
    for _ in range(200):
        step(numbers)
    found = [p.asnumpy().item() for p in fit.trainable_params()]
    np.testing.assert_allclose(found, [numbers.asnumpy().mean(), numbers.asnumpy().std()], rtol=1e-3)


def test_a_distribution_of_ones_own():
    class Triangular(families.Distribution):
        def __init__(self):
            super().__init__(0, ms.float32, "Triangular", {"param_dict": {"a": 1.0}})

        def _prob(self, value):
            return value * 2

        def _sd(self):
            return Tensor(3.0)

        def _survival_function(self, value):
            return value * 0.5

    one, x = Triangular(), Tensor(0.5)
    assert one.log_prob(x).asnumpy() == 0 and one.var().asnumpy() == 9 and one.cdf(x).asnumpy() == 0.75
    assert one.log_survival(x).asnumpy() == pytest.approx(math.log(0.25))
    assert one.log_cdf(x).asnumpy() == pytest.approx(math.log(0.75))
    for question in ("mean", "mode", "entropy", "sample", "get_dist_args", "get_dist_type"):
        with pytest.raises(NotImplementedError, match=f"'{question}' is not defined"):
            getattr(one, question)()
    with pytest.raises(NotImplementedError):
        one.cross_entropy("Triangular")
