"""profile: what is recorded, when, and what stands in the files."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.profiler import (
    AicoreMetrics,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    mstx,
    profile,
    schedule,
    tensorboard_trace_handler,
)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        return ops.exp(self.dense(x))


X = ms.Tensor(np.ones((2, 4), np.float32))


def names(spans, kind):
    return [span.name for span in spans if span.kind == kind]


def files(folder):
    (made,) = folder.iterdir()
    with open(made / "operators.csv", newline="") as file:
        return json.loads((made / "trace.json").read_text())["traceEvents"], list(csv.DictReader(file)), made


def test_operations_and_cells_are_recorded_inside_only(tmp_path):
    net = Net()
    net(X)
    with profile(output_path=str(tmp_path), record_shapes=True) as prof:
        net(X)
        ops.exp(ms.Tensor([1.0]))
    net(X)
    assert names(prof.spans, "operation").count("Exp") == 2 and names(prof.spans, "cell") == ["Dense", "Net"]
    inner, outer = (next(s for s in prof.spans if s.name == name) for name in ("Dense", "Net"))
    assert outer.start <= inner.start and inner.start + inner.length <= outer.start + outer.length
    assert {span.shapes for span in prof.spans if span.name == "Exp"} == {((2, 3),), ((1,),)}
    assert sys.getprofile() is None and not list(tmp_path.iterdir())


def test_gradients_are_recorded():
    net = Net()
    with profile(output_path="unused") as prof:
        ms.grad(net, None, net.trainable_params())(X)
    found = names(prof.spans, "operation")
    with profile(output_path="unused") as forward:
        net(X)
    assert len(found) > len(names(forward.spans, "operation"))


def test_files(tmp_path):
    prof = profile(output_path=str(tmp_path), record_shapes=True)
    ops.exp(X), ops.exp(X), ops.exp(ms.Tensor([1.0]))
    part = mstx.range_start("part")
    mstx.mark("here")
    mstx.range_end(part)
    prof.add_metadata("who", "me")
    prof.add_metadata_json("numbers", "[1, 2]")
    assert prof.analyse() == str(files(tmp_path)[2])
    events, rows, made = files(tmp_path)
    assert [e["name"] for e in events if e["cat"] == "mark"] == ["here", "part"]
    assert all(e["ph"] == ("X" if e["dur"] else "i") for e in events)
    counted = {(row["op_type"], row["input_shape"]): int(row["op_occurrences"]) for row in rows}
    assert counted["Exp", "2,4"] == 2 and counted["Exp", "1"] == 1
    assert abs(sum(float(row["percent"]) for row in rows) - 100) < 1e-6
    assert json.loads((made / "profiler_metadata.json").read_text()) == {"who": "me", "numbers": [1, 2]}
    found = json.loads(prof.op_analyse(["Exp", "None"]))
    assert [row["op_occurrences"] for row in found["Exp"]] in ([2, 1], [1, 2]) and found["None"] == []
    assert found["device_id"] == "0"


def test_what_operations_compute_and_move(tmp_path):
    net, narrow = nn.Dense(4, 3), ms.Tensor(np.ones((8, 4)), ms.bfloat16)
    with profile(output_path=str(tmp_path), record_shapes=True) as prof:
        ops.reshape(net(X), (3, 2))
        ops.exp(narrow)
        ops.stack([X, X])
    found = {span.name: (span.flops, span.bytes, span.narrow) for span in prof.spans if span.kind == "operation"}
    assert found["Dense"] == (2 * 2 * 3 * 4, 4 * (2 * 4 + 3 * 4 + 3 + 2 * 3), False)
    assert found["Reshape"] == (0, 0, False)  # the same memory
    assert found["Exp"] == (0, 2 * 2 * 8 * 4, True)
    assert found["Stack"] == (0, 4 * (2 * 8 + 16), False)
    prof.analyse()
    events, rows, _ = files(tmp_path)
    (dense,) = (row for row in rows if row["op_type"] == "Dense")
    assert (dense["flops"], dense["bytes"]) == ("48", "116") and "narrow" not in dense
    assert [e["args"] for e in events if e["name"] == "Dense" and e["cat"] == "operation"] == [
        {"shapes": [[2, 4], [3, 4], [3]], "flops": 48, "bytes": 116}
    ]


def test_a_schedule_chooses_steps(tmp_path):
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    assert [plan(i).value for i in range(10)] == [0, 0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert plan.to_dict() == {"wait": 1, "active": 2, "warmup": 1, "repeat": 2, "skip_first": 1}
    ready = []
    with profile(schedule=plan, on_trace_ready=lambda prof: ready.append(len(names(prof.spans, "operation")))) as prof:
        for _ in range(12):
            ops.exp(X)
            prof.step()
    assert ready == [2, 2] and sys.getprofile() is None


@pytest.mark.parametrize(
    "handler", [lambda folder: tensorboard_trace_handler(str(folder)), lambda folder: lambda: None]
)
def test_handlers(tmp_path, handler):
    with profile(on_trace_ready=handler(tmp_path)):
        ops.exp(X)
    assert len(list(tmp_path.iterdir())) == (handler(tmp_path).__name__ == "handle")


def test_the_older_name_prints_where_the_files_are(tmp_path, capsys):
    prof = ms.Profiler(
        output_path=str(tmp_path),
        profiler_level=ProfilerLevel.Level0,
        activities=[ProfilerActivity.CPU, ProfilerActivity.NPU],
        aic_metrics=AicoreMetrics.AiCoreNone,
    )
    ops.exp(X)
    prof.analyse()
    assert str(files(tmp_path)[2]) in capsys.readouterr().out
    ms.Profiler.offline_analyse(str(tmp_path))
    with pytest.warns(RuntimeWarning, match="no trace.json"):
        ms.Profiler.offline_analyse(str(tmp_path / "none"))


def test_one_at_a_time():
    with profile(output_path="unused"):
        with pytest.raises(RuntimeError, match="another profiler is recording"):
            profile(output_path="unused")
    idle = profile(output_path="unused", start_profile=False)
    with pytest.warns(RuntimeWarning, match="not running"):
        idle.stop()
    with pytest.raises(RuntimeError, match="needs a schedule"):
        idle.step()


def test_exceptions_pass_and_end_the_recording():
    with pytest.raises(ZeroDivisionError), profile(output_path="unused"):
        raise ZeroDivisionError
    assert sys.getprofile() is None


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"activities": [ProfilerActivity.NPU]}, ValueError, "a list with ProfilerActivity.CPU"),
        ({"with_stack": True}, ValueError, "'with_stack' must be left at its default"),
        ({"other": True}, TypeError, "'other' is not known"),
        ({"schedule": 3}, TypeError, "'schedule' must be callable"),
        ({"start_profile": 1}, TypeError, "'start_profile' must be a bool"),
        ({"experimental_config": 3}, TypeError, "an _ExperimentalConfig or None"),
    ],
)
def test_options_that_are_refused(options, error, text):
    with pytest.raises(error, match=text):
        profile(**options)
    with pytest.raises(ValueError, match="'aic_metrics'"):
        _ExperimentalConfig(aic_metrics=AicoreMetrics.Memory)
    with pytest.raises(ValueError, match="'range_id'"):
        mstx.range_end(10**9)
    with pytest.raises(ValueError, match="'active'"):
        schedule(wait=0, active=0)


def test_op_analyse_errors():
    prof = profile(output_path="unused", start_profile=False)
    with pytest.raises(TypeError, match="'op_name'"):
        prof.op_analyse(3)
    with pytest.raises(ValueError, match="'op_name'"):
        prof.op_analyse("")
    with pytest.raises(TypeError, match="'value' must be a str"):
        prof.add_metadata("a", 1)
    with pytest.raises(ValueError, match="JSON"):
        prof.add_metadata_json("a", "{")


def test_memory_is_noted_after_each_operation(tmp_path):
    with ms.profiler.profile(profile_memory=True, output_path=str(tmp_path)) as prof:
        x = ms.ops.ones((1024, 1024), ms.float32)
        y = ms.ops.exp(x)
    uses = {use.operation: use for use in prof.memory}
    assert uses["Exp"].allocated >= 2 * 4 * 1024 * 1024 and uses["Exp"].peak >= uses["Exp"].allocated
    del x, y
    folder = Path(prof.analyse())
    rows = (folder / "memory.csv").read_text().splitlines()
    assert rows[0] == "time(us),op_type,allocated(bytes),peak(bytes)" and len(rows) == 1 + len(prof.memory)
    curve = [e for e in json.loads((folder / "trace.json").read_text())["traceEvents"] if e["ph"] == "C"]
    assert [e["args"]["allocated"] for e in curve] == [use.allocated for use in prof.memory]
