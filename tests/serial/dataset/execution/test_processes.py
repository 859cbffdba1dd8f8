"""Worker processes: rows in shared memory, errors, deaths, hangs, and nothing left behind."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import dist_ms.dataset as ds
from dist_ms.dataset.execution import processes


class Rows:
    def __init__(self, count=12):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return np.full((2, 3), i, np.float32), np.int32(i), f"row {i}"


def source(count=12, workers=2):
    return ds.GeneratorDataset(Rows(count), ["a", "b", "c"], num_parallel_workers=workers, shuffle=False)


def rows_of(data):
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


def is_gone(pid, seconds=5):
    deadline = time.time() + seconds
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1][:3]:
        if time.time() > deadline:
            return False
        time.sleep(0.02)
    return True


def workers_of(data):
    return [worker.process.pid for worker in processes._pools[data].workers]


def test_rows_come_in_order_and_whole():
    rows = rows_of(source())
    assert [int(b) for _, b, _ in rows] == list(range(12)) and [str(c) for *_, c in rows][3] == "row 3"
    assert all(a.shape == (2, 3) and a.dtype == np.float32 and (a == i).all() for i, (a, _, _) in enumerate(rows))


def test_all_kinds_of_values_come_across():
    values = [
        np.array([1, 2], ml_dtypes.bfloat16), np.array(["a", "bc"]), np.zeros((0, 3)), np.array(True),
        {"k": np.ones(2)}, np.arange(6).reshape(2, 3)[:, ::2], np.array([b"x"]),
    ]  # fmt: skip
    data = ds.GeneratorDataset([tuple(values)], [str(i) for i in range(7)], num_parallel_workers=2, shuffle=False)
    for found, value in zip(rows_of(data)[0], values, strict=True):
        if isinstance(value, dict):
            np.testing.assert_array_equal(found["k"], value["k"])
        else:
            assert found.dtype == value.dtype and found.shape == value.shape and (found == value).all()


def test_functions_of_the_script_go_along():
    offset = 5
    data = source().map(lambda a: (a + offset, os.getpid()), "a", ["a", "p"], python_multiprocessing=True)
    rows = rows_of(data)
    assert rows[2][0][0, 0] == 7 and len({int(p) for _, p, *_ in rows} - {os.getpid()}) == 2


def test_workers_stay_for_the_next_epoch_and_go_with_the_dataset():
    data = source()
    rows_of(data)
    first = workers_of(data)
    rows_of(data)
    assert workers_of(data) == first
    data.close_pool()
    assert all(is_gone(pid) for pid in first)
    rows_of(data)
    second = workers_of(data)
    del data
    gc.collect()
    assert all(is_gone(pid) for pid in second)


def test_memory_is_used_again_but_not_while_arrays_live():
    data = source(64)
    kept = rows_of(data)
    pool = processes._pools[data]
    assert all((a == i).all() for i, (a, _, _) in enumerate(kept))
    most = sum(len(w.memory) for w in pool.workers)
    del kept
    for _ in range(3):
        for i, (a, _, _) in enumerate(data.create_tuple_iterator(num_epochs=1, output_numpy=True)):
            assert (a == i).all()
    assert sum(len(w.memory) for w in pool.workers) <= most + 2
    last = next(data.create_tuple_iterator(num_epochs=1, output_numpy=True))[0]
    data.close_pool()
    del data, pool
    gc.collect()
    last += 1  # its memory outlives the workers
    assert (last == 1).all()


def test_two_iterations_at_once():
    data = source()
    one, other = (data.create_tuple_iterator(num_epochs=1, output_numpy=True) for _ in range(2))
    for (a, *_), (b, *_) in zip(one, other, strict=True):
        assert (a == b).all()


def test_an_iteration_that_is_left_does_not_disturb_the_next():
    data = source(40)
    for _ in range(3):
        rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        assert [int(next(rows)[1]) for _ in range(3)] == [0, 1, 2]
        rows.stop()
    assert [int(b) for _, b, _ in rows_of(data)] == list(range(40))


class Strange(Exception):
    def __init__(self, a, b):
        super().__init__(a)


@pytest.mark.parametrize("error, arguments", [(ZeroDivisionError, ("seven",)), (Strange, (1, 2))])
def test_an_error_comes_with_its_row_and_traceback(error, arguments):
    def fails(a):
        if a[0, 0] == 7:
            raise error(*arguments)
        return a

    with pytest.raises(RuntimeError, match=error.__name__) as found:
        rows_of(source().map(fails, "a").batch(2))
    notes = "\n".join(found.value.__notes__)
    assert "raise error(" in notes and "row 7 of MapDataset" in notes and error.__name__ in notes


@pytest.mark.parametrize("how, text", [(signal.SIGKILL, "by signal SIGKILL"), (0, "with exit code 3")])
def test_a_death_is_told(how, text):
    def dies(a):
        if a[0, 0] == 7:
            if how:
                os.kill(os.getpid(), how)
            os._exit(3)
        return a

    data = source().map(dies, "a")
    with pytest.raises(RuntimeError, match=rf"worker process \(pid \d+\) ended {text}, while making row [67] of"):
        rows_of(data)
    assert data not in processes._pools


def test_a_hang_is_told_with_its_stack():
    def hangs(a):
        if a[0, 0] == 7:
            time.sleep(60)
        return a

    ds.config.set_multiprocessing_timeout_interval(8)
    data = source().map(hangs, "a")
    try:
        with pytest.raises(RuntimeError, match=r"(?s)made no row within 8 s, while making row 7 .*in hangs"):
            rows_of(data)
    finally:
        ds.config.set_multiprocessing_timeout_interval(300)


def test_what_cannot_go_along_runs_in_one_thread(caplog):
    lock, under_way, most = __import__("threading").Lock(), [], []

    def alone(a):
        under_way.append(a)
        most.append(len(under_way) if lock else 0)
        time.sleep(0.002)
        under_way.pop()
        return a + 1

    for data in (source().map(alone, "a"), source().map(alone, "a").batch(3)):
        rows = np.concatenate([a.reshape(-1, 2, 3) for a, *_ in rows_of(data)])
        assert np.array_equal(rows[:, 0, 0], np.arange(12) + 1) and set(most) == {1}
        assert "must be picklable" in caplog.text and "python_multiprocessing=False" in caplog.text
        caplog.clear()
        assert data not in processes._pools


def test_what_goes_along_is_asked_of_worker_processes():
    assert {int(p) for (p,) in rows_of(source().map(lambda *_: os.getpid(), ["a", "b", "c"], ["p"]))} - {os.getpid()}


SCRIPT = """
    import os, sys, time
    import numpy as np
    import dist_ms.dataset as ds

    class Rows:
        def __len__(self):
            return 1000
        def __getitem__(self, i):
            time.sleep(0.01)
            return np.full(1000, i), os.getpid()

    data = ds.GeneratorDataset(Rows(), ["a", "p"], num_parallel_workers=2)
    for i, (a, p) in enumerate(data.create_tuple_iterator(output_numpy=True)):
        print(int(p), flush=True)
        if i == 5 and sys.argv[1] == "exit":
            sys.exit(0)
        if i == 5 and sys.argv[1] == "raise":
            raise ValueError
"""


@pytest.mark.parametrize("how", ["exit", "raise", "SIGKILL", "SIGTERM"])
def test_nothing_is_left_of_a_program_that_ends(tmp_path, how):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    before = set(os.listdir("/dev/shm"))
    with subprocess.Popen([sys.executable, script, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        pids = {int(run.stdout.readline()) for _ in range(4)}
        if how.startswith("SIG"):
            os.kill(run.pid, getattr(signal, how))
        run.communicate(timeout=20)
    assert pids and all(is_gone(pid) for pid in pids)
    left = set(os.listdir("/dev/shm")) - before
    assert not [name for name in left if not name.startswith("sm_segment")]  # of jobs that others run meanwhile
