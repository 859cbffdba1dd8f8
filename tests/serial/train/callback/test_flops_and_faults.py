"""FlopsUtilizationCollector against MindSpore's count, and what is saved when a run fails."""

import os

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import flops

X = np.random.default_rng(0).normal(size=(24, 8)).astype(np.float32)
Y = np.random.default_rng(1).normal(size=(24, 3)).astype(np.float32)


def made():
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
    data = ms.dataset.NumpySlicesDataset((X, Y), shuffle=False).batch(4)
    return net, ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params())), data


def test_the_count_is_that_of_mindspore(capsys, monkeypatch):
    monkeypatch.setattr(flops, "_last", [])
    with pytest.raises(RuntimeError, match="a step must be counted"):
        ms.flops_collection()
    _, model, data = made()
    model.train(1, data, callbacks=[ms.FlopsUtilizationCollector(data_size=6, computility=1e9)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "Full model flops is 3200.0, Full hardware flops is 3200.0, Shard model flops is 3200.0, "
        "Shard hardware flops is 3200.0."
    )
    assert len(lines) == 6 and all("ms mfu:" in line and "% hfu:" in line for line in lines[1:])  # not of step 6
    assert ms.flops_collection() == (3200.0, 3200.0, 3200.0, 3200.0, False)


@pytest.mark.parametrize(("size", "steps"), [(1, 0), (2, 3), (4, 5), (7, 6)])
def test_steps_that_the_size_divides_print_nothing(size, steps, capsys):
    _, model, data = made()
    model.train(1, data, callbacks=[ms.FlopsUtilizationCollector(data_size=size, computility=1e9)])
    assert capsys.readouterr().out.count("Train per step time") == steps


def test_convolutions_count_forward_and_backward():
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.Conv2d(2, 4, 3, pad_mode="valid"))
    x = ms.ops.ones((2, 1, 6, 6))
    with flops.counting() as total:
        net(x)
    first, second = 2 * (2 * 2 * 36) * 9, 2 * (2 * 4 * 16) * 18
    assert total == [first + second]
    with flops.counting() as total:
        ms.grad(lambda: net(x).sum(), None, net.trainable_params())()
    assert total == [2 * first + 3 * second]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"data_size": 0}, ValueError),
        ({"data_size": "a"}, TypeError),
        ({"data_size": None}, TypeError),
        ({"data_size": 5, "full_flops": 1}, TypeError),
        ({"data_size": 5, "enable_ma_collector": 1}, TypeError),
        ({"data_size": 5, "enable_ma_collector": True}, ValueError),
    ],
)
def test_refused(options, error):
    with pytest.raises(error):
        ms.FlopsUtilizationCollector(**options)


class Fails(ms.train.Callback):
    def on_train_step_begin(self, run_context):
        if run_context.original_args().cur_step_num == 9:
            raise RuntimeError("a disk is full")


def test_a_failing_run_is_saved(tmp_path, monkeypatch):
    monkeypatch.setenv("MS_ENABLE_TFT", "{TTP:1}")
    net, model, data = made()
    with pytest.raises(RuntimeError, match="a disk is full"):
        model.train(2, data, callbacks=[ms.TrainFaultTolerance(str(tmp_path)), Fails()])
    file = tmp_path / "tft_saved_checkpoints-step_8" / "rank_0" / "iteration-8_2_2.ckpt"
    found = ms.load_checkpoint(str(file))
    assert np.array_equal(found["0.weight"].asnumpy(), net[0].weight.asnumpy())
    assert int(found["cur_step_num"].asnumpy()) == 8 and int(found["cur_epoch_num"].asnumpy()) == 2
    saved = []
    _, model, data = made()
    with pytest.raises(RuntimeError, match="a disk is full"):
        tolerance = ms.TrainFaultTolerance(ckpt_save_fn=lambda run, beside: saved.append(beside["cur_step_num"]))
        model.train(2, data, callbacks=[tolerance, Fails()])
    assert saved == [8]
    _, model, data = made()
    model.train(1, data, callbacks=[ms.TrainFaultTolerance(str(tmp_path / "none"))])
    assert not os.path.exists(tmp_path / "none")
    assert ms.TrainFaultTolerance.get_optimizer_wrapper(nn.SGD) is nn.SGD


def test_the_switch(monkeypatch):
    monkeypatch.delenv("MS_ENABLE_TFT", raising=False)
    with pytest.raises(ValueError, match="'ckpt_save_path' must be a path"):
        ms.TrainFaultTolerance()
    for value, found in ((None, "''"), ("{UCE:1}", "UCE")):
        if value:
            monkeypatch.setenv("MS_ENABLE_TFT", value)
        with pytest.raises(ValueError, match=f"'MS_ENABLE_TFT' must be .*{found}"):
            ms.TrainFaultTolerance("saved")
