"""A weight that is no longer the same on all ranks is found in time, and named on every rank."""

import re

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.communication import get_group_size, get_rank
from dist_ms.parallel import DesyncError, make_plan
from dist_ms.parallel.plan import Sharding
from dist_ms.parallel.replicas import last_look
from dist_ms.parallel.replicas.desync import DesyncDetector


class Net(nn.Cell):
    """Weights of several kinds: replicated, each rank's own, and statistics that no gradient changes."""

    def __init__(self):
        super().__init__()
        self.fc1, self.norm, self.fc2 = nn.Dense(5, 37), nn.BatchNorm1d(37), nn.Dense(37, 3)
        self.own = Parameter(Tensor([1.0 + get_rank()]), name="own", layerwise_parallel=True)

    def construct(self, x):
        return self.fc2(self.norm(self.fc1(x))) * self.own


@pytest.fixture
def several(world):
    """More than one rank, data-parallel."""
    if world.comm.size == 1:
        pytest.skip("one rank has nothing to compare")
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    yield world.comm
    ms.reset_auto_parallel_context()
    last_look.forget()  # what parted on purpose


def train(optimizer=lambda p: nn.Momentum(p, 0.01, 0.9)):
    """A step on random data that differs between ranks, and its network."""
    ms.set_seed(1 + get_rank())
    net = Net().set_train()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer(net.trainable_params()))
    data = np.random.default_rng(get_rank())

    def once():
        step(Tensor(data.standard_normal((6, 5)).astype(np.float32)), Tensor(np.ones((6, 3), np.float32)))

    return net, once


def flip(parameter, element, bit):
    """Change one bit of a weight."""
    values = parameter.asnumpy().copy()
    values.reshape(-1).view(np.uint32)[element] ^= np.uint32(1 << bit)
    parameter.set_data(Tensor(values))


def steps_until_error(once, most):
    """How many steps go well, and the error after them."""
    for done in range(most):
        try:
            once()
        except DesyncError as error:
            return done, str(error)
    return most, None


@pytest.mark.parametrize("steps", [1, 2, 10])
@pytest.mark.parametrize("before", [0, 3, 7])
def test_one_bit_on_one_rank_is_found(several, monkeypatch, steps, before):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", str(steps))
    net, once = train()
    assert steps_until_error(once, before + 1) == (before + 1, None)
    culprit = several.size - 1
    if several.rank == culprit:
        flip(net.fc1.weight, 100, 22)
    done, text = steps_until_error(once, steps)
    assert text is not None
    assert done < steps
    assert f"[rank {several.rank} of {several.size}] Parameter 'fc1.weight' must" in text
    assert f"at step {before + 2 + done} it is not" in text
    assert re.search(rf"  rank {culprit}: \d+ of 185 elements differ, the first at \[\d+, \d\]: ", text)
    others = "rank 0" if several.size == 2 else "ranks " + ", ".join(map(str, range(culprit)))
    assert f"\n  {others}\n" in text
    assert len(set(several.gather_objects(text.split("]", 1)[1]))) == 1


def test_every_weight_is_looked_at(several, monkeypatch):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "4")
    for name in ("fc1.bias", "fc2.weight", "norm.gamma", "norm.beta", "fc2.bias"):
        net, once = train(lambda p: nn.SGD(p, 0.0))
        parameter = {p.name: p for p in net.get_parameters()}[name]
        once()
        if several.rank == 0:
            flip(parameter, parameter.size - 1, 0)
        assert f"'{name}'" in (steps_until_error(once, 4)[1] or "")


def test_equal_weights_and_own_ones_raise_nothing(several, monkeypatch):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "2")
    net, once = train(lambda p: nn.Adam(p, 1e-3))
    assert steps_until_error(once, 12) == (12, None)
    means = several.gather_objects(net.norm.moving_mean.asnumpy().tolist())
    assert means[0] != means[1]
    owns = several.gather_objects(float(net.own.asnumpy()[0]))
    assert len(set(owns)) == several.size


def found_at_once(comm, parameter, once):
    """Whether a bit of a weight that is other on the last rank is found by the next step, which names the weight."""
    for _ in range(3):
        once()
    if comm.rank == comm.size - 1:
        flip(parameter, parameter.size - 1, 22)
    done, text = steps_until_error(once, 1)
    wanted = f"Parameter '{parameter.name}' must be the same", f"rank {comm.size - 1}: 1 of"
    return done == 0 and all(words in text for words in wanted)


@pytest.fixture
def parallel_optimizer(several):
    """Every weight, however small, is updated in slices."""
    ms.set_auto_parallel_context(enable_parallel_optimizer=True)
    ms.set_auto_parallel_context(parallel_optimizer_config={"parallel_optimizer_threshold": 0})


@pytest.mark.parametrize("name", ["fc1.weight", "fc2.bias"])
def test_the_parallel_optimizer_is_watched_too(several, parallel_optimizer, monkeypatch, name):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "1")
    net, once = train(lambda p: nn.Adam(p, 1e-3))
    assert found_at_once(several, {p.name: p for p in net.get_parameters()}[name], once)


def test_equal_weights_of_the_parallel_optimizer_raise_nothing(several, parallel_optimizer, monkeypatch):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "6")
    _, once = train(lambda p: nn.Adam(p, 1e-3))
    assert steps_until_error(once, 12) == (12, None)


def test_a_table_trained_by_rows_is_watched_too(several, monkeypatch):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "1")
    ms.set_seed(1)
    net = nn.EmbeddingLookup(200, 8, sparse=True)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.LazyAdam(net.trainable_params(), 0.01))
    ids = Tensor(np.array([several.rank, 7], np.int32))
    assert found_at_once(several, net.embedding_table, lambda: step(ids, Tensor(np.ones((2, 8), np.float32))))
    assert step.grad_reducer.plan.rows[0].gradient == "all_gather"


@pytest.mark.parametrize("kind", ["all_reduce", "reduce_scatter", "all_gather"])
def test_every_kind_of_gradient_that_ranks_share_is_watched(several, kind):
    weight = Parameter(Tensor(np.arange(64, dtype=np.float32) + get_rank()), name="w")
    sharding = Sharding(shards=several.size if kind == "reduce_scatter" else 1)
    plan = make_plan([weight], sharding=sharding, sparse=["w"] if kind == "all_gather" else ())
    assert plan.rows[0].gradient == kind
    with pytest.raises(DesyncError, match="Parameter 'w' must be the same on all ranks"):
        DesyncDetector(plan, [weight], several, steps=1).step()


@pytest.mark.parametrize("how", ["layerwise_parallel", "requires_grad", "sliced"])
def test_what_a_rank_has_of_its_own_is_not_watched(several, how):
    weight = Parameter(Tensor(np.arange(64, dtype=np.float32) + get_rank()), name="w")
    setattr(weight, how, how != "requires_grad")
    DesyncDetector(make_plan([weight]), [weight], several, steps=1).step()


def test_another_layout_is_no_difference(several, monkeypatch):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "1")
    w = Parameter(Tensor(np.arange(12, dtype=np.float32).reshape(3, 4)), name="w")
    net = nn.Cell()
    net.w = w
    net.construct = lambda x: (net.w * x).sum()
    step = nn.TrainOneStepCell(net, nn.SGD([w], 0.0))
    step(Tensor([1.0]))
    if several.rank == 0:
        w._data = np.asfortranarray(w._data)
    step(Tensor([1.0]))


def test_it_can_be_switched_off(several, monkeypatch):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "0")
    net, once = train()
    once()
    net.fc1.weight.set_data(Tensor(net.fc1.weight.asnumpy() + several.rank))
    assert steps_until_error(once, 4) == (4, None)


def test_ranks_must_compare_equally_often(several, monkeypatch):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", str(5 + several.rank))
    _, once = train()
    with pytest.raises(ValueError, match=r"DIST_MS_DESYNC_STEPS must be the same on all ranks.*rank 1: 6"):
        once()


def test_a_reducer_by_hand_outside_of_data_parallel_training_is_not_watched(several, monkeypatch):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "1")
    ms.reset_auto_parallel_context()
    w = Parameter(Tensor([1.0 + get_rank()]), name="w")
    reducer = nn.DistributedGradReducer([w], mean=True)
    for _ in range(3):
        assert reducer((Tensor([1.0]),))[0].asnumpy() == 1.0
    assert get_group_size() == several.size
