"""Linear."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.nn.layer.extended.linear import Linear

F = np.float32


def rand(*shape):
    return Tensor(np.random.RandomState(sum(shape)).randn(*shape).astype(F))


def test_linear():
    net, x = Linear(3, 4), rand(2, 5, 3)
    assert [(p.name, p.shape) for p in net.get_parameters()] == [("weight", (4, 3)), ("bias", (4,))]
    wanted = x.asnumpy() @ net.weight.asnumpy().T + net.bias.asnumpy()
    np.testing.assert_allclose(net(x).asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    large = Linear(100, 50)
    for p in large.get_parameters():
        assert np.abs(p.asnumpy()).max() <= 0.1 and np.abs(p.asnumpy()).max() > 0.08
    assert repr(net) == "Linear(input_features=3, output_features=4, has_bias=True)"
    assert repr(Linear(3, 4, False)) == "Linear(input_features=3, output_features=4)"
    assert Linear(3, 4, dtype=ms.float16).weight.dtype == ms.float16
    assert (Linear(3, 4, weight_init=rand(4, 3)).weight == rand(4, 3)).all()


def test_linear_errors():
    for error, options in [
        (ValueError, {"in_features": 0}),
        (TypeError, {"out_features": 1.5}),
        (TypeError, {"bias": 1}),
        (ValueError, {"weight_init": rand(3, 3)}),
        (ValueError, {"bias_init": rand(3)}),
    ]:
        with pytest.raises(error, match=next(iter(options))):
            Linear(**{"in_features": 3, "out_features": 4, **options})
