"""Callbacks and Model on several ranks, which are threads here; see rank_threads.py."""

import os
import threading

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import (
    BackupAndRestore,
    Callback,
    CheckpointConfig,
    EarlyStopping,
    History,
    LambdaCallback,
    LossMonitor,
    Model,
    ModelCheckpoint,
    OnRequestExit,
    ReduceLROnPlateau,
    load_checkpoint,
)
from dist_ms.train.callback import on_request_exit, ranks
from dist_ms.train.callback.ranks import Ranks
from tests.serial.train.model_cases import batches, model
from tests.serial.train.rank_threads import run_ranks, run_ranks_all


@pytest.fixture
def on_ranks(monkeypatch):
    """run(size, work): threads whose runs meet as the ranks of a data-parallel job do."""
    here = threading.local()
    monkeypatch.setattr(ranks, "data_parallel_comm", lambda: getattr(here, "comm", None))

    def run(size, work, fails=False):
        def with_comm(comm):
            here.comm = comm
            return work(comm.rank)

        return (run_ranks_all if fails else run_ranks)(size, with_comm)

    return run


class Own(nn.Cell):
    """A shared weight and one of each rank's own."""

    def __init__(self, rank):
        super().__init__()
        self.shared = ms.Parameter(ms.Tensor([[1.0], [1.0]]), name="shared")
        self.own = ms.Parameter(ms.Tensor([float(rank)]), name="own", layerwise_parallel=True)

    def construct(self, x):
        return ms.ops.matmul(x, self.shared) + self.own


def own_model(rank, rate=0.0):
    net = Own(rank)
    return Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), rate))


def files(folder):
    return sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names)


# ---- who has which callbacks
def test_ranks_know_whether_their_callbacks_are_alike(tmp_path):
    watch = lambda: EarlyStopping(monitor="acc")  # noqa: E731
    save = lambda steps=1: ModelCheckpoint(directory=str(tmp_path), config=CheckpointConfig(steps))  # noqa: E731
    cases = [
        ([[watch(), save()], [watch(), save()]], True),
        ([[watch(), LossMonitor()], [watch()]], True),  # LossMonitor talks to nobody
        ([[watch(), save()], [save(), watch()]], False),
        ([[save()], [save(), save()]], False),
        ([[save(1)], [save(2)]], False),  # they would save at different steps
        ([[watch()], []], False),
    ]
    for callbacks, alike in cases:
        assert run_ranks(2, lambda comm, callbacks=callbacks: Ranks(callbacks[comm.rank], comm).alike) == [alike] * 2


class Stepping(Callback):
    def on_train_step_end(self, run_context):
        pass


class Ending(Callback):
    def on_train_end(self, run_context):
        pass


def test_ranks_ask_each_other_after_steps_only_if_someone_may_stop():
    cases = {
        (LossMonitor, History): False,
        (LossMonitor, Ending): False,
        (LossMonitor, Stepping): True,
        (lambda: LambdaCallback(on_train_step_end=print), LossMonitor): True,
        (lambda: LambdaCallback(on_train_end=print), LossMonitor): False,
    }
    for kinds, expected in cases.items():
        found = run_ranks(2, lambda comm, kinds=kinds: Ranks([kinds[comm.rank]()], comm).stops_steps)
        assert found == [expected] * 2


# ---- stopping
class StopOn(Callback):
    def __init__(self, step, moment):
        self.step, self.moment = step, moment

    def on_train_step_end(self, run_context):
        if self.moment == "step" and run_context.original_args().cur_step_num == self.step:
            run_context.request_stop()

    def on_train_epoch_end(self, run_context):
        if self.moment == "epoch" and run_context.original_args().cur_step_num == self.step:
            run_context.request_stop()


@pytest.mark.parametrize(("moment", "steps"), [("step", 3), ("epoch", 4)])
def test_when_one_rank_stops_all_stop_after_the_same_step(on_ranks, moment, steps):
    def work(rank):
        seen = []
        count = LambdaCallback(on_train_step_end=lambda c: seen.append(c.original_args().cur_step_num))
        model().train(9, batches(2), callbacks=[count, StopOn(steps, moment)] if rank == 1 else [count])
        return seen

    assert on_ranks(3, work) == [list(range(1, steps + 1))] * 3


def test_early_stopping_watches_the_mean_over_ranks(on_ranks):
    # Rank 0 gets better, rank 1 worse by more: the mean falls from the first epoch on.
    def work(rank):
        callback = EarlyStopping(monitor="loss", mode="max", patience=2)
        net = nn.Dense(2, 1, weight_init="zeros", bias_init="zeros")
        x = np.zeros((1, 2), np.float32)
        epochs = []
        grow = LambdaCallback(
            on_train_epoch_end=lambda c: (
                epochs.append(c.original_args().cur_epoch_num),
                net.bias.set_data(ms.Tensor([1.0 * len(epochs) if rank == 0 else 0.0], ms.float32)),
            )
        )
        data = [(x, np.full((1, 1), 0.0 if rank == 0 else 9.0, np.float32))]
        Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 1e-9)).train(6, data, callbacks=[callback, grow])
        return epochs, float(callback.best)

    results = on_ranks(2, work)
    assert results[0] == results[1]
    assert results[0][1] == pytest.approx((5.0**2 + 81) / 2)  # the last epoch's mean is the best


def test_early_stopping_on_one_rank_stops_all(on_ranks):
    def work(rank):
        history = History()
        callbacks = [history, EarlyStopping(monitor="loss", patience=0)] if rank == 2 else [history]
        model().train(5, batches(1), callbacks=callbacks)
        return history.epoch["epoch"]

    assert on_ranks(3, work) == [[1]] * 3


def test_plateau_sets_one_rate_on_all_ranks(on_ranks):
    def work(rank):
        trained = model()
        plateau = ReduceLROnPlateau(monitor="loss", patience=1, factor=0.5, mode="max")
        trained.train(4, batches(1, scale=1.0 + rank), callbacks=plateau)
        return float(trained._optimizer.learning_rate.asnumpy())

    found = on_ranks(2, work)
    assert found[0] == found[1] < 0.01


# ---- data
def test_ranks_with_unequal_epochs_all_fail(on_ranks):
    for make in (list, iter):  # with and without a length
        errors = on_ranks(2, lambda rank, make=make: model().train(1, make(batches(2 + rank))), fails=True)
        assert [type(e) for e in errors] == [ValueError] * 2
        assert "must be the same on all ranks, but got rank 0: " in str(errors[0])
        assert "[rank 1 of 2]" in str(errors[1])


def test_evaluation_is_over_all_ranks_whatever_their_shards(on_ranks):
    data = batches(4, scale=0.3)
    expected = model(metrics={"mse", "loss", "mae"}).eval(data)
    shards = [data[:1], [], data[1:]]
    for result in on_ranks(3, lambda rank: model(metrics={"mse", "loss", "mae"}).eval(shards[rank])):
        assert result == pytest.approx(expected, rel=1e-12)


def test_eval_loss_in_fit_is_over_all_ranks(on_ranks):
    data = batches(3, scale=0.3)

    def work(rank):
        found = []
        note = LambdaCallback(on_train_epoch_end=lambda c: found.append(c.original_args().eval_results))
        net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
        trained = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 1e-9), metrics={"mse"})
        trained.fit(1, data[:1], data[rank : 2 * rank + 1], callbacks=note)
        return found[0]

    results = on_ranks(2, work)
    assert results[0] == results[1]
    assert results[0]["eval_loss"] == pytest.approx(results[0]["mse"], rel=1e-6)


# ---- checkpoints
def test_ranks_with_one_folder_share_a_file_and_keep_their_own(on_ranks, tmp_path):
    def work(rank):
        config = CheckpointConfig(1, keep_checkpoint_max=2)
        own_model(rank).train(3, batches(1), callbacks=ModelCheckpoint("s", str(tmp_path), config))

    on_ranks(3, work)
    names = ["s-2_1.ckpt", "s-3_1.ckpt"]
    assert files(tmp_path) == sorted([*names, *(f"rank_{r}/{n}" for r in range(3) for n in names)])
    assert "own" not in load_checkpoint(str(tmp_path / "s-3_1.ckpt"))
    own = [load_checkpoint(str(tmp_path / f"rank_{r}" / "s-3_1.ckpt")) for r in range(3)]
    assert [float(values["own"].asnumpy()[0]) for values in own] == [0, 1, 2]
    assert {name for values in own for name in values} == {"own", "accum.own", "stat.own"}


def test_ranks_without_parameters_of_their_own_write_one_file(on_ranks, tmp_path):
    on_ranks(2, lambda rank: model().train(1, batches(1), callbacks=ModelCheckpoint("s", str(tmp_path))))
    assert files(tmp_path) == ["s-1_1.ckpt"]


def test_ranks_with_folders_of_their_own_write_everything_there(on_ranks, tmp_path):
    def work(rank):
        own_model(rank).train(1, batches(1), callbacks=ModelCheckpoint("s", str(tmp_path / str(rank))))

    on_ranks(2, work)
    assert files(tmp_path) == ["0/s-1_1.ckpt", "1/s-1_1.ckpt"]
    loaded = load_checkpoint(str(tmp_path / "1" / "s-1_1.ckpt"))
    assert ("shared" in loaded, float(loaded["own"].asnumpy()[0])) == (True, 1.0)


def test_one_rank_alone_may_save(on_ranks, tmp_path):
    def work(rank):
        callbacks = [ModelCheckpoint("s", str(tmp_path))] if rank == 1 else [LossMonitor(0)]
        own_model(rank).train(1, batches(1), callbacks=callbacks)

    on_ranks(3, work)
    assert files(tmp_path) == ["s-1_1.ckpt"]
    assert float(load_checkpoint(str(tmp_path / "s-1_1.ckpt"))["own"].asnumpy()[0]) == 1.0


def test_all_ranks_use_the_prefix_of_the_writer(on_ranks, tmp_path):
    (tmp_path / "s-1_1.ckpt").touch()

    def work(rank):
        saver = ModelCheckpoint("s", str(tmp_path))
        saver._prefix = "s_1" if rank == 0 else "s"  # as if rank 1 had not seen the old file
        own_model(rank).train(1, batches(1), callbacks=saver)

    on_ranks(2, work)
    assert files(tmp_path) == ["rank_0/s_1-1_1.ckpt", "rank_1/s_1-1_1.ckpt", "s-1_1.ckpt", "s_1-1_1.ckpt"]


def test_a_failed_save_is_an_error_on_every_rank(on_ranks, tmp_path, monkeypatch):
    from dist_ms.train.callback import model_checkpoint

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(model_checkpoint, "save_checkpoint", fail)
    errors = on_ranks(
        2, lambda rank: model().train(1, batches(1), callbacks=ModelCheckpoint("s", str(tmp_path))), fails=True
    )
    assert [type(e) for e in errors] == [OSError] * 2
    assert "[rank 0 of 2] disk full" in str(errors[1])


def test_redundancy_removed(on_ranks, tmp_path):
    def work(rank):
        config = CheckpointConfig(1, remove_redundancy=True)
        own_model(rank).train(1, batches(1), callbacks=ModelCheckpoint("s", str(tmp_path), config))

    on_ranks(2, work)
    assert files(tmp_path) == ["rank_0/s-1_1.ckpt", "rank_1/s-1_1.ckpt"]
    parts = [set(load_checkpoint(str(tmp_path / name))) for name in files(tmp_path)]
    both = parts[0] & parts[1]
    assert both == {"own", "accum.own", "stat.own"}
    every = {p.name for p in own_model(0).train_network.get_parameters()}
    assert parts[0] | parts[1] == every
    assert all(part - both for part in parts)


def test_backup_is_written_once_and_restored_everywhere(on_ranks, tmp_path):
    def work(rank):
        own_model(rank, rate=0.1).train(
            2, batches(1), callbacks=BackupAndRestore(str(tmp_path), delete_checkpoint=False)
        )
        net = Own(7)
        restored = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.0))
        seen = []
        look = LambdaCallback(on_train_epoch_begin=lambda c: seen.append(float(net.own.asnumpy()[0])))
        backup = BackupAndRestore(str(tmp_path), save_freq=9)
        restored.train(1, batches(1), callbacks=[backup, look])
        return seen[0]

    own = on_ranks(2, work)
    assert len(set(own)) == 2
    assert max(own) < 2
    assert files(tmp_path) == []  # deleted when the run ended well


def test_ranks_that_do_not_see_the_backup_are_named(on_ranks, tmp_path):
    os.makedirs(tmp_path / "0")
    ms.save_checkpoint(Own(0), str(tmp_path / "0" / "backup.ckpt"))

    def work(rank):
        own_model(rank).train(1, batches(1), callbacks=BackupAndRestore(str(tmp_path / str(rank))))

    errors = on_ranks(2, work, fails=True)
    assert ["ranks [1] do not see" in str(e) for e in errors] == [True, True]


def test_a_signal_to_one_rank_ends_all_and_saves(on_ranks, tmp_path, monkeypatch):
    monkeypatch.setattr(on_request_exit.signal, "signal", lambda *args: None)  # only the main thread may
    monkeypatch.chdir(tmp_path)

    def work(rank):
        leave = OnRequestExit(file_name="net", directory=str(tmp_path), save_mindir=False)
        asked = LambdaCallback(
            on_train_step_begin=lambda c: (
                rank == 1 and c.original_args().cur_step_num == 2 and leave._asked_by_signal(15, None)
            )
        )
        history = History()
        own_model(rank).train(5, batches(3), callbacks=[asked, leave, history])
        again = own_model(5)
        seen = []
        look = LambdaCallback(on_train_epoch_begin=lambda c: seen.append(float(again._network.own.asnumpy()[0])))
        again.train(1, batches(1), callbacks=[OnRequestExit(file_name="net", directory=str(tmp_path)), look])
        return history.epoch["epoch"], seen

    # Rank 0's own values are in its folder with what all have.
    assert on_ranks(2, work) == [([1], [0.0]), ([1], [1.0])]
    assert files(tmp_path) == ["rank_0/net_train.ckpt", "rank_1/net_train.ckpt"]
    shared = load_checkpoint(str(tmp_path / "rank_0" / "net_train.ckpt"))
    facts = [int(shared[name].asnumpy().reshape(-1)[0]) for name in ("epoch_num", "step_num", "batch_num")]
    assert facts == [1, 2, 3]
    assert int(shared["global_step"].asnumpy().reshape(-1)[0]) == 2


def test_a_save_by_seconds_is_decided_by_the_first_clock(on_ranks, tmp_path, monkeypatch):
    from dist_ms.train.callback import model_checkpoint

    clock = threading.local()
    monkeypatch.setattr(model_checkpoint.time, "time", lambda: getattr(clock, "now", 0.0))

    def work(rank):
        saver = ModelCheckpoint("s", str(tmp_path), CheckpointConfig(0, 10, keep_checkpoint_max=9))
        saver._last_time = clock.now = 0.0

        def tick(run_context):
            clock.now += 4 if rank == 1 else 1

        own_model(rank).train(1, batches(6), callbacks=[LambdaCallback(on_train_step_begin=tick), saver])

    on_ranks(2, work)
    assert files(tmp_path) == sorted(f"{d}s-1_{n}.ckpt" for d in ("", "rank_0/", "rank_1/") for n in (3, 6))
