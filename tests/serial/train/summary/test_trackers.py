"""MLflowLogger and WandbLogger: what their viewers' own packages read of a run."""

import json
import struct
import sys
import time
from types import SimpleNamespace

import pytest

import dist_ms as ms
from dist_ms.train import History, MLflowLogger, WandbLogger
from tests.serial.train.model_cases import batches, context, model

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*:DeprecationWarning", "ignore:.*:PendingDeprecationWarning"
)  # of packages used by them


def wandb_records(folder):
    """What the run files in a folder hold, oldest first: a log of blocks of 32 KB, with pieces behind their headers."""
    from wandb.proto import wandb_internal_pb2 as messages

    found = []
    for file in sorted(folder.glob("wandb/offline-run-*/run-*.wandb")):
        content, at, piece = file.read_bytes(), 7, b""
        assert content[:4] == b":W&B"
        while at < len(content):
            if 32768 - at % 32768 < 7:
                at += 32768 - at % 32768
                continue
            _, length, kind = struct.unpack("<IHB", content[at : at + 7])
            piece += content[at + 7 : at + 7 + length]
            at += 7 + length
            if kind in (1, 4):  # whole, or the last of several
                record = messages.Record()
                record.ParseFromString(piece)
                found.append(record)
                piece = b""
    return found


def wandb_rows(folder, runs=1):
    """The rows of a run's history, without wandb's own columns, once its process has written the ends of all runs."""
    rows, deadline = [], time.monotonic() + 30
    while sum(r.WhichOneof("record_type") == "exit" for r in wandb_records(folder)) < runs:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for record in wandb_records(folder):
        if record.WhichOneof("record_type") == "history":
            row = {".".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
            rows.append({k: v for k, v in row.items() if k == "_step" or not k.startswith("_")})
    return rows


@pytest.fixture
def store(tmp_path):
    """A database of MLflow's, and its client."""
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    return uri, mlflow.MlflowClient(tracking_uri=uri)


def test_mlflow_has_steps_epochs_parameters_and_what_was_evaluated(store):
    uri, client = store
    logger, history = MLflowLogger(uri, "lines", "first", {"rate": 0.1}, steps=2), History()
    model(metrics={"mae"}).fit(2, batches(3), batches(), 2, callbacks=[logger, history])
    run = client.get_run(logger.run_id)
    assert run.data.params == {"rate": "0.1"} and run.info.run_name == "first" and run.info.status == "FINISHED"
    assert client.get_experiment_by_name("lines").experiment_id == run.info.experiment_id

    def values(name):
        return {metric.step: metric.value for metric in client.get_metric_history(logger.run_id, name)}

    assert list(values("loss")) == [2, 4, 6]
    assert values("epoch/loss") == pytest.approx({3: history.mean_loss[0], 6: history.mean_loss[1]})
    assert values("epoch/eval_mae") == pytest.approx({6: history.history["mae"][0]})
    second = MLflowLogger(uri, "lines")
    model().train(1, batches(), callbacks=second)
    assert second.run_id != logger.run_id
    assert client.get_run(second.run_id).info.experiment_id == run.info.experiment_id


def test_a_resumed_mlflow_run_goes_on(store):
    uri, client = store
    first = MLflowLogger(uri)
    model().train(2, batches(), callbacks=first)
    again = MLflowLogger(uri)
    again.load_state_dict(first.state_dict())
    with again:
        again.on_train_step_end(context(cur_epoch_num=3, net_outputs=1.0))
        again.on_train_epoch_end(context(cur_epoch_num=3))
        assert client.get_run(first.run_id).info.status == "RUNNING"
    assert again.run_id == first.run_id and client.get_run(first.run_id).info.status == "FINISHED"
    assert [metric.step for metric in client.get_metric_history(first.run_id, "epoch/loss")] == [2, 4, 5]


def test_mlflow_is_told_that_training_failed_and_not_of_what_is_not_finite(store):
    uri, client = store
    logger = MLflowLogger(uri, steps=1)

    def stop(run_context):
        if run_context.original_args().cur_epoch_num == 2:
            raise RuntimeError("enough")

    callbacks = [logger, ms.train.LambdaCallback(on_train_epoch_begin=stop)]
    with pytest.raises(RuntimeError, match="enough"):
        model().train(2, batches(scale=float("nan")), callbacks=callbacks)
    run = client.get_run(logger.run_id)
    assert run.info.status == "FAILED" and run.data.metrics == {} and logger.records == 3


def test_wandb_has_steps_epochs_settings_and_what_was_evaluated(tmp_path):
    pytest.importorskip("wandb")
    logger, history = WandbLogger("lines", str(tmp_path / "new"), "first", {"rate": 0.1}, steps=2), History()
    model(metrics={"mae"}).fit(2, batches(3), batches(), 2, callbacks=[logger, history])
    rows = wandb_rows(tmp_path / "new")
    # wandb puts what is logged at one step into one row.
    assert [(row["_step"], row["epoch"]) for row in rows] == [(2, 1), (3, 1), (4, 2), (6, 2)]
    assert rows[1]["epoch/loss"] == pytest.approx(history.mean_loss[0]) and "loss" not in rows[1]
    assert rows[3]["epoch/eval_mae"] == pytest.approx(history.history["mae"][0]) and "loss" in rows[3]
    run = next(r.run for r in wandb_records(tmp_path / "new") if r.WhichOneof("record_type") == "run")
    assert (run.project, run.display_name, run.run_id) == ("lines", "first", logger.run_id)
    assert {item.key: item.value_json for item in run.config.update}["rate"] == "0.1"


def test_a_resumed_wandb_run_keeps_its_number(tmp_path):
    pytest.importorskip("wandb")
    first = WandbLogger("lines", str(tmp_path))
    model().train(2, batches(), callbacks=first)
    again = WandbLogger("lines", str(tmp_path))
    again.load_state_dict(first.state_dict())
    with again:
        again.on_train_step_end(context(cur_epoch_num=3, net_outputs=1.0))
        again.on_train_epoch_end(context(cur_epoch_num=3))
    assert again.run_id == first.run_id
    assert [row["_step"] for row in wandb_rows(tmp_path, 2)] == [2, 4, 5]
    runs = [r.run.run_id for r in wandb_records(tmp_path) if r.WhichOneof("record_type") == "run"]
    assert set(runs) == {first.run_id}


@pytest.mark.parametrize("kind", [MLflowLogger, WandbLogger])
def test_only_rank_0_writes(kind, tmp_path):
    logger = kind("here")
    logger.on_train_epoch_end(context(cur_epoch_num=1, ranks=SimpleNamespace(rank=1)))
    with logger:
        assert logger.records == 1
    assert logger.run_id is None


@pytest.mark.parametrize(("kind", "package"), [(MLflowLogger, "mlflow"), (WandbLogger, "wandb")])
def test_a_missing_package_is_named_with_the_remedy(kind, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"'{kind.__name__}'.*'{package}'.*pip install dist_ms\[{package}\]"):
        model().train(1, batches(), callbacks=kind("here"))


@pytest.mark.parametrize("kind", [MLflowLogger, WandbLogger])
def test_arguments_that_are_refused(kind):
    with pytest.raises(ValueError, match="'steps'"):
        kind("here", steps=-1)
    with pytest.raises(TypeError, match="'config'"):
        kind("here", config=[1])
    with pytest.raises(TypeError):
        kind(3)
