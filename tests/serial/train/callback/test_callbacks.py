"""LossMonitor, TimeMonitor, History, LambdaCallback, LearningRateScheduler."""

import re

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import (
    History,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    Model,
    TimeMonitor,
)
from dist_ms.train.callback import _CallbackManager
from tests.serial.train.model_cases import batches, context, model, network


def step(number, outputs, batch_num=4):
    return context(
        cur_epoch_num=(number - 1) // batch_num + 1, cur_step_num=number, batch_num=batch_num, net_outputs=outputs
    )


def test_loss_monitor_prints_every_so_many_steps(capsys):
    monitor = LossMonitor(2)
    for number in range(1, 9):
        monitor.on_train_step_end(step(number, ms.Tensor(number * 0.1)))
    assert capsys.readouterr().out.splitlines() == [
        "epoch: 1 step: 2, loss is 0.20000000298023224",
        "epoch: 1 step: 4, loss is 0.4000000059604645",
        "epoch: 2 step: 2, loss is 0.6000000238418579",
        "epoch: 2 step: 4, loss is 0.800000011920929",
    ]
    monitor.on_train_step_end(step(1, ms.Tensor(0.1)))  # another run
    monitor.on_train_step_end(step(2, (ms.Tensor(0.1), ms.Tensor(True))))
    monitor.on_train_step_end(step(5, ms.Tensor([1.0, 2.0])))
    monitor.step_end(step(7, 3.5))
    assert capsys.readouterr().out.splitlines() == [
        "epoch: 1 step: 2, loss is 0.1",
        "epoch: 2 step: 1, loss is 1.5",
        "epoch: 2 step: 3, loss is 3.5",
    ]


def test_loss_monitor_prints_nothing_for_0(capsys):
    model().train(1, batches(), callbacks=LossMonitor(0))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_loss_monitor_ends_a_run_that_diverged(bad):
    with pytest.raises(ValueError, match="In epoch: 2 step: 1, loss is NAN or INF"):
        LossMonitor().step_end(step(5, ms.Tensor(bad)))
    LossMonitor(9).step_end(step(5, (ms.Tensor(bad), ms.Tensor(True))))  # an overflow that loss scaling handles


@pytest.mark.parametrize(("value", "kind"), [(-1, ValueError), (1.0, TypeError), ("a", TypeError), (True, TypeError)])
def test_loss_monitor_refuses(value, kind):
    with pytest.raises(kind):
        LossMonitor(value)


def test_time_monitor_prints_epochs(capsys):
    model(metrics={"loss"}).fit(1, batches(), batches(3), callbacks=TimeMonitor(data_time=True))
    lines = [re.sub(r"[0-9.]+ ms", "T ms", line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "Eval epoch time: T ms, per step time: T ms (data time: T ms)",
        "Train epoch time: T ms, per step time: T ms (data time: T ms)",
    ]


def test_time_monitor_divides_by_the_steps(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr("dist_ms.train.callback.time_monitor.time.time", lambda: now[0])
    monitor, run = TimeMonitor(data_time=True), context(mode="train", batch_num=4)
    monitor.on_train_epoch_begin(run)
    for _ in range(4):
        now[0] += 0.25  # waiting for data
        monitor.on_train_step_begin(run)
        now[0] += 0.75
        monitor.on_train_step_end(run)
    monitor.on_train_epoch_end(run)
    wanted = "Train epoch time: 4000.000 ms, per step time: 1000.000 ms (data time: 250.000 ms)\n"
    assert capsys.readouterr().out == wanted


def test_time_monitor_needs_the_number_of_steps(capsys):
    run = context(mode="eval")
    monitor = TimeMonitor(4)
    monitor.on_eval_epoch_begin(run)
    monitor.on_eval_epoch_end(run)
    assert "per step" in capsys.readouterr().out
    with pytest.raises(TypeError, match="data_size"):
        TimeMonitor().on_eval_epoch_end(run)
    with pytest.raises(TypeError, match="data_time"):
        TimeMonitor(data_time=1)


def test_history_keeps_outputs_and_metrics():
    history, trained = History(), model(metrics={"loss"})
    trained.fit(2, batches(), batches(), callbacks=history)
    trained.fit(1, batches(), callbacks=history)
    assert history.epoch == {"epoch": [1]}
    assert list(map(len, history.history.values())) == [3, 2, 2]
    assert list(history.history) == ["net_output", "loss", "eval_loss"]
    assert history.history["eval_loss"] == pytest.approx(history.history["loss"])
    assert history.evaluated == {"loss": [1, 2], "eval_loss": [1, 2]}
    assert history.history["net_output"][:2] == pytest.approx([1.9063553, 1.6620111], rel=1e-6)
    assert type(history.history["net_output"][0]) is float


def test_history_has_the_mean_loss_of_each_epoch_and_draws_it(tmp_path):
    history, losses = History(), []
    steps = LambdaCallback(on_train_step_end=lambda c: losses.append(float(c.original_args().net_outputs)))
    model(metrics={"mae"}).fit(3, batches(), batches(), 2, callbacks=[history, steps])
    assert history.mean_loss == pytest.approx([sum(losses[i : i + 2]) / 2 for i in (0, 2, 4)])
    assert history.evaluated == {"mae": [2], "eval_loss": [2]}
    figure = history.plot(str(tmp_path / "run.png"))
    assert (tmp_path / "run.png").stat().st_size > 1000
    loss, metric = figure.axes
    assert loss.lines[0].get_ydata() == pytest.approx(history.mean_loss)
    assert list(loss.lines[1].get_xdata()) == [2] == list(metric.lines[0].get_xdata())


def test_history_draws_nothing_before_an_epoch():
    with pytest.raises(RuntimeError, match="'plot' must be called after an epoch"):
        History().plot()


def test_history_takes_the_first_of_several_outputs():
    history = History()
    history.begin(context())
    history.epoch_end(context(cur_epoch_num=4, net_outputs=(ms.Tensor([1.0, 2.0]), ms.Tensor(True))))
    assert (history.epoch, history.history) == ({"epoch": [4]}, {"net_output": [1.5]})


def test_lambda_callback_calls_its_functions():
    calls = []
    callback = LambdaCallback(
        on_train_begin=lambda c: calls.append("begin"),
        on_train_step_end=lambda c: calls.append(c.original_args().cur_step_num),
        on_eval_end=lambda c: calls.append("eval"),
    )
    trained = model(metrics={"loss"})
    trained.train(1, batches(), callbacks=callback)
    trained.eval(batches(), callbacks=callback)
    assert calls == ["begin", 1, 2, "eval"]
    assert callback.stops_steps
    assert not LambdaCallback(on_train_end=print).stops_steps


def test_learning_rate_scheduler_sets_the_rate():
    asked = []

    def function(rate, number):
        asked.append((rate, number))
        return rate * 0.1 if number == 2 else rate

    net = network()
    trained = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    trained.train(1, batches(3, scale=0.01), callbacks=LearningRateScheduler(function))
    assert asked == [(0.1, 1), (0.1, 2), (0.01, 3)]
    assert trained._optimizer.learning_rate.asnumpy() == np.float32(0.01)


def test_callback_manager_refuses_what_is_no_callback():
    for wrong in (3, "a", (LossMonitor(),), [3]):
        with pytest.raises(TypeError):
            _CallbackManager(wrong)
    assert _CallbackManager(None).callbacks == []
