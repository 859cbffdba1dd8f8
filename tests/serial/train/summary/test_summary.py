"""SummaryRecord: what stands in the event files, and what is refused."""

import io
import os
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.common import summary_values
from dist_ms.train import SummaryRecord


def fields(data):
    """(field, value) of a message: ints for varints, bytes for the rest."""
    at, found = 0, []

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
            continue
        size = {1: 8, 5: 4}.get(key & 7) or varint()
        found.append((key >> 3, data[at : at + size]))
        at += size
    return found


def events(folder):
    """(step, name, the value's other fields) of every value in the one file of a folder."""
    (name,) = os.listdir(folder)
    data, at, found = (folder / name).read_bytes(), 0, []
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        event = data[at + 12 : at + 12 + size]
        at += 16 + size
        event = dict(fields(event))
        if 5 in event:
            value = dict(fields(dict(fields(event[5]))[1]))
            found.append((event.get(2, 0), value.pop(1).decode(), value))
    return found


def number(value):
    return struct.unpack("<f", value[2])[0]


def test_values_are_written_once_for_their_step(tmp_path):
    with SummaryRecord(str(tmp_path / "log"), file_prefix="mine", file_suffix="_run") as summary:
        assert summary.record(1) and not (tmp_path / "log").exists()
        summary.add_value("scalar", "loss", Tensor(1.0))
        summary.add_value("scalar", "loss", Tensor(2.0))
        assert summary.record(3)
        summary.flush()
        assert len(events(tmp_path / "log")) == 1
        summary.set_mode("eval")
        summary.add_value("scalar", "loss", 5)
        summary.add_value("histogram", "w", np.ones(2))
        assert summary.record(4, plugin_filter=lambda plugin: plugin == "scalar")
    found = events(tmp_path / "log")
    assert [(step, name, number(value)) for step, name, value in found] == [(3, "loss", 2.0), (4, "loss/eval", 5.0)]
    (name,) = os.listdir(tmp_path / "log")
    assert name.startswith("mine.out.tfevents.") and name.endswith("_run")
    with pytest.raises(RuntimeError, match="after 'close'"):
        summary.record(5)


def test_a_histogram_counts_finite_values(tmp_path):
    values = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    values[0, 0] = np.inf
    with SummaryRecord(str(tmp_path)) as summary:
        summary.add_value("tensor", "w", Tensor(values))
        summary.add_value("histogram", "none", np.array([np.nan]))
        with pytest.warns(RuntimeWarning, match="'none' has no finite values"):
            summary.record(1)
    ((_, _, w),) = events(tmp_path)
    content = dict(fields(w[5]))
    low, high, count, total, squares = [struct.unpack("<d", content[i])[0] for i in range(1, 6)]
    finite = values[np.isfinite(values)].astype(np.float64)
    assert (low, high, count) == (finite.min(), finite.max(), 34)
    assert np.allclose([total, squares], [finite.sum(), (finite**2).sum()])
    limits, counts = np.frombuffer(content[6]), np.frombuffer(content[7])
    assert counts.sum() == 34 and limits[-1] >= high and len(limits) == len(counts)
    assert np.array_equal(counts[1:], np.histogram(finite, limits)[0])


@pytest.mark.parametrize("channels", [1, 3])
def test_images_are_png(tmp_path, channels):
    images = np.random.default_rng(0).random((1, channels, 3, 4)).astype(np.float32)
    with SummaryRecord(str(tmp_path)) as summary:
        summary.add_value("image", "x", images)
        summary.record(1)
    ((step, name, value),) = events(tmp_path)
    content = dict(fields(value[4]))
    assert (step, name, content[1], content[2]) == (1, "x", 3, 4)
    seen = np.asarray(Image.open(io.BytesIO(content[4])).convert("RGB"))
    assert np.abs(seen - (images[0] * 255).transpose(1, 2, 0)).max() <= 1


class Watched(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scalar, self.histogram = ops.ScalarSummary(), ops.HistogramSummary()
        self.tensor, self.image = ops.TensorSummary(), ops.ImageSummary()

    def construct(self, x):
        self.scalar("sum", x.sum())
        self.histogram("x", x)
        self.tensor("x", x)
        self.image("seen", x)
        return x * 2


def test_operations_give_values_to_open_records(tmp_path):
    net, x, open_before = Watched(), ms.ops.ones((1, 1, 2, 3)), len(summary_values._OPEN)
    net(x)
    with SummaryRecord(str(tmp_path)) as summary:
        assert np.array_equal(ms.grad(net)(x).asnumpy(), np.full((1, 1, 2, 3), 2))
        net(x * 2)
        summary.record(7)
        summary.record(8)
    net(x)
    found = events(tmp_path)
    assert [(step, name) for step, name, _ in found] == [(7, "sum"), (7, "x"), (7, "x"), (7, "seen")]
    assert number(found[0][2]) == 12.0
    assert len(summary_values._OPEN) == open_before


def test_operations_take_names_and_tensors_of_the_right_shape():
    x = ms.ops.ones((2, 2))
    cases = [
        (ops.ScalarSummary(), x, "one number"),
        (ops.HistogramSummary(), x.sum(), "one dimension"),
        (ops.TensorSummary(), x.sum(), "one dimension"),
        (ops.ImageSummary(), x, "1 or 3, H, W"),
    ]
    for op, value, wanted in cases:
        with pytest.raises(ValueError, match=wanted):
            op("x", value)
        with pytest.raises(ValueError, match="'name' must be a string that is not empty"):
            op("", value)
        with pytest.raises(TypeError, match="'name' must be a str"):
            op(3, value)
        with pytest.raises(TypeError, match="'value' must be a Tensor"):
            op("x", 1.0)


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    summary = SummaryRecord(str(tmp_path))
    summary.add_value("scalar", "loss", 1.0)
    with pytest.raises(ImportError, match=r"dist_ms\[summary\]"):
        summary.record(1)


def test_wrong_values(tmp_path):
    summary = SummaryRecord(str(tmp_path))
    with pytest.raises(ValueError, match="'plugin'"):
        summary.add_value("sound", "x", 1)
    with pytest.raises(ValueError, match="one number"):
        summary.add_value("scalar", "x", np.ones(2))
    summary.close()
    with pytest.raises(ValueError, match="'network' must be None"):
        SummaryRecord(str(tmp_path), network=object())


def test_a_folder_that_can_not_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with SummaryRecord(str(tmp_path / "file"), raise_exception=True) as summary:
        summary.add_value("scalar", "x", 1)
        with pytest.raises(OSError):
            summary.record(1)
    with SummaryRecord(str(tmp_path / "file")) as summary:
        summary.add_value("scalar", "x", 1)
        with pytest.warns(RuntimeWarning, match="could not write step 1"):
            assert not summary.record(1)


def test_a_killed_process_leaves_what_it_recorded(tmp_path):
    code = (
        "import os, signal, sys; from dist_ms.train import SummaryRecord; record = SummaryRecord(sys.argv[1]);"
        "record.add_value('scalar', 'loss', 0.5); record.record(1); os.kill(os.getpid(), signal.SIGKILL)"
    )
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=120)
    assert run.returncode == -signal.SIGKILL
    (file,) = tmp_path.iterdir()
    assert b"loss" in file.read_bytes()
