"""The gradients of several steps make one update."""

import numpy as np

import dist_ms as ms
from dist_ms import boost


def test_gradients_of_several_steps_make_one_update():
    net = ms.nn.Dense(1, 1, weight_init="ones", has_bias=False)
    step = boost.GradientAccumulation(2, ms.nn.SGD(net.trainable_params(), 1.0))
    seen = []
    for grad in (1.0, 2.0, 4.0, 6.0):
        loss = step(ms.Tensor(0.5), (ms.Tensor([[grad]]),))
        seen.append(float(net.weight.asnumpy()[0, 0]))
    assert float(loss) == 0.5
    np.testing.assert_allclose(seen, [1.0, -0.5, -0.5, -5.5])
