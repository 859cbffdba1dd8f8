"""SummaryCollector: which steps it writes and under which names, as MindSpore does; limits and exports of a record."""

import json
import os

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import SummaryCollector, SummaryRecord
from tests.serial.train.summary.test_summary import events, fields, number

X = np.random.default_rng(0).normal(size=(24, 1, 6, 6)).astype(np.float32)
LABELS = (np.arange(24) % 3).astype(np.int32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.flat = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten()
        self.fc, self.fc2 = nn.Dense(72, 3), nn.Dense(3, 3)

    def construct(self, x):
        return self.fc2(self.fc(self.flat(self.bn(self.conv(x)))))


def run(folder, evaluates=False, **options):
    data = ms.dataset.NumpySlicesDataset((X, LABELS), shuffle=False).batch(2)
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(True, "mean"), optimizer, metrics={"acc"})
    collector = SummaryCollector(str(folder), **options)
    model.train(2, data, callbacks=[collector], dataset_sink_mode=False)
    if evaluates:
        model.eval(data, callbacks=[collector], dataset_sink_mode=False)


def steps(folder):
    found = {}
    for step, name, _ in events(folder):
        found.setdefault(step, []).append(name)
    return found


def test_the_steps_and_names_are_those_of_mindspore(tmp_path):
    run(tmp_path, custom_lineage_data={"author": "me", "tries": 2})
    found = steps(tmp_path)
    text = {0: found.pop(0), 24: found.pop(24)}
    names = "input_data/auto loss/auto conv.weight/auto bn.gamma/auto bn.beta/auto fc.weight/auto fc.bias/auto"
    assert found == dict.fromkeys((1, 10, 20), names.split())
    assert [name.split("/")[0] for names in text.values() for name in names] == ["custom_lineage_data", "train_lineage"]
    lineage = next(value for step, _, value in events(tmp_path) if step == 24)
    said = next(v for k, v in fields(lineage[8]) if k == 8)
    settings = json.loads(said)
    assert (settings["optimizer"], settings["batch_size"], settings["epoch"]) == ("Momentum", 2, 2)
    assert settings["learning_rate"] == pytest.approx(0.1)


def test_what_is_chosen(tmp_path):
    chosen = {"histogram_regular": "^fc.*", "collect_input_data": False, "collect_train_lineage": False}
    run(tmp_path / "a", collect_freq=7, collect_specified_data=chosen)
    weights = [f"{name}/auto" for name in ("loss", "fc.weight", "fc.bias", "fc2.weight", "fc2.bias")]
    assert steps(tmp_path / "a") == dict.fromkeys((1, 7, 14, 21), weights)
    only = {"collect_metric": True}
    run(tmp_path / "b", collect_freq=5, keep_default_action=False, collect_specified_data=only)
    found = events(tmp_path / "b")
    assert [(step, name) for step, name, _ in found] == [(step, "loss/auto") for step in (1, 5, 10, 15, 20)]
    assert all(np.isfinite(number(value)) for _, _, value in found)


def test_an_evaluation_has_its_metrics(tmp_path):
    only = {"collect_eval_lineage": True}
    run(tmp_path, evaluates=True, keep_default_action=False, collect_specified_data=only)
    ((_, name, value),) = events(tmp_path)
    said = json.loads(next(v for k, v in fields(value[8]) if k == 8))
    assert name.startswith("eval_lineage") and 0 <= said["acc"] <= 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"summary_dir": 1}, TypeError),
        ({"summary_dir": ""}, ValueError),
        ({"collect_freq": 0}, ValueError),
        ({"collect_freq": 1.5}, TypeError),
        ({"collect_specified_data": {"a": 1}}, ValueError),
        ({"collect_specified_data": 1}, TypeError),
        ({"collect_specified_data": {"collect_metric": 1}}, TypeError),
        ({"collect_specified_data": {"histogram_regular": 1}}, TypeError),
        ({"collect_specified_data": {"collect_landscape": 1}}, TypeError),
        ({"keep_default_action": 1}, TypeError),
        ({"custom_lineage_data": 1}, TypeError),
        ({"custom_lineage_data": {"a": [1]}}, TypeError),
        ({"custom_lineage_data": {1: 1}}, TypeError),
        ({"collect_tensor_freq": 0}, ValueError),
        ({"collect_tensor_freq": "auto"}, TypeError),
        ({"max_file_size": 0}, ValueError),
        ({"export_options": {"a": 1}}, TypeError),
        ({"export_options": {"tensor_format": "x"}}, ValueError),
    ],
)
def test_refused_as_mindspore_refuses(tmp_path, options, error):
    with pytest.raises(error):
        SummaryCollector(**{"summary_dir": str(tmp_path), **options})


def test_a_file_has_its_limit(tmp_path):
    with SummaryRecord(str(tmp_path), max_file_size=100) as summary:
        for step in range(5):
            summary.add_value("scalar", "loss", step)
            if step == 2:
                with pytest.warns(RuntimeWarning, match="'max_file_size', 100 bytes"):
                    summary.record(step)
            else:
                summary.record(step)
    assert [step for step, _, _ in events(tmp_path)] == [0, 1]


def test_tensors_are_exported(tmp_path):
    with SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as summary:
        summary.add_value("tensor", "a", np.arange(3.0))
        summary.record(4)
    (folder,) = [name for name in os.listdir(tmp_path) if name.startswith("export_")]
    assert np.load(tmp_path / folder / "tensor" / "a_4.npy").tolist() == [0, 1, 2]
