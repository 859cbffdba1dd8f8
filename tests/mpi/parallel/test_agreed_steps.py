"""What all ranks decide together in a step: the non-finite guard, the loss scale, and clipping by the global norm."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.communication import get_group_size, get_rank


@pytest.fixture(autouse=True)
def several(world):
    """Data-parallel training."""
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(4)
    yield world.comm
    ms.reset_auto_parallel_context()


class Net(nn.Cell):
    """A dense layer, and a weight of each rank's own."""

    def __init__(self, own=False):
        super().__init__()
        self.fc = nn.Dense(4, 16, weight_init="ones")
        self.own = Parameter(Tensor([1.0]), name="own", layerwise_parallel=own)

    def construct(self, x, y):
        return (self.fc(x) ** 2).mean() + (self.own * y).sum()


def batch(bad=False, own_bad=False):
    """A batch of this rank, with a NaN or an infinity where asked for."""
    x, y = np.ones((2, 4), np.float32), np.ones(1, np.float32)
    if bad:
        x[1, 2] = np.nan
    if own_bad:
        y[0] = np.inf
    return Tensor(x), Tensor(y)


def same(comm, net):
    """Whether all ranks have the same shared weights; a copy of them."""
    weights = [net.fc.weight.asnumpy().copy(), net.fc.bias.asnumpy().copy()]
    everyone = comm.gather_objects([w.tobytes() for w in weights])
    assert all(w == everyone[0] for w in everyone)
    return weights


@pytest.mark.parametrize("divided", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_the_guard_raises_on_every_rank(several, divided, own):
    if divided:
        ms.set_auto_parallel_context(enable_parallel_optimizer=True)
        ms.set_auto_parallel_context(parallel_optimizer_config={"parallel_optimizer_threshold": 0})
    net, last = Net(own), several.size - 1
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.01, 0.9))
    step.non_finite = "raise"
    step(*batch())
    before = same(several, net)
    culprit = several.rank == last
    with pytest.raises(FloatingPointError) as caught:
        step(*batch(bad=culprit and not own, own_bad=culprit and own))
    text = str(caught.value)
    assert f"[rank {several.rank} of {several.size}]" in text
    assert f"rank {last}: loss {'inf' if own else 'nan'}" in text
    assert f"'{'own' if own else 'fc.'}" in text
    if own:
        assert f"on ranks {last} (" in text
    for a, b in zip(before, same(several, net)):
        np.testing.assert_array_equal(a, b)


def test_without_the_guard_a_rank_tells_once(several, monkeypatch, caplog):
    net = Net()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.01))
    assert step.non_finite == "warn"
    step(*batch(bad=several.rank == 0))
    assert np.isnan(net.fc.weight.asnumpy()).any()
    rank = f"[rank {several.rank} of {several.size}] "
    wanted = rank + "For 'TrainOneStepCell', the loss is nan, and training goes on. DIST_MS_NON_FINITE=raise"
    assert (wanted in caplog.text) == (several.rank == 0)
    for _ in range(2):
        step(*batch())
    assert caplog.text.count(wanted) == 1
    step.non_finite = "ignore"
    step(*batch())
    assert step.non_finite is None and caplog.text.count(wanted) == 1
    monkeypatch.setenv("DIST_MS_NON_FINITE", "raise")
    assert nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.01)).non_finite == "raise"
    monkeypatch.setenv("DIST_MS_NON_FINITE", "shrug")
    with pytest.raises(ValueError, match="DIST_MS_NON_FINITE must be 'raise'"):
        nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.01))


@pytest.mark.parametrize("divided", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_all_ranks_skip_a_step_and_lower_the_scale_together(several, divided, own):
    if divided:
        ms.set_auto_parallel_context(enable_parallel_optimizer=True)
        ms.set_auto_parallel_context(parallel_optimizer_config={"parallel_optimizer_threshold": 0})
    net, last = Net(own), several.size - 1
    update = nn.DynamicLossScaleUpdateCell(2.0**8, 2, 2)
    step = nn.TrainOneStepWithLossScaleCell(net, nn.SGD(net.trainable_params(), 0.01), update)
    scales = []
    for turn in range(8):
        culprit = several.rank == last and turn in (2, 5)
        before = same(several, net)
        _, overflow, scale = step(*batch(bad=culprit and not own, own_bad=culprit and own))
        assert bool(overflow.asnumpy()) == (turn in (2, 5))
        unchanged = all((a == b).all() for a, b in zip(before, same(several, net)))
        assert unchanged == (turn in (2, 5))
        scales.append(float(scale.asnumpy()))
    assert scales[3] == scales[2] / 2 and scales[6] == scales[5] / 2
    assert all(found == scales for found in several.gather_objects(scales))


class Clipping(nn.TrainOneStepCell):
    """A step of the user's own that clips by the global norm."""

    together = False

    def construct(self, *inputs):
        loss = self.network(*inputs)
        grads = self.grad(self.network, self.weights)(*inputs, ms.ops.ones_like(loss))
        grads = self.grad_reducer(grads)
        clip = self.grad_reducer.clip_by_global_norm if self.together else ms.ops.clip_by_global_norm
        grads = clip(grads, 0.05)
        self.optimizer(grads)
        return loss


@pytest.mark.parametrize(("divided", "together"), [(False, False), (False, True), (True, False), (True, True)])
def test_clipping_equals_one_process(several, divided, together):
    x = np.random.default_rng(2).standard_normal((6 * get_group_size(), 4)).astype(np.float32)

    def train(parallel):
        ms.reset_auto_parallel_context()
        rank, ranks = (get_rank(), get_group_size()) if parallel else (0, 1)
        if parallel:
            ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
            if divided:
                ms.set_auto_parallel_context(enable_parallel_optimizer=True)
                ms.set_auto_parallel_context(parallel_optimizer_config={"parallel_optimizer_threshold": 0})
        ms.set_seed(3)
        net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 2))
        step = Clipping(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.5))
        step.together = parallel and together
        part = x[rank::ranks]
        for _ in range(10):
            step(Tensor(part), Tensor(np.ones((len(part), 2), np.float32)))
        return [p.asnumpy().copy() for p in net.trainable_params()]

    for a, b in zip(train(False), train(True)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_rank_s_own_gradients_count_once(several):
    shared = Parameter(Tensor([1.0]), name="shared")
    own = Parameter(Tensor([1.0]), name="own", layerwise_parallel=True)
    reducer = nn.DistributedGradReducer([shared, own], mean=True)
    rank, size = several.rank, several.size
    clipped = reducer.clip_by_global_norm(reducer((Tensor([2.0]), Tensor([1.0 + rank]))), 0.5)
    norm = np.sqrt(4 + sum((1.0 + r) ** 2 for r in range(size)))
    np.testing.assert_allclose(clipped[0].asnumpy(), 2 * 0.5 / norm, rtol=1e-6)
    np.testing.assert_allclose(clipped[1].asnumpy(), (1 + rank) * 0.5 / norm, rtol=1e-6)


def test_plain_clipping_takes_many_tensors(several):
    clipped = ms.ops.clip_by_global_norm([Tensor([2.0]), Tensor([1.0]), Tensor([2.0]), Tensor([4.0])], 1.0)
    np.testing.assert_allclose([float(t.asnumpy()[0]) for t in clipped], [0.4, 0.2, 0.4, 0.8], rtol=1e-6)
