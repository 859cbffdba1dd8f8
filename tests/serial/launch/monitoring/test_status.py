"""The folder of a job's status, what is read from it, and the closing line."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dist_ms.launch.monitoring.status import StatusFolder, read_jobs, user_folder
from dist_ms.launch.monitoring.summary import straggler, summary
from dist_ms.launch.monitoring.top import look, rank_row, tables

RECORD = {
    "rank": 0,
    "pid": 0,
    "begun": 0.0,
    "time": 0.0,
    "steps": 100,
    "seconds": 9.9,
    "updates": 100,
    "samples": 3200,
    "epoch": [2, 5],
    "batch": [7, 50],
    "loss": 0.25,
    "data": 0.5,
    "ranks": 1.0,
    "waits": [0.396, 0.99],
}


@pytest.fixture
def parent(tmp_path):
    folder = tmp_path / "jobs"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def begin():
    begun = []

    def begin(*arguments):
        begun.append(StatusFolder(*arguments))
        return begun[-1]

    yield begin
    for status in begun:
        status.remove()


def write(status, rank, **changes):
    record = {**RECORD, "rank": rank, "pid": os.getpid(), "time": time.time(), **changes}
    (status.path / f"rank_{rank}").write_text(json.dumps(record).ljust(1024))


def test_a_job_is_seen_until_it_is_removed(parent, begin):
    status = begin(["train.py", "--lr", "1"], 3, 1, parent)
    write(status, 1)
    write(status, 0)
    (status.path / "rank_2").write_text("")  # it has just been opened
    (found,) = read_jobs(parent)
    assert found.command == ["train.py", "--lr", "1"] and (found.ranks, found.servers) == (3, 1)
    assert [record["rank"] for record in found.records] == [0, 1]
    status.begin_attempt(2)
    (found,) = read_jobs(parent)
    assert found.restarts == 2 and not found.records
    status.remove()
    assert not parent.exists() and read_jobs(parent) == [] and status.read() is None


def test_what_a_killed_launcher_left_is_removed(parent, begin):
    left = parent / "999999999-abc"
    left.mkdir()
    (left / "job.json").write_text("{}")
    kept = parent / "mine"
    kept.mkdir()
    assert read_jobs(parent) == []
    begin(["train.py"], 2, 0, parent).remove()
    assert list(parent.iterdir()) == [kept]


def test_a_launcher_that_is_killed_leaves_no_folder(parent):
    code = """
import sys
from pathlib import Path
from dist_ms.launch.monitoring.status import StatusFolder
status = StatusFolder(["train.py"], 2, 0, Path(sys.argv[1]))
(status.path / "rank_0").write_text("{}")
print(status.path, flush=True)
sys.stdin.read()
"""
    words = [sys.executable, "-c", code, str(parent)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as launcher:
        path = Path(launcher.stdout.readline().strip())
        assert (path / "job.json").exists()
        os.killpg(launcher.pid, signal.SIGKILL)
        launcher.wait()
        until = time.monotonic() + 10
        while parent.exists():
            assert time.monotonic() < until
            time.sleep(0.01)


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, begin):
    tmp_path.chmod(0o777)
    assert begin(["train.py"], 2, 0, tmp_path).path is None and read_jobs(tmp_path) == []
    link = tmp_path / "link"
    (tmp_path / "own").mkdir(mode=0o700)
    link.symlink_to(tmp_path / "own")
    assert begin(["train.py"], 2, 0, link).path is None
    assert begin(["train.py"], 2, 0, tmp_path / "own").path is not None
    assert user_folder({}).name == f"dist_ms-{os.getuid()}"


def test_broken_files_are_no_jobs(parent, begin):
    status = begin(["train.py"], 1, 0, parent)
    for text in ("[]", "{", "\x00" * 9, '{"rank": "x"}', "7"):
        (status.path / "rank_0").write_text(text)
        (found,) = read_jobs(parent)
        assert found.records == []
    for text in ("", "[]", '{"process": 1}'):
        (status.path / "job.json").write_text(text)
        assert read_jobs(parent) == []


def said(parent, *records, restarts=0, servers=0):
    status = StatusFolder(["train.py"], len(records), servers, parent)
    status.begin_attempt(restarts)
    for rank, record in enumerate(records):
        write(status, rank, **record)
    found = status.read()
    status.remove()
    return summary(found, 12.0)


def test_the_closing_line(parent):
    line = said(parent, {}, {"waits": [0.0, 7.92]}, restarts=1)
    assert line == (
        "dist-ms: 12.0 s, 100 steps on 2 ranks, 10 steps/s, 640 samples/s; waited 2 % for data, 45 % for ranks "
        "(rank 0 least, 10 %); 1 restart."
    )
    assert said(parent, {"samples": 0}, {"samples": 0}).endswith("10 steps/s; waited 10 % for ranks.")
    assert said(parent, {"updates": 0}, {"updates": 1}) == ""
    # What was waited for before the first update and after the last one is in "data" and "ranks" only.
    assert "waited 4 % for data, 10 % for ranks." in said(parent, {"data": 50.0}, {"ranks": 70.0})
    # A server updates nothing by optimizers of its own.
    assert "on 2 ranks, 10 steps/s, 320 samples/s;" in said(parent, {}, {"updates": 0}, servers=1)


def test_the_worker_that_others_wait_for_at_the_servers_is_named(parent):
    servers = [{"updates": 0, "awaited": [1, 4.0, 0.5]}, {"updates": 0, "awaited": [0, 0.2, 0.1]}]
    assert said(parent, {}, {}, *servers, servers=2).endswith("10 % for ranks, 40 % for worker 1 at the servers.")
    servers[0]["awaited"] = [1, 4.0, 3.5]  # both are late now and then
    assert "servers" not in said(parent, {}, {}, *servers, servers=2)
    # Between two looks.
    record = {"rank": 2, "awaited": [1, 4.0, 0.5]}
    assert straggler([record], 2.0, [{"rank": 2, "awaited": [1, 3.5, 0.4]}]) == "25 % for worker 1 at the servers"
    assert straggler([record], 2.0, [{"rank": 2, "awaited": [0, 0.3, 0.2]}]) == ""
    assert straggler([{"rank": 0}], 2.0) == ""


def test_rates_are_those_between_two_looks(parent, begin):
    status = begin(["train.py"], 1, 0, parent)
    write(status, 0)
    then = look(parent)
    write(status, 0, time=time.time() + 2, steps=300, samples=9600, data=1.5, ranks=1.0)
    now = look(parent)
    before, record = then.jobs[0].records[0], now.jobs[0].records[0]
    seconds = record["time"] - before["time"]
    row = rank_row(record, before, now, then)
    assert row[:4] == ["0", "runs", "2/5", "7/50"] and row[6] == "0.2500"
    assert float(row[4]) == pytest.approx(200 / seconds, abs=0.06)
    assert float(row[5].replace(",", "")) == pytest.approx(6400 / seconds, abs=0.6)
    assert row[7] == f"{1 / seconds:.0%}" and row[8] == "0%" and row[10].endswith("M")
    assert rank_row(record, None, now, then)[4:9] == ["-", "-", "0.2500", "-", "-"]


def test_a_process_that_is_gone_or_cannot_write_is_told_apart(parent, begin):
    status = begin(["train.py"], 2, 0, parent)
    write(status, 0, pid=999999999)
    write(status, 1, time=time.time() - 30)
    now = look(parent)
    assert [rank_row(record, None, now, now)[1] for record in now.jobs[0].records] == ["gone", "silent 30 s"]


def test_the_tables_fit_a_terminal(parent, begin):
    from rich.console import Console

    status = begin(["train.py", "[bold]"], 3, 0, parent)
    write(status, 0, epoch=[10, 12], batch=[1000, 2000])
    write(status, 1, pid=999999999)
    then = look(parent)
    write(status, 0, time=time.time() + 1, steps=12345, samples=234567, epoch=[10, 12], batch=[1000, 2000])
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(tables(look(parent), then, 80))
    text = console.export_text()
    assert "…" not in text and "train.py [bold]: 3 ranks" in text and "1 rank is starting" in text
    assert "10/12" in text and "1000/2000" in text and "gone" in text and "memory" in text
    narrow = Console(width=60, record=True, file=io.StringIO())
    narrow.print(tables(look(parent), then, 60))
    text = narrow.export_text()
    assert "…" not in text and "1000/2000" in text and "steps/s" in text and "memory" not in text
    write(status, 2, awaited=[1, 1.0, 0.0])
    then = look(parent)
    write(status, 2, awaited=[1, 1e6, 0.0])
    time.sleep(0.01)
    console.print(tables(look(parent), then, 80))
    assert "The others waited 100 % for worker 1 at the servers." in console.export_text()
    status.remove()
    console.print(tables(look(parent), then, 80))
    assert "No job of yours runs here" in console.export_text()
