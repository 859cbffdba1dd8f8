"""DistributedDataParallel on several ranks: the gradients of the whole batch, and equal weights."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import get_comm, init
from dist_ms.nn.wrap.distributed_data_parallel import DistributedDataParallel

pytestmark = pytest.mark.mpi


def network(seed):
    ms.set_seed(seed)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2))
    net.update_parameters_name()
    return net


def batch(rank):
    return ms.Tensor(np.random.RandomState(rank).randn(4, 3).astype(np.float32))


@pytest.mark.parametrize("settings", [{}, {"average_in_collective": True, "bucket_cap_mb": 1e-5}], ids=["one", "many"])
def test_gradients_are_the_mean_over_ranks(settings):
    init()
    comm = get_comm()
    net = DistributedDataParallel(network(comm.rank), **settings)
    alone = network(0)
    for p, q in zip(net.trainable_params(), alone.trainable_params()):
        np.testing.assert_array_equal(p.asnumpy(), q.asnumpy())
    step = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())
    whole = ms.Tensor(np.concatenate([batch(r).asnumpy() for r in range(comm.size)]))
    single = ms.grad(lambda x: (alone(x) ** 2).mean(), None, alone.trainable_params())
    opts = [nn.SGD(n.trainable_params(), 0.1) for n in (net, alone)]
    for _ in range(3):
        _, grads = step(batch(comm.rank))
        wanted = single(whole)
        for g, w in zip(grads, wanted):
            np.testing.assert_allclose(g.asnumpy(), w.asnumpy(), rtol=1e-5, atol=1e-6)
        opts[0](grads)
        opts[1](wanted)
        net.zero_grad()
    flat = np.concatenate([p.asnumpy().ravel() for p in net.trainable_params()])
    assert len({row.tobytes() for row in comm.all_gather(flat)}) == 1


def test_sums_without_communication():
    init()
    comm = get_comm()
    net = DistributedDataParallel(network(0))
    step = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())
    with net.no_sync():
        own = [g.asnumpy().copy() for g in step(batch(comm.rank))[1]]
    rows = comm.all_gather(own[0])
    assert comm.size == 1 or not np.array_equal(rows[0], rows[-1])
    total = step(batch(comm.rank))[1]
    np.testing.assert_allclose(total[0].asnumpy(), 2 * rows.mean(axis=0), rtol=1e-5, atol=1e-6)
