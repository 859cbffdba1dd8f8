"""Stopping on request: one process, and ranks as threads."""

import signal
import subprocess
import sys
import textwrap

import pytest

from dist_ms import interruption
from dist_ms.train import Callback, LambdaCallback, OnRequestExit
from dist_ms.train.callback import BackupAndRestore, ModelCheckpoint
from dist_ms.train.callback._checkpoint import CheckpointConfig
from tests.serial.train.callback.test_backup_and_exit import Signals
from tests.serial.train.model_cases import batches, model
from tests.serial.train.rank_threads import run_ranks


class Moments(Callback):
    """Writes down what it is called for."""

    def __init__(self):
        self.seen = []

    def on_train_step_end(self, run_context):
        self.seen.append(run_context.original_args().cur_step_num)

    def on_train_epoch_end(self, run_context):
        self.seen.append("epoch")

    def on_train_interrupted(self, run_context):
        run_context.original_args().saved_to = "there"
        self.seen.append("interrupted")

    def on_train_end(self, run_context):
        self.seen.append("end")


@pytest.mark.parametrize("number", interruption.SIGNALS)
def test_a_signal_ends_training_after_the_step_and_the_process_with_75(number, capsys):
    moments, before = Moments(), signal.getsignal(number)
    with pytest.raises(SystemExit) as left:
        model().train(3, batches(), callbacks=[Signals(number, 3), moments])
    assert left.value.code == interruption.EXIT_CODE == 75
    assert moments.seen == [1, 2, "epoch", 3, "interrupted", "end"]
    name = signal.Signals(number).name
    assert capsys.readouterr().err == (
        f"dist_ms: stopped on request ({name}) after step 3 in epoch 2; saved to there.\n"
    )
    assert signal.getsignal(number) is before and interruption.requested() is None


def test_an_evaluation_is_cut_short(capsys):
    steps, moments = [], Moments()

    class Looks(Callback):
        def on_eval_step_end(self, run_context):
            steps.append(1)
            interruption.request()

    with pytest.raises(SystemExit):
        model(metrics={"loss"}).fit(2, batches(), batches(5), callbacks=[Looks(), moments])
    assert (len(steps), moments.seen) == (1, [1, 2, "interrupted", "end"])
    assert "stopped on request after step 2 in epoch 1" in capsys.readouterr().err


def test_at_a_prompt_the_session_stays(monkeypatch):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with pytest.raises(KeyboardInterrupt):
        model().train(3, batches(), callbacks=Signals(signal.SIGINT, 1))


def test_a_handler_of_the_script_s_stays():
    seen = []
    old = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        model().train(2, batches(), callbacks=Signals(signal.SIGUSR1, 1))
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert seen == [signal.SIGUSR1]


def test_exit_and_exception_save_and_backup(tmp_path, capsys):
    config = CheckpointConfig(100, exception_save=True)
    callbacks = [
        OnRequestExit(directory=str(tmp_path), save_mindir=False, sig=signal.SIGUSR2),
        ModelCheckpoint("net", str(tmp_path / "ck"), config),
        BackupAndRestore(str(tmp_path / "backup")),
        Signals(signal.SIGTERM, 3),
    ]
    with pytest.raises(SystemExit):
        model().train(3, batches(), callbacks=callbacks)
    found = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.ckpt"))
    assert found == ["backup/backup.ckpt", "ck/net-2_1.ckpt", "ck/net-2_1_breakpoint.ckpt", "rank_0/Net_train.ckpt"]
    assert f"saved to {tmp_path}" in capsys.readouterr().err


def test_a_second_signal_ends_the_process_and_one_that_was_doubled_does_not():
    code = """
    import os, signal, time
    from dist_ms import interruption
    with interruption.watch() as told:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        print(told.agreed(), flush=True)
        interruption._came["time"] -= 2
        os.kill(os.getpid(), signal.SIGINT)
        print("still there")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "True\n", "")


@pytest.mark.parametrize("size", [2, 3])
def test_ranks_agree_on_a_step(size):
    def work(comm):
        with interruption.Watch(comm) as told:
            for step in range(1, 501):
                if comm.rank == 0 and step == 40:
                    interruption.request(signal.SIGTERM)
                if told.agreed():
                    break
            return step

    found = run_ranks(size, work)
    assert len(set(found)) == 1 and 40 <= found[0] <= 40 + interruption._STEPS
    assert interruption.requested() is None


def test_asking_costs_next_to_nothing():
    asked = []

    class Counts:
        rank, size = 0, 2

        def all_reduce(self, array, op):
            asked.append(op)
            return array

    with interruption.watch(Counts()) as told:
        for _ in range(1000):
            assert not told.agreed()
    assert 1000 / interruption._STEPS <= len(asked) < 40


def test_a_callback_s_wish_is_no_interruption():
    moments = Moments()
    stop = LambdaCallback(on_train_step_end=lambda c: c.request_stop())
    model().train(3, batches(), callbacks=[stop, moments])
    assert moments.seen == [1, "epoch", "end"]
