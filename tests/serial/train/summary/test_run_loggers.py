"""CSVLogger, JSONLogger, TensorBoardLogger: the records of a run, also of one that was killed or resumed."""

import csv
import json
import signal
import subprocess
import sys

import pytest

from dist_ms.train import CSVLogger, History, JSONLogger, TensorBoardLogger
from tests.serial.train.model_cases import batches, context, model


def test_json_lines_have_steps_epochs_and_what_was_evaluated(tmp_path):
    name, history = tmp_path / "new" / "run.jsonl", History()
    model(metrics={"mae"}).fit(2, batches(3), batches(), 2, callbacks=[JSONLogger(str(name), steps=2), history])
    lines = [json.loads(line) for line in name.read_text().splitlines()]
    kinds = [(line["kind"], line["epoch"], line["step"]) for line in lines]
    assert kinds == [("step", 1, 2), ("epoch", 1, 3), ("step", 2, 4), ("step", 2, 6), ("epoch", 2, 6)]
    assert [line["loss"] for line in lines if line["kind"] == "epoch"] == pytest.approx(history.mean_loss)
    assert "eval_loss" not in lines[1]
    assert lines[-1]["eval_mae"] == pytest.approx(history.history["mae"][0])
    assert lines[-1]["eval_loss"] == pytest.approx(history.history["eval_loss"][0])


def test_a_column_that_appears_later_is_empty_before(tmp_path):
    name = tmp_path / "run.csv"
    name.write_text("of another run\n")
    model(metrics={"mae"}).fit(3, batches(), batches(), [2], callbacks=CSVLogger(str(name)))
    rows = list(csv.DictReader(name.read_text().splitlines()))
    assert list(rows[0]) == ["kind", "epoch", "step", "loss", "eval_mae", "eval_loss"]
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert [bool(row["eval_mae"]) for row in rows] == [False, True, False]
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]


@pytest.mark.parametrize("kind", [CSVLogger, JSONLogger])
def test_a_resumed_run_goes_on_after_the_records_it_knows(kind, tmp_path):
    file = tmp_path / "run"
    first = kind(str(file))
    model().train(2, batches(), callbacks=first)
    state, kept = first.state_dict(), file.read_text()
    model().train(1, batches(), callbacks=first)  # lost with the process
    assert len(file.read_text()) > len(kept)
    again = kind(str(file))
    again.on_train_begin(context())
    again.load_state_dict(state)
    again.on_train_epoch_end(context(cur_epoch_num=3))
    found = file.read_text()
    assert found.startswith(kept) and len(found[len(kept) :].splitlines()) == 1


@pytest.mark.parametrize("kind", [CSVLogger, JSONLogger])
def test_only_rank_0_writes(kind, tmp_path):
    class Other:
        rank = 1

    logger = kind(str(tmp_path / "run"))
    logger.on_train_epoch_end(context(cur_epoch_num=1, ranks=Other()))
    assert logger.records == 1 and not list(tmp_path.iterdir())


def test_what_is_not_finite_is_null(tmp_path):
    logger = JSONLogger(str(tmp_path / "run"))
    logger.on_train_epoch_end(context(cur_epoch_num=1))
    assert json.loads((tmp_path / "run").read_text())["loss"] is None


@pytest.mark.parametrize("kind", [CSVLogger, JSONLogger, TensorBoardLogger])
def test_a_killed_run_leaves_its_records(kind, tmp_path):
    code = (
        "import os, signal, sys; import dist_ms as ms; from tests.serial.train.model_cases import batches, model;"
        "kill = ms.train.LambdaCallback(on_train_epoch_begin=lambda c: c.original_args().cur_epoch_num == 2"
        " and os.kill(os.getpid(), signal.SIGKILL));"
        f"model().train(2, batches(), callbacks=[ms.train.{kind.__name__}(sys.argv[1], steps=1), kill])"
    )
    where = tmp_path / "run"
    run = subprocess.run([sys.executable, "-c", code, str(where)], timeout=120)
    assert run.returncode == -signal.SIGKILL
    file = next(where.iterdir()) if kind is TensorBoardLogger else where
    content = file.read_bytes()
    assert content.count(b"loss") >= 3 if kind is not CSVLogger else len(content.splitlines()) == 4


@pytest.mark.parametrize("kind", [CSVLogger, JSONLogger, TensorBoardLogger])
def test_arguments_that_are_refused(kind):
    with pytest.raises(ValueError, match="'steps'"):
        kind("run", steps=-1)
    with pytest.raises(TypeError):
        kind(3)
