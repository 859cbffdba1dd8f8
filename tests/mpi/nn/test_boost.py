"""Boost on several ranks: adaptive sums of groups, frozen layers, few dimensions."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import boost, nn
from dist_ms.communication import get_comm, get_group_size, get_rank, init
from dist_ms.nn.optim.wrapping.adaptive_sum import adaptive_sum

pytestmark = pytest.mark.mpi


@pytest.fixture(autouse=True)
def together():
    init()
    boost.AutoBoost.forget()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    yield
    ms.reset_auto_parallel_context()
    boost.AutoBoost.forget()


def network():
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2))
    net.update_parameters_name()
    return net


def batch(rank):
    draw = np.random.RandomState(10 + rank).randn
    return ms.Tensor(draw(4, 3).astype(np.float32)), ms.Tensor(draw(4, 2).astype(np.float32))


def joined(a, b):
    """What two vectors add up to, written down once more."""
    dot = (a * b).sum()
    return (1 - dot / (2 * (a * a).sum())) * a + (1 - dot / (2 * (b * b).sum())) * b


def groups():
    """How many groups of one rank there can be: a power of two."""
    size = get_group_size()
    if size & (size - 1):
        pytest.skip("the ranks are no power of two")
    return size


def numbers(net):
    return np.concatenate([p.asnumpy().ravel() for p in net.trainable_params()])


def test_vectors_add_up_as_far_as_they_differ():
    size, comm = groups(), get_comm()
    vectors = [np.random.RandomState(r).randn(3, 2) for r in range(size)]
    found, single = adaptive_sum([vectors[comm.rank], np.array([float(comm.rank)])], comm, comm.rank, 1, size)
    while len(vectors) > 1:
        vectors = [joined(a, b) for a, b in zip(vectors[::2], vectors[1::2])]
    np.testing.assert_allclose(found, vectors[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(single, [(size - 1) / 2])
    assert len({row.tobytes() for row in comm.all_gather(found)}) == 1


def test_weights_of_groups_add_up():
    size = groups()
    boost.AutoBoost("O2", {"boost": {"mode": "manual", "less_bn": False, "grad_freeze": False}, "common": ALONE})
    net = network()
    if get_rank():
        net[0].weight.set_data(net[0].weight * 2)  # the groups are to start equal
    loss = nn.WithLossCell(net, nn.MSELoss())
    opt = nn.SGD(net.trainable_params(), 0.1)
    opt.adasum = True
    step = boost.BoostTrainOneStepCell(loss, opt)
    assert step.enable_adasum == (size > 1)
    if size == 1:
        return
    before = [p.asnumpy().copy() for p in network().trainable_params()]
    step(*batch(get_rank()))
    alone = network()
    grad = ms.grad(nn.WithLossCell(alone, nn.MSELoss()), None, alone.trainable_params())
    changes = [[0.1 * g.asnumpy().astype(np.float64) for g in grad(*batch(r))] for r in range(size)]
    for place, (p, old) in enumerate(zip(net.trainable_params(), before)):
        vectors = [c[place] for c in changes]
        while len(vectors) > 1:
            vectors = [joined(a, b) for a, b in zip(vectors[::2], vectors[1::2])]
        np.testing.assert_allclose(p.asnumpy(), old - vectors[0], rtol=1e-4, atol=1e-6)


ALONE = {"device_number": 1}


@pytest.mark.parametrize("kind", [nn.AdaSumByGradWrapCell, nn.AdaSumByDeltaWeightWrapCell])
def test_wrapped_optimizers(kind, monkeypatch):
    if groups() == 1:
        pytest.skip("there is one rank")
    net = network()
    with pytest.raises(RuntimeError, match="a power of 2 and at least 16"):
        kind(nn.SGD(net.trainable_params(), 0.5))
    monkeypatch.setattr(kind, "device_number", 1)
    wrapped = kind(nn.SGD(net.trainable_params(), 0.5))
    before, comm = [p.asnumpy().copy() for p in net.trainable_params()], get_comm()
    grads = [[np.random.RandomState(r).randn(*p.shape) for p in net.trainable_params()] for r in range(comm.size)]
    wrapped(tuple(ms.Tensor(g.astype(np.float32)) for g in grads[comm.rank]))
    for place, (p, old) in enumerate(zip(net.trainable_params(), before)):
        vectors = [g[place] for g in grads]
        while len(vectors) > 1:
            vectors = [joined(a, b) for a, b in zip(vectors[::2], vectors[1::2])]
        np.testing.assert_allclose(p.asnumpy(), old - 0.5 * vectors[0], rtol=1e-4, atol=1e-5)


def test_frozen_layers_train_on_the_mean_of_all_ranks():
    size = get_group_size()
    nets = [network(), network()]
    weights = [net.trainable_params() for net in nets]
    step = boost.BoostTrainOneStepCell(
        nn.WithLossCell(nets[0], nn.MSELoss()),
        boost.FreezeOpt(nn.SGD(weights[0], 0.1), [weights[0], weights[0][2:]], [1, 0]),
    )
    for _ in range(2):
        step(*batch(get_rank()))
    x, y = (ms.Tensor(np.concatenate(parts)) for parts in zip(*[[t.asnumpy() for t in batch(r)] for r in range(size)]))
    for part in (weights[1][2:], weights[1]):
        for p, g in zip(part, ms.grad(nn.WithLossCell(nets[1], nn.MSELoss()), None, part)(x, y)):
            p.set_data(p - 0.1 * g)
    np.testing.assert_allclose(numbers(nets[0]), numbers(nets[1]), rtol=1e-4, atol=1e-6)


def test_few_dimensions_are_shared_among_the_ranks(tmp_path):
    comm = get_comm()
    folder = comm.gather_objects(str(tmp_path))[0]
    net = network()
    size = numbers(net).size
    components = np.linalg.qr(np.random.RandomState(3).randn(size, 3))[0].T
    if comm.rank == 0:
        np.save(f"{folder}/c.npy", components)
    comm.barrier()
    config = {"n_components": 3, "pca_mat_path": f"{folder}/c.npy", "timeout": 60, "alpha": 0.01}
    boosted = boost.AutoBoost("O0", {"boost": {"mode": "manual", "dim_reduce": True}, "dim_reduce": config})
    _, opt = boosted.network_auto_process_train(net, None)
    step = boost.BoostTrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), opt)
    assert len(np.load(boosted.local_pca_mat_path)) == -(-3 // comm.size)
    before, alone = numbers(net), network()
    grad = ms.grad(nn.WithLossCell(alone, nn.MSELoss()), None, alone.trainable_params())
    grads = [np.concatenate([g.asnumpy().ravel() for g in grad(*batch(r))]) for r in range(comm.size)]
    step(*batch(comm.rank))
    g = np.mean(grads, axis=0)
    inside = components.T @ (components @ g)
    wanted = [before - rho * inside - 0.01 * (g - inside) for rho in (1.0, 0.55, 0.0)]
    assert min(np.abs(numbers(net) - w).max() for w in wanted) < 1e-5
    assert len({row.tobytes() for row in comm.all_gather(numbers(net))}) == 1
