"""Optimizers refuse gradients that were not reduced, and watch weights whoever reduces them."""

import copy

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn, ops
from dist_ms.common import once
from dist_ms.communication import create_group, destroy_group
from dist_ms.experimental import optim
from dist_ms.parallel import DesyncError, PlanMismatchError
from dist_ms.parallel.errors import UnreducedGradientError


@pytest.fixture
def several(world):
    """More than one rank, data-parallel."""
    if world.comm.size == 1:
        pytest.skip("one rank has nothing to compare")
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    yield world.comm
    ms.reset_auto_parallel_context()
    ms.reset_ps_context()


def functional(comm, optimizer=lambda p: nn.SGD(p, 0.05), seed=1):
    """A network, an optimizer, and a function that gives the gradients of a batch of this rank's."""
    ms.set_seed(seed)
    net = nn.SequentialCell(nn.Dense(4, 3), nn.Tanh(), nn.Dense(3, 1))
    opt, loss = optimizer(net.trainable_params()), nn.MSELoss()
    gradients = ms.value_and_grad(lambda x, y: loss(net(x), y), None, list(opt.parameters))
    data = np.random.default_rng(comm.rank)

    def batch():
        x = data.standard_normal((8, 4)).astype(np.float32)
        return gradients(Tensor(x), Tensor(x.sum(1, keepdims=True)))[1]

    return net, opt, batch


def same_everywhere(comm, net):
    """Whether all ranks have the same weights."""
    mine = np.concatenate([p.asnumpy().reshape(-1) for p in net.get_parameters()])
    everyone = comm.all_gather(mine)
    return bool((everyone == everyone[0]).all())


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda p: nn.SGD(p, 0.05),
        lambda p: nn.LARS(nn.Momentum(p, 0.05, 0.9)),
        lambda p: optim.AdamW([{"params": list(p)}], lr=0.01),
        lambda p: ms.mint.optim.AdamW(list(p), lr=0.01),
    ],
)
def test_unreduced_gradients_are_refused_at_the_first_step(several, optimizer):
    net, opt, batch = functional(several, optimizer)
    before = [p.asnumpy().copy() for p in net.get_parameters()]
    with pytest.raises(UnreducedGradientError) as caught:
        opt(batch())
    text = str(caught.value)
    assert f"[rank {several.rank} of {several.size}] For '{type(opt).__name__}', the gradient of parameter" in text
    assert "'0.weight'" in text
    assert "nn.DistributedGradReducer(optimizer.parameters)(grads)" in text
    assert "optimizer.local = True" in text
    assert all((p.asnumpy() == b).all() for p, b in zip(net.get_parameters(), before))


def test_a_reducer_that_is_made_but_not_called_does_not_count(several):
    _, opt, batch = functional(several)
    nn.DistributedGradReducer(opt.parameters).start()
    with pytest.raises(UnreducedGradientError):
        opt(batch())


def reducer(net, opt):
    return nn.DistributedGradReducer(opt.parameters)


def all_reduce(net, opt):
    add = ops.AllReduce()
    return lambda grads: tuple(add(g) for g in grads)


def hooks(net, opt):
    add = ops.AllReduce()
    for p in opt.parameters:
        p.register_hook(add)
    return lambda grads: grads


def by_hand(net, opt):
    from dist_ms.communication import get_comm

    return lambda grads: tuple(Tensor(get_comm().all_reduce(g.asnumpy().copy())) for g in grads)


@pytest.mark.parametrize("way", [reducer, all_reduce, hooks, by_hand])
def test_every_way_of_reducing_is_legal_and_watched(several, monkeypatch, way):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "4")
    net, opt, batch = functional(several)
    reduce = way(net, opt)
    for _ in range(6):
        opt(reduce(batch()))
    assert same_everywhere(several, net)
    if several.rank == several.size - 1:
        weight = net[2].weight
        weight.set_data(Tensor(weight.asnumpy() + 1))
    with pytest.raises(DesyncError, match=r"'2\.weight' must be the same on all ranks"):
        for _ in range(5):
            opt(reduce(batch()))


def test_ranks_that_start_with_different_weights_are_told_before_the_first_step(several):
    net, opt, batch = functional(several, seed=1 + several.rank)
    reduce = all_reduce(net, opt)
    with pytest.raises(DesyncError, match="before the first step") as caught:
        opt(reduce(batch()))
    assert "DistributedGradReducer(parameters).start()" in str(caught.value)


def test_accumulation_without_synchronisation_is_legal(several):
    net, opt, batch = functional(several)
    reduce = nn.DistributedGradReducer(opt.parameters)
    for _ in range(3):
        with reduce.no_sync():
            reduce(batch())
        opt(reduce(batch()))
    assert same_everywhere(several, net)


def test_local_training_is_said_in_one_word(several):
    net, opt, batch = functional(several)
    opt.local = True
    for _ in range(3):
        opt(batch())
    assert not same_everywhere(several, net)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), opt)
    assert not step.reducer_flag
    step(Tensor(np.ones((2, 4), np.float32) * several.rank), Tensor(np.ones((2, 1), np.float32)))


def test_layerwise_parameters_are_each_ranks_own(several):
    net, opt, batch = functional(several)
    for p in net.get_parameters():
        p.layerwise_parallel = True
    opt(batch())
    assert not same_everywhere(several, net)


def test_stand_alone_trains_apart(several):
    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    net, opt, batch = functional(several)
    opt(batch())
    assert not same_everywhere(several, net)


@pytest.mark.parametrize("mode", ["semi_auto_parallel", "auto_parallel"])
def test_modes_that_are_not_there_are_refused_in_a_loop_of_ones_own(several, mode):
    ms.set_auto_parallel_context(parallel_mode=mode)
    _, opt, batch = functional(several)
    with pytest.raises(RuntimeError, match="data-parallel only"):
        opt(batch())


def test_other_optimizers_on_other_ranks_are_refused(several):
    net = nn.Dense(2, 2 + several.rank)
    opt = nn.SGD(net.trainable_params(), 0.1)
    with pytest.raises(PlanMismatchError):
        opt(tuple(Tensor(np.ones(p.shape, np.float32)) for p in opt.parameters))


def test_ranks_of_a_group_are_compared_with_each_other_alone(several):
    if several.size < 3:
        pytest.skip("needs a group beside another rank")
    create_group("some", [0, 1])
    try:
        if several.rank < 2:
            net, opt, batch = functional(several)
            reduce = nn.DistributedGradReducer(opt.parameters, group="some")
            for _ in range(3):
                opt(reduce(batch()))
        else:
            net, opt, batch = functional(several)
            opt.local = True
            opt(batch())
        several.barrier()
        first = several.all_gather(net[0].weight.asnumpy())
        assert (first[0] == first[1]).all()
        assert (first[0] != first[2]).any()
    finally:
        destroy_group("some")


def test_a_nan_is_no_difference(several):
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    opt = nn.SGD([w], 0.1)
    bits = np.array([0x7FC00000 + several.rank, 0x3F800000], np.uint32)
    opt((Tensor(bits.view(np.float32)),))
    assert np.isnan(w.asnumpy()[0])


def test_rows_that_were_not_gathered_are_refused(several):
    table = Parameter(Tensor(np.zeros((8, 2), np.float32)), name="table")
    opt = nn.SGD([table], 0.1)
    rows = ms.RowTensor(Tensor([several.rank], ms.int32), Tensor(np.ones((1, 2), np.float32)), (8, 2))
    with pytest.raises(UnreducedGradientError, match="'table'"):
        opt((rows,))


def test_a_copied_optimizer_is_checked_anew(several):
    _, opt, batch = functional(several)
    reduce = nn.DistributedGradReducer(opt.parameters)
    opt(reduce(batch()))
    twin = copy.deepcopy(opt)
    with pytest.raises(UnreducedGradientError):
        twin(batch())


def test_servers_that_were_not_started_mean_plain_data_parallel_training(several, caplog, monkeypatch):
    monkeypatch.setattr(once, "_told", set())
    ms.reset_auto_parallel_context()
    ms.set_ps_context(enable_ps=True)
    ms.set_seed(1)
    net = nn.Dense(3, 1)
    net.set_param_ps()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    data = np.random.default_rng(several.rank)
    for _ in range(3):
        step(Tensor(data.standard_normal((4, 3)).astype(np.float32)), Tensor(np.ones((4, 1), np.float32)))
    assert same_everywhere(several, net)
    said = [r.message for r in caplog.records if "has no parameter servers" in r.message]
    assert len(said) == (several.rank == 0)
    assert all("averaged over the ranks" in text for text in said)
