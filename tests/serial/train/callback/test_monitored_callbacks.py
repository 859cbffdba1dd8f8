"""EarlyStopping and ReduceLROnPlateau: the epochs at which MindSpore acts."""

import logging

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import EarlyStopping, ReduceLROnPlateau
from dist_ms.train.callback import CallbackParameters, RunContext
from tests.serial.train.model_cases import batches, context, model


def stopped_at(values, monitor="acc", **options):
    """The epoch at which the run stops (None: never), and the weights then."""
    callback, net = EarlyStopping(monitor=monitor, **options), nn.Dense(2, 1)
    run = CallbackParameters(train_network=net, cur_epoch_num=0)
    run_context = RunContext(run)
    callback.on_train_begin(run_context)
    for run.cur_epoch_num, value in enumerate(values, 1):
        run.eval_results = {monitor: value}
        net.weight.set_data(ms.Tensor(np.full((1, 2), value, np.float32)))
        callback.on_train_epoch_end(run_context)
        if run_context.get_stop_requested():
            break
    callback.on_train_end(run_context)
    epoch = run.cur_epoch_num if run_context.get_stop_requested() else None
    return epoch, net.weight.asnumpy().ravel().tolist()


def test_early_stopping_counts_epochs_without_improvement():
    values = [0.1, 0.2, 0.3, 0.2, 0.2, 0.2]
    assert stopped_at(values, patience=1)[0] == 4
    assert stopped_at(values, patience=2)[0] == 5
    assert stopped_at(values, patience=9)[0] is None
    assert stopped_at(values, patience=2, mode="min")[0] == 3
    assert stopped_at(values, monitor="mse", patience=2)[0] == 3  # smaller is better, by its name
    assert stopped_at([0.1, 0.11, 0.12, 0.13, 0.14], patience=2, min_delta=-0.05)[0] == 3


def test_early_stopping_with_patience_0_ends_after_the_first_epoch():
    assert stopped_at([0.1, 0.2, 0.3])[0] == 1


def test_early_stopping_restores_the_best_epoch_and_tells(capsys):
    epoch, weights = stopped_at([0.1, 0.2, 0.3, 0.2, 0.2], patience=2, verbose=True, restore_best_weights=True)
    assert (epoch, weights) == (5, pytest.approx([0.3, 0.3]))
    assert capsys.readouterr().out.splitlines() == [
        "Restoring model weights from the end of the best epoch.",
        "Epoch 00005: early stopping",
    ]


def test_early_stopping_below_a_baseline():
    assert stopped_at([0.1, 0.2, 0.3, 0.4], patience=3, baseline=0.9)[0] == 3
    assert stopped_at([0.95, 0.96, 0.97, 0.98], patience=3, baseline=0.9)[0] is None


def test_zero_is_a_value():
    assert stopped_at([0.0, 0.0, 0.0], patience=2)[0] == 3


def test_early_stopping_ends_a_fit():
    callback = EarlyStopping(monitor="mse", patience=2, mode="max")
    seen = []
    last = ms.train.LambdaCallback(on_train_epoch_end=lambda c: seen.append(c.original_args().cur_epoch_num))
    model(metrics={"mse"}).fit(9, batches(), batches(), callbacks=[callback, last])
    assert (seen, callback.stopped_epoch) == ([1, 2, 3], 3)


def test_the_training_loss_can_be_watched():
    callback = EarlyStopping(monitor="loss", patience=1)
    for outputs in (ms.Tensor(3.0), (ms.Tensor([2.0, 4.0]), ms.Tensor(False))):
        run = context(cur_epoch_num=1, net_outputs=outputs, train_network=None)
        callback.on_train_epoch_end(run)
        assert callback.best == 3.0


def test_an_epoch_without_the_value_does_not_count(caplog):
    callback = EarlyStopping(monitor="acc", patience=0)
    run = context(cur_epoch_num=1, eval_results={"mse": 1.0})
    with caplog.at_level(logging.WARNING, "dist_ms"):
        callback.on_train_epoch_end(run)
    assert not run.get_stop_requested()
    assert "watches 'acc', which is not among ['loss', 'mse']" in caplog.text


@pytest.mark.parametrize("kind", [EarlyStopping, ReduceLROnPlateau])
def test_only_numbers_can_be_watched(kind):
    net = nn.Dense(2, 1)
    facts = {"optimizer": nn.SGD(net.trainable_params(), 0.1), "train_network": net}
    with pytest.raises(ValueError, match=r"'acc' has shape \(3,\)"):
        kind(monitor="acc").on_train_epoch_end(context(eval_results={"acc": np.ones(3)}, **facts))


def rates(values, **options):
    """The learning rate after each epoch."""
    callback, net = ReduceLROnPlateau(monitor="acc", **options), nn.Dense(2, 1)
    run = CallbackParameters(optimizer=nn.SGD(net.trainable_params(), 0.1))
    run_context = RunContext(run)
    callback.on_train_begin(run_context)
    found = []
    for run.cur_epoch_num, value in enumerate(values, 1):
        run.eval_results = {"acc": value}
        callback.on_train_epoch_end(run_context)
        found.append(float(run.optimizer.learning_rate.asnumpy()))
    return found


def test_plateau_lowers_the_rate(capsys):
    assert rates([0.1] * 5, patience=2, verbose=True) == pytest.approx([0.1, 0.1, 0.01, 0.01, 0.001])
    assert capsys.readouterr().out.splitlines() == [
        "Epoch 00003: ReduceLROnPlateau reducing learning rate to 0.010000001.",
        "Epoch 00005: ReduceLROnPlateau reducing learning rate to 0.001.",
    ]


def test_plateau_cools_down():
    assert rates([0.1] * 6, patience=1, cooldown=2) == pytest.approx([0.1, 0.01, 0.01, 0.001, 0.001, 0.0001])


def test_plateau_has_a_least_rate(capsys):
    found = rates([0.1] * 6, patience=0, min_lr=0.03, factor=0.5, verbose=True)
    assert found == pytest.approx([0.1, 0.05, 0.03, 0.03, 0.03, 0.03])
    assert capsys.readouterr().out.splitlines() == [
        "Epoch 00002: ReduceLROnPlateau reducing learning rate to 0.05.",
        "Epoch 00003: ReduceLROnPlateau reducing learning rate to 0.03.",
    ]


def test_plateau_in_the_other_direction():
    assert rates([0.1, 0.2, 0.3], mode="min", patience=1) == pytest.approx([0.1, 0.01, 0.001])


def test_plateau_needs_one_learning_rate():
    net = nn.Dense(2, 1)
    with pytest.raises(ValueError, match="must be one number"):
        ReduceLROnPlateau().on_train_epoch_end(
            context(optimizer=nn.SGD(net.trainable_params(), [0.1, 0.2]), cur_epoch_num=1)
        )


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: EarlyStopping(mode="x"), ValueError),
        (lambda: EarlyStopping(patience=-1), ValueError),
        (lambda: EarlyStopping(monitor=3), TypeError),
        (lambda: EarlyStopping(verbose=1), TypeError),
        (lambda: EarlyStopping(min_delta="a"), TypeError),
        (lambda: ReduceLROnPlateau(mode="x"), ValueError),
        (lambda: ReduceLROnPlateau(factor=1.0), ValueError),
        (lambda: ReduceLROnPlateau(factor=2), TypeError),
        (lambda: ReduceLROnPlateau(patience=1.5), TypeError),
        (lambda: ReduceLROnPlateau(min_lr="a"), TypeError),
    ],
)
def test_wrong_arguments(make, kind):
    with pytest.raises(kind):
        make()
