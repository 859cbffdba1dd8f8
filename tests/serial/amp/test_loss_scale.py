"""Loss scalers, managers, update cells and the step that uses them."""

from types import SimpleNamespace

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.amp import (
    DynamicLossScaleManager,
    DynamicLossScaler,
    FixedLossScaleManager,
    LossScaleManager,
    LossScaler,
    StaticLossScaler,
    _grad_scale_map,
    _grad_unscale_map,
    all_finite,
)
from tests.serial.train.rank_threads import run_ranks


def test_dynamic_scaler_follows_mindspores_sequence():
    scaler = DynamicLossScaler(2**10, 2, 2)
    seen = []
    for ok in (True, True, True, False, True, True, False, False):
        assert scaler.adjust(ms.Tensor(ok)) is True
        seen.append((float(scaler.scale_value.asnumpy()), int(scaler.counter.asnumpy())))
    assert seen == [(1024, 1), (2048, 0), (2048, 1), (1024, 0), (1024, 1), (2048, 0), (1024, 0), (512, 0)]


def test_dynamic_scaler_has_limits():
    scaler = DynamicLossScaler(2.0, 4, 1)
    for ok, scale in ((False, 1.0), (False, 1.0), (True, 4.0)):
        scaler.adjust(ms.Tensor(ok))
        assert float(scaler.scale_value.asnumpy()) == scale
    scaler = DynamicLossScaler(3e38, 2, 1)
    scaler.adjust(ms.Tensor(True))
    assert float(scaler.scale_value.asnumpy()) == np.float32(3e38)


@pytest.mark.parametrize("make", [lambda: StaticLossScaler(2**10), lambda: DynamicLossScaler(2**10, 2, 9)])
def test_scaling_keeps_types_and_nesting(make):
    scaler = make()
    scaled = scaler.scale(ms.Tensor([1.0]))
    assert (scaled.dtype, scaled.asnumpy().tolist()) == (ms.float32, [1024])
    grads = (ms.Tensor([1.5, 1.0], ms.float16), [ms.Tensor([1.2], ms.float32)])
    first, (second,) = scaler.unscale(grads)
    assert (first.dtype, second.dtype) == (ms.float16, ms.float32)
    np.testing.assert_array_equal(first.asnumpy(), np.float16([1.5 / 1024, 1 / 1024]))
    np.testing.assert_allclose(second.asnumpy(), np.float32(1.2) / 1024)


def test_static_scaler_stays():
    scaler = StaticLossScaler(2.0)
    assert scaler.adjust(ms.Tensor(False)) is False
    assert float(scaler.scale_value.asnumpy()) == 2.0
    assert (scaler.scale_value.name, scaler.scale_value.dtype) == ("scale_value", ms.float32)


def test_a_scaler_of_ones_own():
    class Mine(LossScaler):
        def __init__(self):
            self.value = ms.Parameter(ms.Tensor(8.0), name="value")

        def scale(self, inputs):
            return _grad_scale_map(self.value, inputs)

        def unscale(self, inputs):
            return _grad_unscale_map(self.value, inputs)

        def adjust(self, grads_finite):
            return False

    assert Mine().unscale(Mine().scale(ms.Tensor([3.0]))).asnumpy().tolist() == [3.0]
    with pytest.raises(TypeError):
        LossScaler()


def test_a_training_loop_with_a_scaler():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    scaler = DynamicLossScaler(2**15, 2, 50)
    low = ms.amp.auto_mixed_precision(net, "O3")

    def forward(x, y):
        loss = (low(x) - y).square().mean()
        return scaler.scale(loss), loss

    grad = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
    losses, finite = [], []
    for _ in range(8):
        (_, loss), grads = grad(ms.ops.ones((4, 2)), ms.ops.zeros((4, 1)))
        grads = scaler.unscale(grads)
        ok = all_finite(grads)
        if ok:
            optimizer(grads)
        scaler.adjust(ok)
        losses.append(float(loss.asnumpy()))
        finite.append(bool(ok.asnumpy()))
    assert finite[0] is False
    assert finite[-1] is True
    assert losses[-1] < losses[0] == 4.0


def test_all_finite():
    for values, expected in (
        (ms.Tensor([1.0]), True),
        ((ms.Tensor([1.0]), [ms.Tensor([3], ms.int32)]), True),
        ((ms.Tensor([1.0]), ms.Tensor([np.inf])), False),
        ([ms.Tensor([np.nan], ms.float16)], False),
        ([ms.Tensor([-np.inf], ms.bfloat16)], False),
    ):
        result = all_finite(values)
        assert (result.dtype, result.shape, bool(result.asnumpy())) == (ms.bool_, (), expected)


def test_dynamic_manager_follows_mindspores_sequence():
    manager, seen = DynamicLossScaleManager(2**4, 2, 3), []
    for overflow in (0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1):
        manager.update_loss_scale(bool(overflow))
        seen.append(manager.get_loss_scale())
    assert seen == [16, 16, 32, 16, 16, 16, 32, 16, 8, 4, 2, 1, 1]
    assert manager.get_drop_overflow_update() is True


def test_dynamic_manager_gives_up():
    manager = DynamicLossScaleManager()
    with pytest.raises(RuntimeError, match="1001 steps in a row overflowed"):
        for _ in range(1001):
            manager.update_loss_scale(True)


def test_managers_and_their_cells():
    fixed = FixedLossScaleManager()
    assert (fixed.get_loss_scale(), fixed.get_drop_overflow_update()) == (128.0, True)
    assert type(fixed.get_update_cell()) is nn.FixedLossScaleUpdateCell
    assert FixedLossScaleManager(1, False).get_update_cell() is None
    dynamic = DynamicLossScaleManager()
    assert (dynamic.get_loss_scale(), dynamic.scale_window) == (2**24, 2000)
    assert dynamic.get_update_cell().get_loss_scale() == 2**24
    assert LossScaleManager().get_update_cell() is None
    fixed.update_loss_scale(True)
    assert fixed.get_loss_scale() == 128.0


def test_dynamic_update_cell():
    cell = nn.DynamicLossScaleUpdateCell(16, 2, 3)
    scale = ms.Parameter(ms.Tensor([16.0]), name="scale")
    seen = []
    for overflow in (0, 0, 0, 0, 1, 1, 0, 0, 0, 0):
        assert bool(cell(scale, ms.Tensor(bool(overflow))).asnumpy()) == bool(overflow)
        seen.append(float(scale.asnumpy()[0]))
    assert seen == [16, 16, 32, 32, 16, 8, 8, 8, 16, 16]
    assert int(cell.cur_iter.asnumpy()) == 11
    assert [p.name for p in cell.get_parameters()] == ["current_iterator_step", "last_overflow_iterator_step"]
    floor = ms.Parameter(ms.Tensor(1.0), name="floor")
    cell(floor, ms.Tensor(True))
    assert float(floor.asnumpy()) == 1.0


def scaled_step(scale_sense):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    train = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1), scale_sense
    )
    return net, train


X, Y = ms.ops.ones((2, 2)), ms.ops.zeros((2, 1))


def test_a_step_is_the_same_whatever_the_scale():
    plain = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    nn.TrainOneStepCell(nn.WithLossCell(plain, nn.MSELoss()), nn.SGD(plain.trainable_params(), 0.1))(X, Y)
    for scale in (ms.Tensor([1024.0]), ms.Tensor(3.0), nn.FixedLossScaleUpdateCell(2**12)):
        net, train = scaled_step(scale)
        loss, overflow, used = train(X, Y)
        assert (float(loss.asnumpy()), bool(overflow.asnumpy())) == (4.0, False)
        assert float(used.asnumpy().reshape(())) == float(train.scale_sense.asnumpy().reshape(()))
        np.testing.assert_allclose(net.weight.asnumpy(), plain.weight.asnumpy(), rtol=1e-6)


def test_a_step_that_overflows_changes_nothing_but_the_scale():
    net, train = scaled_step(nn.DynamicLossScaleUpdateCell(2**10, 2, 1000))
    loss, overflow, scale = train(X * np.float32(3e38), Y)
    assert bool(overflow.asnumpy())
    assert not np.isfinite(loss.asnumpy())
    np.testing.assert_array_equal(net.weight.asnumpy(), [[1, 1]])
    assert int(train.optimizer.global_step.asnumpy()[0]) == 0
    assert (float(scale.asnumpy()), float(train.scale_sense.asnumpy())) == (2**10, 2**9)


def test_the_scale_can_be_set():
    _, train = scaled_step(ms.Tensor([8.0]))
    train.set_sense_scale(ms.Tensor([2.0]))
    assert train(X, Y)[2].asnumpy().tolist() == [2.0]
    with pytest.raises(TypeError, match="'sens'"):
        train.set_sense_scale(2.0)


def test_the_parts_of_a_step_can_be_called():
    _, train = scaled_step(nn.DynamicLossScaleUpdateCell(2**10, 2, 1000))
    sens = ms.ops.ones_like(ms.Tensor(1.0)) * train.scale_sense
    status, x = train.start_overflow_check(ms.Tensor(1), X)
    grads = train.grad(train.network, train.weights)(x, Y, sens)
    grads = train.grad_reducer(grads)
    np.testing.assert_allclose(grads[0].asnumpy(), [[4 * 1024] * 2])
    overflow = train.process_loss_scale(train.get_overflow_status(status, grads))
    assert bool(overflow.asnumpy()) is False


def test_a_step_of_ones_own_as_users_write_it():
    class Clipped(nn.TrainOneStepWithLossScaleCell):
        def construct(self, *inputs):
            loss = self.network(*inputs)
            scale = self.scale_sense
            status, scale = self.start_overflow_check(loss, scale)
            sens = ms.ops.ones_like(loss) * ms.ops.cast(scale, loss.dtype)
            grads = self.grad(self.network, self.weights)(*inputs, sens)
            grads = self.hyper_map(ms.ops.partial(lambda s, g: g / s, scale), grads)
            grads = ms.ops.clip_by_global_norm(grads, 1.0)
            grads = self.grad_reducer(grads)
            overflow = self.process_loss_scale(self.get_overflow_status(status, grads))
            if not overflow:
                self.optimizer(grads)
            return loss, overflow, scale

    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    update = nn.DynamicLossScaleUpdateCell(2**10, 2, 1000)
    step = Clipped(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 1.0), update)
    step(X, Y)
    np.testing.assert_allclose(net.weight.asnumpy(), [[1 - 0.5**0.5] * 2], rtol=1e-5)
    assert (step.parallel_mode, step.is_distributed) == ("stand_alone", False)


def test_an_overflow_on_one_rank_is_one_on_all():
    def work(comm):
        _, train = scaled_step(ms.Tensor(8.0))
        train.__dict__["grad_reducer"] = None  # only its ranks are asked here
        train._cells.pop("grad_reducer", None)
        object.__setattr__(train, "grad_reducer", SimpleNamespace(session=SimpleNamespace(comm=comm)))
        grads = [ms.Tensor([np.inf if comm.rank == 1 else 1.0])]
        return bool(train.get_overflow_status(None, grads).asnumpy())

    assert run_ranks(3, work) == [True] * 3


WRONG = {
    "static": (lambda: StaticLossScaler(0.5), ValueError),
    "static type": (lambda: StaticLossScaler("a"), TypeError),
    "factor": (lambda: DynamicLossScaler(1, 0, 1), ValueError),
    "factor type": (lambda: DynamicLossScaler(1, 2.0, 1), TypeError),
    "window": (lambda: DynamicLossScaler(1, 2, 0), ValueError),
    "fixed": (lambda: FixedLossScaleManager(0.5), ValueError),
    "dynamic": (lambda: DynamicLossScaleManager(0.5), ValueError),
    "manager window": (lambda: DynamicLossScaleManager(scale_window=0), ValueError),
    "manager window type": (lambda: DynamicLossScaleManager(scale_window=1.0), TypeError),
    "manager factor": (lambda: DynamicLossScaleManager(scale_factor=0), ValueError),
    "scale_sense": (lambda: scaled_step(3.0), TypeError),
    "scale_sense shape": (lambda: scaled_step(ms.Tensor([1.0, 2.0])), ValueError),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    call, kind = WRONG[name]
    with pytest.raises(kind):
        call()
