"""In virtual shards the weights have the same bits on every number of ranks: compared with one process."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms import dataset as ds
from dist_ms.communication import get_group_size, get_rank
from dist_ms.parallel import set_virtual_shards

SHARDS = 12  # for 1, 2, 3 and 4 ranks
BATCH = 24


@pytest.fixture(autouse=True)
def clean(world):
    """No settings before and after."""
    ms.reset_auto_parallel_context()
    set_virtual_shards(None)
    yield world.comm
    ms.reset_auto_parallel_context()
    set_virtual_shards(None)
    ms.set_seed(1)


class Net(nn.Cell):
    """Convolution, dense layers, group norm, dropout of both kinds, an unused and a tied weight."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 4, 3, has_bias=True), nn.GroupNorm(2, 4)
        self.fc1, self.fc2 = nn.Dense(196, 33), nn.Dense(33, 3)
        self.drop = nn.Dropout(p=0.3)
        self.scale = Parameter(Tensor([1.5]), name="scale")
        self.unused = Parameter(Tensor([1.0, 2.0]), name="unused")

    def construct(self, x):
        x = ms.ops.relu(self.norm(self.conv(x))).reshape((x.shape[0], -1))
        x = ms.ops.dropout(ms.ops.tanh(self.fc1(self.drop(x))), p=0.2, seed=5)
        return self.fc2(x + 0.01 * ms.ops.standard_normal(x.shape, 3)) * self.scale


OPTIMIZERS = {
    "SGD": lambda p: nn.SGD(p, 0.05, momentum=0.9),
    "Adam": lambda p: nn.Adam(p, 1e-3),
    "Lamb": lambda p: nn.Lamb(p, 1e-3),
    "LARS": lambda p: nn.LARS(nn.Momentum(p, 0.05, 0.9), epsilon=1e-8),
}


def share(array, rank, size, order):
    """A rank's part of a batch."""
    return array[rank::size] if order == "interleaved" else np.split(array, size)[rank]


def bits(net):
    """The weights' bytes."""
    return {p.name: p.asnumpy().tobytes() for p in net.get_parameters()}


def train(parallel, make, order="interleaved", steps=4, scale=None):
    """The weights' bytes after some steps."""
    ms.reset_auto_parallel_context()
    set_virtual_shards(SHARDS, order)
    rank, size = (get_rank(), get_group_size()) if parallel else (0, 1)
    if parallel:
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(5)
    net = Net().set_train()
    loss = nn.WithLossCell(net, nn.CrossEntropyLoss())
    optimizer = make(net.trainable_params())
    if scale is None:
        step = nn.TrainOneStepCell(loss, optimizer)
    else:
        step = nn.TrainOneStepWithLossScaleCell(loss, optimizer, nn.DynamicLossScaleUpdateCell(scale, 2, 3))
    data = np.random.default_rng(3)
    for _ in range(steps):
        x = data.standard_normal((BATCH, 2, 7, 7)).astype(np.float32)
        y = data.integers(0, 3, BATCH).astype(np.int32)
        step(Tensor(share(x, rank, size, order)), Tensor(share(y, rank, size, order)))
    return bits(net)


@pytest.mark.parametrize(("name", "order"), [*((name, "interleaved") for name in OPTIMIZERS), ("Adam", "contiguous")])
def test_bits_are_those_of_one_process(name, order, clean):
    alone = train(False, OPTIMIZERS[name], order)
    together = train(True, OPTIMIZERS[name], order)
    assert [k for k in alone if alone[k] != together[k]] == []
    assert all(other == together for other in clean.gather_objects(together))


def test_with_a_loss_scale(clean):
    assert train(False, OPTIMIZERS["Adam"], scale=2.0**10) == train(True, OPTIMIZERS["Adam"], scale=2.0**10)


def test_the_result_is_the_mean_over_all_samples(clean):
    def weights(shards):
        set_virtual_shards(shards)
        ms.set_seed(5)
        net = nn.Dense(4, 3)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
        x = np.random.default_rng(1).standard_normal((BATCH, 4)).astype(np.float32)
        loss = step(Tensor(x), Tensor(np.ones((BATCH, 3), np.float32)))
        return float(loss.asnumpy()), net.weight.asnumpy()

    (loss, expected), (sharded_loss, found) = weights(None), weights(SHARDS)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    assert loss == pytest.approx(sharded_loss, rel=1e-6)


def test_a_script_with_model_train_and_the_environment(clean, monkeypatch):
    monkeypatch.setenv("DIST_MS_VIRTUAL_SHARDS", str(SHARDS))
    x = np.random.default_rng(0).standard_normal((72, 6)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)

    def run(parallel):
        ms.reset_auto_parallel_context()
        rank, size = (get_rank(), get_group_size()) if parallel else (0, 1)
        if parallel:
            ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
        ms.set_seed(8)
        data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True, num_shards=size, shard_id=rank)
        net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dropout(p=0.5), nn.Dense(16, 2))
        model = ms.train.Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01))
        model.train(3, data.batch(BATCH // size))
        return bits(net)

    assert run(False) == run(True)


def make_step(net, **context):
    """A parallel step in virtual shards."""
    set_virtual_shards(SHARDS)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", **{"gradients_mean": True, **context})
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))


def batch(samples):
    """A batch of a rank."""
    return Tensor(np.ones((samples, 4), np.float32)), Tensor(np.ones((samples, 4), np.float32))


def test_conditions_are_checked_on_every_rank(clean):
    size = clean.size
    each = SHARDS // size
    with pytest.raises(
        ValueError,
        match=rf"multiple of the {each} shards of a rank, but got {each + 1} samples" if each > 1 else "one size",
    ):
        make_step(nn.Dense(4, 4))(*batch(each + 1 if each > 1 else each + clean.rank))
    with pytest.raises(ValueError, match="must change no parameter, but it changed '0.moving_mean'"):
        make_step(nn.SequentialCell(nn.BatchNorm1d(4), nn.Dense(4, 4)).set_train())(*batch(2 * each))
    with pytest.raises(ValueError, match="samples along their first axis"):
        make_step(nn.Dense(4, 4))(batch(each)[0], batch(2 * each)[1])
    with pytest.raises(ValueError, match="no_sync"), make_step(nn.Dense(4, 4)).no_sync():
        pass
    with pytest.raises(ValueError, match="'uneven' must be None"):
        make_step(nn.Dense(4, 4)).uneven = "exact"
    with pytest.raises(ValueError, match="made by hand"):
        nn.DistributedGradReducer(nn.Dense(4, 4).trainable_params())

    class Own(nn.TrainOneStepCell):
        def construct(self, *inputs):
            return self.network(*inputs)

    with pytest.raises(ValueError, match="'Own' with a 'construct' of its own"):
        Own(nn.Dense(4, 4), nn.SGD(nn.Dense(4, 4).trainable_params(), 0.1))
    net = nn.Dense(4, 4)
    net.bias.layerwise_parallel = True
    if size > 1:
        with pytest.raises(ValueError, match="must be the same on all ranks, but 'bias'"):
            make_step(net)(*batch(each))
        with pytest.raises(ValueError, match="'gradients_mean' must be True"):
            make_step(nn.Dense(4, 4), gradients_mean=False)
        with pytest.raises(ValueError, match="'enable_parallel_optimizer' must be False"):
            make_step(nn.Dense(4, 4), enable_parallel_optimizer=True)
        ms.set_auto_parallel_context(enable_parallel_optimizer=False)
        set_virtual_shards(size * 2 + 1)
        with pytest.raises(ValueError, match=rf"multiple of the number of ranks, {size}, but got {size * 2 + 1}"):
            nn.TrainOneStepCell(nn.Dense(4, 4), nn.SGD(nn.Dense(4, 4).trainable_params(), 0.1))


@pytest.mark.parametrize("text", ["x", "-4", "4:sideways", "0:contiguous"])
def test_a_wrong_variable_is_refused(text, clean, monkeypatch):
    monkeypatch.setenv("DIST_MS_VIRTUAL_SHARDS", text)
    with pytest.raises(ValueError, match="DIST_MS_VIRTUAL_SHARDS must be a number of shards"):
        nn.TrainOneStepCell(nn.Dense(4, 4), nn.SGD(nn.Dense(4, 4).trainable_params(), 0.1))
