"""Means of weights, and the search for a learning rate, over real ranks."""

import numpy as np

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import ExponentialMovingAverage, Model, find_learning_rate


def made():
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(2, 6), nn.Tanh(), nn.Dense(6, 1))
    return net, Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))


def rows(comm, count=6):
    """This rank's part of whole batches, and those."""
    random = np.random.RandomState(0)
    whole = [(random.rand(12, 2).astype(np.float32), random.rand(12, 1).astype(np.float32)) for _ in range(count)]
    return [tuple(np.ascontiguousarray(a[comm.rank :: comm.size]) for a in batch) for batch in whole], whole


def test_the_mean_is_one_process_s(data_parallel):
    comm = data_parallel
    part, whole = rows(comm)
    mean, alone = ExponentialMovingAverage(0.9), ExponentialMovingAverage(0.9)
    made()[1].train(3, part, callbacks=mean)
    ms.reset_auto_parallel_context()
    made()[1].train(3, whole, callbacks=alone)
    for name, wanted in alone.means.items():
        np.testing.assert_allclose(mean.means[name], wanted, rtol=1e-5, atol=1e-6)
        assert all((other == mean.means[name]).all() for other in comm.gather_objects(mean.means[name]))


def test_one_learning_rate_for_all_ranks(data_parallel):
    comm = data_parallel
    net, model = made()
    before = net[0].weight.asnumpy().copy()
    found = find_learning_rate(model, rows(comm)[0], 1e-5, 100.0, 60)
    np.testing.assert_array_equal(net[0].weight.asnumpy(), before)
    assert len({(f.suggestion, len(f.rates), tuple(f.losses)) for f in comm.gather_objects(found)}) == 1
