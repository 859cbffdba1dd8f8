"""The categorical distribution: values found with MindSpore 2.10."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.nn.probability.distribution import Categorical

ROWS = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]


def test_classes():
    one = Categorical(ROWS)
    np.testing.assert_allclose(one.prob(Tensor([1.0, 1.0])).asnumpy(), [0.3, 0.1], rtol=1e-5)
    np.testing.assert_allclose(one.log_prob(Tensor(2, ms.int32)).asnumpy(), np.log([0.5, 0.8]), rtol=1e-5)
    np.testing.assert_allclose(one.prob(Tensor([[0.0, 1], [2, 0]])).asnumpy(), [[0.2, 0.1], [0.5, 0.1]], rtol=1e-5)
    np.testing.assert_allclose(one.prob(Tensor([0.5, 3.0])).asnumpy(), [0.2, np.nan], rtol=1e-5)
    assert np.isnan(one.prob(Tensor([-1.0, 5.0])).asnumpy()).all()
    np.testing.assert_allclose(one.cdf(Tensor([1.0, 0.0])).asnumpy(), [0.5, 0.1], rtol=1e-6)
    np.testing.assert_allclose(one.cdf(Tensor([-1.0, 2.0])).asnumpy(), [0, 1])
    np.testing.assert_allclose(Categorical().log_survival(Tensor(2.0), Tensor(ROWS)).asnumpy(), [-np.inf] * 2)


def test_moments():
    one, other = Categorical(ROWS), Tensor([0.5, 0.4, 0.1])
    np.testing.assert_allclose(one.mean().asnumpy(), [[1.3], [1.7]], rtol=1e-6)
    np.testing.assert_allclose(one.var().asnumpy(), [[0.61], [0.41]], rtol=1e-6)
    assert one.mode().asnumpy().tolist() == [2, 2] and one.mode().dtype == ms.int32
    np.testing.assert_allclose(one.entropy().asnumpy(), [1.0296527, 0.6390318], rtol=1e-6)
    np.testing.assert_allclose(one.kl_loss("Categorical", other).asnumpy(), [0.5351563, 1.3639758], rtol=1e-5)
    np.testing.assert_allclose(one.cross_entropy("Categorical", other).asnumpy(), [1.5648091, 2.0030074], rtol=1e-5)
    assert repr(one) == "Categorical(batch_shape = (2,))"


def test_draws():
    one = Categorical(ROWS, seed=3)
    drawn = one.sample((3000,)).asnumpy()
    assert drawn.shape == (3000, 2) and drawn.dtype == np.int32
    np.testing.assert_allclose([np.bincount(column) / 3000 for column in drawn.T], ROWS, atol=0.04)
    assert (
        one.sample().shape == (2,)
        and one.sample((2, 3)).shape == (2, 3, 2)
        and Categorical([0.5, 0.5]).sample().shape == ()
    )


@pytest.mark.parametrize("probs", [0.5, [0.5, 0.6], [1.0, 0.0], [0.5, -0.5], [1.0]])
def test_what_is_no_distribution(probs):
    with pytest.raises(ValueError, match="For 'Categorical', 'probs' must be"):
        Categorical(probs)
