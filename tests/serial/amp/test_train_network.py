"""build_train_network: losses as MindSpore's at every level, loss scaling, accumulation."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.amp import DynamicLossScaleManager, FixedLossScaleManager, build_train_network
from tests.serial.amp.nets import LOSSES, Net, batch

LOSS = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def step(level="O0", net=None, loss=LOSS, loss_scale=1.0, **kwargs):
    net = net or Net()
    optimizer = nn.SGD(net.trainable_params(), 0.1, loss_scale=loss_scale)
    return build_train_network(net, optimizer, loss, level, **kwargs)


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3", "auto"])
def test_losses_of_each_level(level):
    for options in ({}, {"loss_scale_manager": FixedLossScaleManager(128.0, False)}):
        scale = 128.0 if options else 1.0
        train = step(level, loss_scale=scale, **{"loss_scale_manager": None, **options})
        assert type(train) is nn.TrainOneStepCell
        losses = [float(train(*batch()).asnumpy()) for _ in LOSSES]
        np.testing.assert_allclose(losses, LOSSES, atol=4e-3)


def test_o2_scales_dynamically_by_default():
    train = step("O2")
    assert type(train) is nn.TrainOneStepWithLossScaleCell
    weight = train.network.trainable_params()[0].asnumpy().copy()
    scales, overflows = [], []
    for _ in range(40):
        loss, overflow, scale = train(*batch())
        scales.append(float(scale.asnumpy()))
        overflows.append(bool(overflow.asnumpy()))
        if all(overflows):
            np.testing.assert_array_equal(train.network.trainable_params()[0].asnumpy(), weight)
    first = overflows.index(False)
    assert first > 0
    assert scales[: first + 1] == [2.0 ** (24 - i) for i in range(first + 1)]
    assert not any(overflows[first:])
    assert float(loss.asnumpy()) < LOSSES[-1]


def test_managers_that_drop_overflows():
    for manager in (FixedLossScaleManager(64.0), DynamicLossScaleManager(64.0)):
        train = step("O0", loss_scale_manager=manager)
        losses = [float(train(*batch())[0].asnumpy()) for _ in LOSSES]
        np.testing.assert_allclose(losses, LOSSES, atol=2e-3)


def test_keywords_change_what_a_level_says():
    kinds = lambda train: [type(c).__name__ for c in train.network._backbone.cells()]  # noqa: E731
    assert kinds(step("O2", loss_scale_manager=None))[1] == "_OutputTo16"
    assert kinds(step("O3"))[1] == "BatchNorm2d"
    assert kinds(step("O3", keep_batchnorm_fp32=True))[1] == "_OutputTo16"
    plain = step("O2", cast_model_type=ms.float32, loss_scale_manager=None)
    assert kinds(plain)[1] == "BatchNorm2d"
    assert plain.network._backbone._cell_float_type is None
    low = step("O0", cast_model_type=ms.bfloat16)
    assert low.network._backbone._cell_float_type is ms.bfloat16
    np.testing.assert_allclose(float(low(*batch()).asnumpy()), LOSSES[0], atol=3e-2)


def test_labels_and_outputs_reach_the_loss_as_float32():
    seen = []

    def loss(output, label):
        seen.extend([output.dtype, label.dtype])
        return (output - label).square().mean()

    train = step("O3", net=nn.Dense(2, 1), loss=loss)
    train(ms.ops.ones((1, 2)), ms.Tensor([[1.0]], ms.float16))
    assert seen == [ms.float32, ms.float32]


def test_a_network_that_returns_its_loss():
    net = nn.WithLossCell(nn.Dense(2, 1), nn.MSELoss())
    train = step(net=net, loss=None)
    assert float(train(ms.ops.ones((1, 2)), ms.ops.ones((1, 1))).asnumpy()) >= 0
    assert train.network is net


WRONG = {
    "network": (lambda: build_train_network(3, nn.SGD(Net().trainable_params())), TypeError),
    "optimizer": (lambda: build_train_network(Net(), 3), TypeError),
    "loss": (lambda: step(loss=3), TypeError),
    "level type": (lambda: step(3), TypeError),
    "level": (lambda: step("x"), ValueError),
    "boost": (lambda: step(boost_level="x"), ValueError),
    "keyword": (lambda: step(foo=1), ValueError),
    "cast type": (lambda: step(cast_model_type=3), TypeError),
    "cast": (lambda: step(cast_model_type=ms.int32), TypeError),
    "keep": (lambda: step(keep_batchnorm_fp32=1), TypeError),
    "manager": (lambda: step(loss_scale_manager=3), TypeError),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    call, kind = WRONG[name]
    with pytest.raises(kind):
        call()


class Counts(nn.Cell):
    """A loss that counts how often, and on how many rows, it runs."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
        self.rows = []

    def construct(self, x, y):
        self.rows.append(x.shape[0])
        return (self.dense(x) - y).square().mean()


@pytest.mark.parametrize("manager", [None, DynamicLossScaleManager(2**8)])
def test_accumulation_gives_the_gradient_of_the_whole_batch(manager):
    x = ms.Tensor(np.random.RandomState(0).rand(6, 2).astype(np.float32))
    y = ms.ops.zeros((6, 1))
    whole, parts = Counts(), Counts()
    for net in (whole, nn.GradAccumulationCell(parts, 3)):
        train = step(net=net, loss=None, loss_scale_manager=manager)
        out = train(x, y)
    assert (whole.rows, parts.rows) == ([6], [2, 2, 2])
    np.testing.assert_allclose(parts.dense.weight.asnumpy(), whole.dense.weight.asnumpy(), rtol=1e-6)
    loss = out[0] if manager else out
    assert float(loss.asnumpy()) == pytest.approx(3 * float(((x.asnumpy().sum(1)) ** 2).mean()), rel=1e-5)


def test_accumulation_below_a_loss_is_averaged_too():
    x, y = ms.Tensor(np.random.RandomState(0).rand(4, 2).astype(np.float32)), ms.ops.zeros((2, 1))
    inner = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    train = step(net=nn.GradAccumulationCell(inner, 2), loss=nn.MSELoss())
    train(x, y)
    total = x.asnumpy()[:2] + x.asnumpy()[2:]
    gradient = (2 * total.sum(1, keepdims=True) * total / 2).sum(0) / 2
    np.testing.assert_allclose(inner.weight.asnumpy()[0], 1 - 0.1 * gradient, rtol=1e-5)
