"""BackupAndRestore and OnRequestExit on one rank."""

import json
import os
import signal

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.train import BackupAndRestore, Callback, LambdaCallback, OnRequestExit, load_checkpoint
from tests.serial.train.model_cases import batches, model, network


class Fails(Callback):
    def on_train_epoch_begin(self, run_context):
        if run_context.original_args().cur_epoch_num == 3:
            raise RuntimeError("lost")


def test_an_interrupted_run_goes_on_from_its_backup(tmp_path):
    backup = BackupAndRestore(str(tmp_path))
    lost = network()
    with pytest.raises(RuntimeError, match="lost"):
        model(lost).train(4, batches(), callbacks=[backup, Fails()])
    assert os.listdir(tmp_path) == ["backup.ckpt"]
    start, net = [], network()
    look = LambdaCallback(on_train_epoch_begin=lambda c: start.append(net.weight.asnumpy().copy()))
    model(net).train(4, batches(), callbacks=[backup, look], initial_epoch=2)
    np.testing.assert_array_equal(start[0], lost.weight.asnumpy())
    assert os.listdir(tmp_path) == []


def test_backups_every_so_many_epochs(tmp_path):
    times = []
    look = LambdaCallback(on_train_epoch_end=lambda c: times.append(os.path.exists(tmp_path / "backup.ckpt")))
    model().train(3, batches(), callbacks=[BackupAndRestore(str(tmp_path), 2, delete_checkpoint=False), look])
    assert times == [False, True, True]
    assert int(load_checkpoint(str(tmp_path / "backup.ckpt"))["global_step"].asnumpy()[0]) == 4


def test_a_run_too_short_for_a_backup_ends_well(tmp_path):
    model().train(1, batches(), callbacks=BackupAndRestore(str(tmp_path), 5))


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [((3,), TypeError), (("",), ValueError), (("b", 0), ValueError), (("b", "step"), TypeError),
     (("b", "epoch", 1), TypeError)],
)  # fmt: skip
def test_wrong_arguments_of_backup(tmp_path, monkeypatch, arguments, kind):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind):
        BackupAndRestore(*arguments)


class Signals(Callback):
    """Sends a signal to this process within a step."""

    def __init__(self, number, step):
        self.number, self.step = number, step

    def on_train_step_begin(self, run_context):
        if run_context.original_args().cur_step_num == self.step:
            os.kill(os.getpid(), self.number)

    def on_eval_step_begin(self, run_context):
        self.on_train_step_begin(run_context)


def test_a_signal_ends_the_run_after_the_step(tmp_path, caplog):
    steps = []
    count = LambdaCallback(on_train_step_end=lambda c: steps.append(c.original_args().cur_step_num))
    before = signal.getsignal(signal.SIGTERM)
    leave = OnRequestExit(file_name="net", directory=str(tmp_path))
    net = network()
    model(net).train(3, batches(), callbacks=[leave, Signals(signal.SIGTERM, 3), count])
    assert (steps, signal.getsignal(signal.SIGTERM)) == ([1, 2, 3], before)
    loaded = load_checkpoint(str(tmp_path / "rank_0" / "net_train.ckpt"))
    wanted = {"epoch_num": 2, "step_num": 3, "batch_num": 2, "global_step": 3}
    assert {name: int(loaded[name].asnumpy().reshape(-1)[0]) for name in wanted} == wanted
    assert not caplog.text
    graph = ms.nn.GraphCell(ms.load(str(tmp_path / "rank_0" / "net_train.mindir")))
    x = ms.ops.ones(graph.graph.inputs[0][0])
    np.testing.assert_allclose(graph(x).asnumpy(), net(x).asnumpy(), rtol=1e-6)


def test_a_network_that_cannot_be_exported_is_named(tmp_path, caplog):
    class Places(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = network()

        def construct(self, x):
            ms.ops.nonzero(x)
            return self.net(x)

    leave = OnRequestExit(directory=str(tmp_path))
    model(Places()).train(3, batches(), callbacks=[leave, Signals(signal.SIGTERM, 1)])
    assert os.listdir(tmp_path / "rank_0") == ["Net_train.ckpt"]
    assert "was not written to a file of MINDIR: For 'OnRequestExit', the operation 'NonZero'" in caplog.text


def test_another_signal_and_no_files(tmp_path):
    leave = OnRequestExit(False, False, directory=str(tmp_path), sig=signal.SIGUSR1)
    model().train(3, batches(), callbacks=[leave, Signals(signal.SIGUSR1, 1)])
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_the_next_run_begins_with_what_was_saved(tmp_path):
    leave = OnRequestExit(directory=str(tmp_path), save_mindir=False)
    first = network()
    model(first).train(3, batches(), callbacks=[leave, Signals(signal.SIGTERM, 3)])
    start, net = [], network()
    look = LambdaCallback(on_train_epoch_begin=lambda c: start.append(net.weight.asnumpy().copy()))
    model(net).train(1, batches(), callbacks=[OnRequestExit(directory=str(tmp_path)), look])
    np.testing.assert_array_equal(start[0], first.weight.asnumpy())


def test_a_signal_during_evaluation(tmp_path):
    leave = OnRequestExit(directory=str(tmp_path), save_mindir=False)
    seen = []
    count = LambdaCallback(on_eval_step_end=lambda c: seen.append(1))
    model(metrics={"loss"}).eval(batches(3), callbacks=[leave, Signals(signal.SIGTERM, 2), count])
    assert (len(seen), os.listdir(tmp_path / "rank_0")) == (2, ["Net_eval.ckpt"])
    again = network()
    again.weight.set_data(ms.Tensor(np.zeros((1, 2), np.float32)))
    model(again, metrics={"loss"}).eval(batches(), callbacks=OnRequestExit(directory=str(tmp_path)))
    np.testing.assert_array_equal(again.weight.asnumpy(), [[1, 1]])


def test_a_file_asks_as_well(tmp_path, caplog):
    config = tmp_path / "config.json"
    config.write_text("{")
    steps = []

    def write(run_context):
        steps.append(run_context.original_args().cur_step_num)
        if len(steps) == 2:
            config.write_text(json.dumps({"GracefulExit": 1}))

    leave = OnRequestExit(directory=str(tmp_path), save_mindir=False, config_file=str(config))
    model().train(4, batches(), callbacks=[leave, LambdaCallback(on_train_step_end=write)])
    assert steps == [1, 2, 3]
    assert "is no JSON" in caplog.text


def test_no_signal_no_file(tmp_path):
    model().train(1, batches(), callbacks=OnRequestExit(directory=str(tmp_path)))
    assert os.listdir(tmp_path / "rank_0") == []


@pytest.mark.parametrize("options", [{"sig": signal.SIGKILL}, {"sig": "a"}, {"save_ckpt": 1}, {"save_mindir": 0}])
def test_wrong_arguments_of_exit(tmp_path, options):
    with pytest.raises(ValueError):
        OnRequestExit(directory=str(tmp_path), **options)
