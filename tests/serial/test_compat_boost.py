"""mindspore.boost and the collectives under mindspore.ops."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.compat import boost
from dist_ms.compat.collectives import AllReduce, ReduceOp


def test_gradients_of_several_steps_make_one_update():
    net = ms.nn.Dense(1, 1, weight_init="ones", has_bias=False)
    step = boost.GradientAccumulation(2, ms.nn.SGD(net.trainable_params(), 1.0))
    seen = []
    for grad in (1.0, 2.0, 4.0, 6.0):
        loss = step(ms.Tensor(0.5), (ms.Tensor([[grad]]),))
        seen.append(float(net.weight.asnumpy()[0, 0]))
    assert float(loss) == 0.5
    np.testing.assert_allclose(seen, [1.0, -0.5, -0.5, -5.5])


def test_other_modes_are_refused_when_used():
    with pytest.raises(NotImplementedError, match="'LessBN' is not available"):
        boost.LessBN(None)
    with pytest.raises(AttributeError):
        _ = boost.nothing


def test_all_reduce_alone_is_the_value_and_its_gradient():
    ms.communication.init()
    x = ms.Tensor([1.0, 2.0])
    np.testing.assert_array_equal(AllReduce(ReduceOp.MAX)(x).asnumpy(), [1, 2])
    grad = ms.grad(lambda a: (AllReduce()(a) * a).sum())(x)
    np.testing.assert_array_equal(grad.asnumpy(), [2, 4])
    with pytest.raises(ValueError, match="'op' must be one of"):
        AllReduce("mean")
