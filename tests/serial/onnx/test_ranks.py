"""Under several ranks rank 0 writes, and all return or fail together."""

import threading

import pytest

import dist_ms as ms
from dist_ms.exporting import requests
from tests.serial.onnx.test_operations import Of
from tests.serial.train.rank_threads import run_ranks, run_ranks_all

pytest.importorskip("onnx")


def exporting(monkeypatch, folder, function):
    """An export as a rank: its communicator is that of its thread."""
    comms = {}
    monkeypatch.setattr(requests, "data_parallel_comm", lambda: comms[threading.get_ident()])

    def work(comm):
        comms[threading.get_ident()] = comm
        ms.export(Of(lambda x: function(comm, x)), ms.ops.ones((2, 3)), file_name=str(folder / "x"))

    return work


def test_rank_0_writes(tmp_path, monkeypatch):
    written = []
    from dist_ms.onnx import writing

    write = writing.write
    monkeypatch.setattr(writing, "write", lambda *args: (written.append(args[1]), write(*args)))
    run_ranks(2, exporting(monkeypatch, tmp_path, lambda comm, x: ms.ops.exp(x)))
    assert len(written) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["x.onnx"]


def test_all_ranks_fail(tmp_path, monkeypatch):
    def function(comm, x):
        return ms.ops.nonzero(x) if comm.rank else ms.ops.exp(x)

    errors = run_ranks_all(2, exporting(monkeypatch, tmp_path, function))
    assert "rank 1 raised RuntimeError: For 'export', the operation 'NonZero'" in str(errors[0])
    assert "NonZero" in str(errors[1])
    assert not list(tmp_path.iterdir())


def test_all_ranks_fail_where_the_file_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    errors = run_ranks_all(2, exporting(monkeypatch, tmp_path / "file", lambda comm, x: ms.ops.exp(x)))
    assert isinstance(errors[0], OSError)
    assert "rank 0 raised FileExistsError" in str(errors[1])
