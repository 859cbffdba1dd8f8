"""SummaryRecord: what reaches TensorBoard's writer, and what is refused."""

import sys
from types import ModuleType

import numpy as np
import pytest

from dist_ms import Tensor
from dist_ms.train import SummaryRecord


@pytest.fixture
def written(monkeypatch):
    """The calls a stand-in for tensorboardX receives."""
    calls = []

    class Writer:
        def __init__(self, folder, filename_suffix):
            calls.append(("open", filename_suffix))

        def __getattr__(self, name):
            return lambda *args: calls.append((name, *args))

    module = ModuleType("tensorboardX")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "tensorboardX", module)
    return calls


def test_values_are_written_once_for_their_step(written, tmp_path):
    with SummaryRecord(str(tmp_path), file_suffix="_run") as summary:
        summary.add_value("scalar", "loss", Tensor(1.0))
        summary.add_value("scalar", "loss", Tensor(2.0))
        assert summary.record(3)
        summary.set_mode("eval")
        summary.add_value("scalar", "loss", 5)
        summary.add_value("histogram", "w", np.ones(2))
        assert summary.record(4, plugin_filter=lambda plugin: plugin == "scalar")
    assert written == [
        ("open", "_run"), ("add_scalar", "loss", 2.0, 3), ("add_scalar", "loss/eval", 5, 4), ("close",),
    ]  # fmt: skip
    with pytest.raises(RuntimeError, match="after 'close'"):
        summary.record(5)


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
    with pytest.raises(ValueError, match="'network' must be None"):
        SummaryRecord(str(tmp_path), network=object())
