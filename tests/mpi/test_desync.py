"""A weight that is no longer the same on all ranks is found in time, and named on every rank."""

import re

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.communication import get_group_size, get_rank
from dist_ms.parallel import DesyncError


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


def test_the_parallel_optimizer_is_watched_too(several, monkeypatch):
    monkeypatch.setenv("DIST_MS_DESYNC_STEPS", "6")
    ms.set_auto_parallel_context(enable_parallel_optimizer=True)
    ms.set_auto_parallel_context(parallel_optimizer_config={"parallel_optimizer_threshold": 0})
    _, once = train(lambda p: nn.Adam(p, 1e-3))
    assert steps_until_error(once, 12) == (12, None)


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
