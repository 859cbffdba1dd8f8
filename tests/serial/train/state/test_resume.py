"""Model.train(resume=): a run that was broken off anywhere ends with the bits of one that was not."""

import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import interruption, nn
from dist_ms.train.callback import run_checkpoint
from dist_ms.train.state.folder import Folder
from tests.serial.train.state.resumed_model import Break, Broken, Losses, make_data, make_model, weights

EPOCHS = 3  # of 5 steps


def unbroken(**kind):
    model, losses = make_model(**kind), Losses()
    model.train(EPOCHS, make_data(), callbacks=losses)
    return weights(model), losses.by_step


def assert_same(found, wanted):
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.parametrize("step", [1, 4, 5, 6, 10, 14, 15])
def test_resumed_bits(tmp_path, step):
    wanted, losses = unbroken()
    with pytest.raises(Broken):
        make_model().train(
            EPOCHS, make_data(), callbacks=[ms.train.RunCheckpoint(str(tmp_path), every_steps=2), Break(step)]
        )
    model, rest = make_model(), Losses()
    if step > 1:
        np.random.rand(7)  # whatever came before has no influence
    model.train(EPOCHS, make_data(), callbacks=rest, resume=str(tmp_path))
    assert_same(weights(model), wanted)
    saved = step - step % 2
    assert rest.by_step == {n: loss for n, loss in losses.items() if n > saved}


def test_saving_changes_no_bit(tmp_path):
    wanted, _ = unbroken()
    model = make_model()
    model.train(EPOCHS, make_data(), callbacks=ms.train.RunCheckpoint(str(tmp_path), every_steps=1, keep=2))
    assert_same(weights(model), wanted)
    assert Folder(str(tmp_path)).steps() == [14, 15]
    assert sorted(os.listdir(tmp_path)) == ["step-00000014", "step-00000015"]


def test_resume_without_a_state_starts(tmp_path):
    wanted, _ = unbroken()
    model = make_model()
    model.train(EPOCHS, make_data(), resume=str(tmp_path / "none"))
    assert_same(weights(model), wanted)


def test_resume_of_a_finished_run_trains_nothing(tmp_path):
    def checkpoint():
        return ms.train.RunCheckpoint(str(tmp_path))

    model = make_model()
    model.train(EPOCHS, make_data(), callbacks=checkpoint())
    again, losses = make_model(), Losses()
    again.train(EPOCHS, make_data(), callbacks=[losses, checkpoint()], resume=str(tmp_path))
    assert losses.by_step == {}
    assert_same(weights(again), weights(model))


def test_resume_of_a_list(tmp_path):
    batches = [(np.full((2, 3), i, np.float32), np.full((2, 1), i, np.float32)) for i in range(4)]
    whole = make_model()
    whole.train(2, batches)
    with pytest.raises(Broken):
        make_model().train(2, batches, callbacks=[ms.train.RunCheckpoint(str(tmp_path), every_steps=3), Break(7)])
    resumed = make_model()
    resumed.train(2, batches, resume=str(tmp_path))
    assert_same(weights(resumed), weights(whole))


def test_callbacks_go_on(tmp_path):
    def callbacks():
        checkpoint = ms.train.RunCheckpoint(str(tmp_path), every_steps=3, keep=None, best="mae")
        return [ms.train.History(), ms.train.EarlyStopping("mae", patience=50), checkpoint]

    whole = callbacks()
    make_model().fit(EPOCHS, make_data(), make_data(), callbacks=whole)
    folder = Folder(str(tmp_path))
    assert {3, 6, 9, 12, 15} <= set(folder.steps())
    assert folder.best()["metric"] == "mae" and folder.best()["value"] == whole[1].best
    for step in folder.steps():
        if step != 6:  # in the middle of the second epoch
            shutil.rmtree(folder.of(step))
    rest = callbacks()
    make_model().fit(EPOCHS, make_data(), make_data(), callbacks=rest, resume=str(tmp_path))
    assert (rest[1].best, rest[1].wait) == (whole[1].best, whole[1].wait)
    assert rest[0].history == whole[0].history


def test_best_is_kept(tmp_path):
    checkpoint = ms.train.RunCheckpoint(str(tmp_path), every_steps=1, keep=1, best="mae", mode="max")
    make_model().fit(EPOCHS, make_data(), make_data(), callbacks=checkpoint)
    folder = Folder(str(tmp_path))
    assert folder.best()["step"] in folder.steps() and 15 in folder.steps()
    assert len(folder.steps()) <= 2


def test_every_seconds(tmp_path, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(run_checkpoint, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    make_model().train(1, make_data(), callbacks=ms.train.RunCheckpoint(str(tmp_path), every_seconds=2, keep=None))
    assert Folder(str(tmp_path)).steps() == [2, 4, 5]


def test_bad_arguments(tmp_path):
    for arguments in ({"every_steps": 0}, {"every_seconds": -1}, {"keep": 0}, {"mode": "best"}):
        with pytest.raises(ValueError):
            ms.train.RunCheckpoint(str(tmp_path), **arguments)
    for arguments in ({"directory": 3}, {"every_seconds": "1"}, {"wait": 1}):
        with pytest.raises(TypeError):
            ms.train.RunCheckpoint(**{"directory": str(tmp_path), **arguments})
    with pytest.raises(ValueError, match="initial_epoch"):
        make_model().train(2, make_data(), resume=str(tmp_path), initial_epoch=1)


def test_another_model_is_refused(tmp_path):
    make_model().train(1, make_data(), callbacks=ms.train.RunCheckpoint(str(tmp_path)))
    net = nn.Dense(3, 2)
    other = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()))
    with pytest.raises(ValueError, match="the state must have"):
        other.train(2, make_data(), resume=str(tmp_path))


class Ask(ms.train.Callback):
    """Asks the run to stop, as a signal does."""

    def __init__(self, step, moment):
        self.step, self.moment = step, moment

    def _ask(self, run_context, moment):
        if moment == self.moment and run_context.original_args().cur_step_num == self.step:
            interruption.request()

    def on_train_step_end(self, run_context):
        self._ask(run_context, "train")

    def on_eval_step_end(self, run_context):
        self._ask(run_context, "eval")


@pytest.mark.parametrize(("step", "moment"), [(3, "train"), (10, "train"), (2, "eval"), (5, "eval")])
def test_stopped_on_request(tmp_path, capsys, step, moment):
    whole = make_model()
    history = ms.train.History()
    whole.fit(EPOCHS, make_data(), make_data(), callbacks=history)
    with pytest.raises(SystemExit) as left:
        checkpoint = ms.train.RunCheckpoint(str(tmp_path), every_steps=100)
        make_model().fit(
            EPOCHS, make_data(), make_data(), callbacks=[ms.train.History(), checkpoint, Ask(step, moment)]
        )
    assert left.value.code == interruption.EXIT_CODE
    assert f"saved to {tmp_path}" in capsys.readouterr().err
    model, rest = make_model(), ms.train.History()
    model.fit(EPOCHS, make_data(), make_data(), callbacks=rest, resume=str(tmp_path))
    assert_same(weights(model), weights(whole))
    assert rest.history == history.history
