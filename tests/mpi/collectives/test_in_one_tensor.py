"""Collectives whose parts are one tensor, and second-order steps, on several ranks."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, mint, nn, ops
from dist_ms.parallel import AutoParallel

F = np.float32
GROUP = "mccl_world_group"


@pytest.fixture
def place():
    mint.distributed.init_process_group()
    ms.reset_auto_parallel_context()
    yield ms.communication.get_rank(), ms.communication.get_group_size()
    ms.reset_auto_parallel_context()


def test_collectives(place):
    rank, size = place
    out, last = Tensor(np.zeros((2 * size, 3), F)), size - 1
    ops.gather_into_tensor(out, Tensor(np.full((2, 3), rank + 1, F)), dst=last)
    wanted = np.repeat(np.arange(1, size + 1), 2) if rank == last else np.zeros(2 * size)
    assert out.asnumpy()[:, 0].tolist() == wanted.tolist()
    out, whole = Tensor(np.zeros((2, 2), F)), np.arange(4 * size, dtype=F).reshape(-1, 2)
    ops.scatter_tensor(out, Tensor(whole), src=last)
    assert np.array_equal(out.asnumpy(), whole[2 * rank : 2 * rank + 2])
    counts = np.arange(size * size).reshape(size, size) % 3
    starts = np.concatenate([[0], counts[rank].cumsum()])
    sent = np.concatenate([np.full(n, 10 * rank + r, F) for r, n in enumerate(counts[rank])])
    out = Tensor(np.zeros(counts[:, rank].sum(), F))
    ops.all_to_all_v_c(out, Tensor(sent), counts.ravel().tolist())
    assert len(sent) == starts[-1]
    assert out.asnumpy().tolist() == [10 * r + rank for r in range(size) for _ in range(counts[r, rank])]


def test_products(place):
    rank, size = place
    product, rows = ops.all_gather_matmul(Tensor(np.full((1, 2), rank, F)), Tensor(np.ones((2, 3), F)), GROUP, size)
    assert rows.shape == (size, 2) and product.asnumpy()[:, 0].tolist() == [2 * r for r in range(size)]
    x, w = Tensor(np.ones((2 * size, 2), F)), Tensor(np.full((2, 3), rank + 1, F))
    found = ops.matmul_reduce_scatter(x, w, GROUP, size).asnumpy()
    assert np.array_equal(found, np.full((2, 3), size * (size + 1)))


def test_networks_are_not_cut(place):
    _, size = place
    net = AutoParallel(nn.ReLU())
    if size > 1:
        with pytest.raises(NotImplementedError, match=f"must have one rank, but got {size}"):
            net(Tensor([1.0]))


def test_thor_trains_one_network(place):
    rank, size = place
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(1)
    net = nn.DenseThor(3, 2)
    optimizer = nn.thor(net, Tensor([0.1] * 4), Tensor([0.1] * 4), 0.9, batch_size=4, frequency=2)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    numbers = np.random.default_rng(rank)
    x, y = (Tensor(numbers.normal(size=(4, n)).astype(F)) for n in (3, 2))
    for _ in range(4):
        step(x, y)
    everybody = Tensor(np.zeros((2 * size, 3), F))
    mint.distributed.all_gather_into_tensor(everybody, Tensor(net.weight.asnumpy().copy()))
    assert np.array_equal(everybody.asnumpy(), np.tile(net.weight.asnumpy(), (size, 1)))
