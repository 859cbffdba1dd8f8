"""Recording that is told from outside: by a file, while training goes on, and by the environment."""

import json
import logging
import os

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.profiler import DynamicProfilerMonitor, EnvProfiler

BATCHES = [(np.ones((2, 2), np.float32), np.ones((2, 1), np.float32))] * 4


def told(folder, **config):
    """Write the file, newer than before."""
    path = folder / "profiler_config.json"
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(json.dumps(config))
    os.utime(path, ns=(before + 10**9, before + 10**9))


def traces(folder):
    """The folders of what was recorded, relative to another one, with their traces' operations."""
    found = {}
    for path in sorted(folder.rglob("trace.json")):
        events = json.loads(path.read_text())
        events = events["traceEvents"] if isinstance(events, dict) else events
        found[path.relative_to(folder).parts[0]] = [e.get("name", "") for e in events]
    return found


def test_a_model_records_the_steps_of_the_file(tmp_path):
    net = nn.Dense(2, 1)
    told(tmp_path, start_step=2, stop_step=3)
    monitor = DynamicProfilerMonitor(str(tmp_path), output_path=str(tmp_path / "out"))
    ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params())).train(1, BATCHES, callbacks=[monitor])
    found = traces(tmp_path / "out")
    assert list(found) == ["rank0_start2_stop3"] and any("Dense" in name for name in found["rank0_start2_stop3"])


def test_a_loop_of_its_own_follows_changes_of_the_file(tmp_path, monkeypatch):
    monitor = DynamicProfilerMonitor(str(tmp_path), output_path=str(tmp_path / "out"))
    assert json.loads((tmp_path / "profiler_config.json").read_text())["start_step"] == -1
    monkeypatch.setattr(monitor, "_interval", 0)
    x = ms.Tensor([1.0])
    for number in range(1, 7):
        getattr(ms.ops, ["exp", "sin", "cos", "tanh", "sqrt", "log"][number - 1])(x)
        if number == 2:
            told(tmp_path, start_step=4, stop_step=5)
        if number == 5:
            told(tmp_path, start_step=3, stop_step=3, prof_path=str(tmp_path / "other"))  # it is past
        monitor.step()
    found = traces(tmp_path / "out")
    assert list(found) == ["rank0_start4_stop5"] and not (tmp_path / "other").exists()
    names = " ".join(found["rank0_start4_stop5"]).lower()
    assert "tanh" in names and "sqrt" in names and "cos" not in names and "log" not in names


def test_a_wrong_file_is_told_of(tmp_path, caplog):
    told(tmp_path, start_step=3, stop_step=2)
    with caplog.at_level(logging.ERROR, "dist_ms"):
        DynamicProfilerMonitor(str(tmp_path)).step()
    assert "'start_step' must be an int, not above 'stop_step'" in caplog.text
    for wrong, error in (({"cfg_path": 3}, TypeError), ({"poll_interval": 0}, ValueError)):
        with pytest.raises(error, match=f"'{next(iter(wrong))}'"):
            DynamicProfilerMonitor(**{"cfg_path": str(tmp_path), **wrong})


def test_the_environment_says_what_to_record(tmp_path, monkeypatch):
    monkeypatch.setattr(EnvProfiler, "profiler", None)
    options = {"start": True, "output_path": str(tmp_path / "out"), "activities": ["CPU"], "record_shapes": True}
    monkeypatch.setenv("MS_PROFILER_OPTIONS", json.dumps({**options, "profiler_level": "Level1"}))
    EnvProfiler.init_profiler()
    assert EnvProfiler.profiler is not None
    ms.ops.tanh(ms.Tensor([1.0]))
    EnvProfiler().analyse()
    assert EnvProfiler.profiler is None
    assert any("tanh" in name.lower() for names in traces(tmp_path).values() for name in names)
    monkeypatch.setenv("MS_PROFILER_OPTIONS", json.dumps({"start": False}))
    EnvProfiler.init_profiler()
    assert EnvProfiler.profiler is None


@pytest.mark.parametrize(
    "text, match",
    [
        ("{", "must hold JSON"),
        ('{"start": true, "x": 1}', r"must have known names, but has \['x'\]"),
        ('{"start": true, "activities": ["x"]}', "must name what can be recorded"),
    ],
)
def test_a_wrong_variable(text, match, monkeypatch):
    monkeypatch.setenv("MS_PROFILER_OPTIONS", text)
    with pytest.raises(ValueError, match=f"MS_PROFILER_OPTIONS {match}"):
        EnvProfiler.init_profiler()
