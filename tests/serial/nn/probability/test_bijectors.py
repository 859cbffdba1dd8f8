"""Bijectors: there and back, slopes by differences, and distributions of what they make."""

import numpy as np
import pytest
from scipy import stats

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.nn.probability import bijector as maps
from dist_ms.nn.probability import distribution as families

MADE = {
    "Exp": maps.Exp,
    "PowerTransform": lambda: maps.PowerTransform([0.0, 0.5, 2.0]),
    "ScalarAffine": lambda: maps.ScalarAffine([-2.0, 1.0, 3.0], 0.5),
    "Softplus": lambda: maps.Softplus(2.0),
    "GumbelCDF": lambda: maps.GumbelCDF(1.0, 2.0),
    "Invert": lambda: maps.Invert(maps.Softplus(0.5)),
}
X = np.array([[0.3, 1.2, 2.5], [0.05, 0.4, 0.75]])


@pytest.mark.parametrize("name", MADE)
def test_there_and_back(name):
    one, x, small = MADE[name](), Tensor(X), 1e-6
    y = one.forward(x)
    assert y.dtype == ms.float64 and one("forward", x).asnumpy().tolist() == y.asnumpy().tolist()
    np.testing.assert_allclose(one.inverse(y).asnumpy(), X, rtol=1e-9)
    slope = (one.forward(Tensor(X + small)) - one.forward(Tensor(X - small))).asnumpy() / (2 * small)
    there = np.broadcast_to(one.forward_log_jacobian(x).asnumpy(), X.shape)
    np.testing.assert_allclose(there, np.log(np.abs(slope)), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        np.broadcast_to(one.inverse_log_jacobian(y).asnumpy(), X.shape), -there, rtol=1e-6, atol=1e-9
    )
    assert one.forward(x.astype(ms.float16)).dtype == ms.float16
    for wrong in (1.0, Tensor([1, 2, 3], ms.int32)):
        with pytest.raises(TypeError, match="'value' must be a Tensor"):
            one.forward(wrong)
    with pytest.raises(ValueError, match="must be one of forward"):
        one("nothing", x)


def test_what_a_bijector_tells():
    assert (
        repr(maps.ScalarAffine(2.0, 1.0)) == "ScalarAffine(scale = 2.0, shift = 1.0)" and repr(maps.Exp()) == "Exp(exp)"
    )
    one = maps.Invert(maps.GumbelCDF([1.0, 2.0], 2.0))
    assert (one.name, one.batch_shape, one.is_scalar_batch) == ("InvertGumbelCDF", (2,), False)
    assert one.is_injective and not one.is_constant_jacobian and maps.ScalarAffine().is_constant_jacobian
    assert one.bijector.scale.asnumpy() == 2 and maps.PowerTransform(2.0).power.asnumpy() == 2 and one.dtype is None


def test_wrong_arguments():
    for wrong in (lambda: maps.PowerTransform(-1.0), lambda: maps.GumbelCDF(1.0, -2.0)):
        with pytest.raises(ValueError, match="must be"):
            wrong()
    for wrong in (lambda: maps.PowerTransform("a"), lambda: maps.Exp(name=3), lambda: maps.Invert(3), maps.Bijector):
        with pytest.raises(TypeError, match="must be"):
            wrong()


def test_transformed():
    normal = families.Normal(0.5, 1.5, seed=3)
    one, known = families.TransformedDistribution(maps.Exp(), normal, seed=5), stats.lognorm(1.5, scale=np.exp(0.5))
    y = X.astype(np.float32)
    for question, name in (("prob", "pdf"), ("log_prob", "logpdf"), ("cdf", "cdf"), ("log_cdf", "logcdf"),
                           ("survival_function", "sf"), ("log_survival", "logsf")):  # fmt: skip
        np.testing.assert_allclose(getattr(one, question)(Tensor(y)).asnumpy(), getattr(known, name)(y), rtol=2e-5)
    drawn = []
    for source in (one, normal):
        ms.set_seed(1)
        drawn.append(source.sample((5,)).asnumpy())
    np.testing.assert_allclose(drawn[0], np.exp(drawn[1]), rtol=1e-6)
    assert one.seed == 5 and one.broadcast_shape == () and not one.is_linear_transformation and one.is_scalar_batch
    other = stats.lognorm(1.2, scale=np.exp(0.3)).cdf(y)
    np.testing.assert_allclose(one.cdf(Tensor(y), Tensor(0.3), Tensor(1.2)).asnumpy(), other, rtol=1e-5)
    with pytest.raises(ValueError, match="not linear"):
        one.mean()
    linear = families.TransformedDistribution(maps.ScalarAffine([1.0, 2.0], 0.5), normal)
    assert linear.mean().asnumpy().tolist() == [1.0, 1.5] and linear.broadcast_shape == (2,)
    with pytest.raises(NotImplementedError):
        linear.entropy()
    for wrong in ((3, normal), (maps.Exp(), 3)):
        with pytest.raises(TypeError):
            families.TransformedDistribution(*wrong)
