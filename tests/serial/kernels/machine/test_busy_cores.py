"""Threads are given back while other processes keep the cores busy, and taken up again afterwards."""

import os
import subprocess
import sys
import time

import pytest

import dist_ms as ms
from dist_ms._ext import busy_cores, threads
from dist_ms._ext.busy_cores import Team, idle_seconds, waiting_times


@pytest.fixture(autouse=True)
def as_before():
    count = threads.asked_num_threads()
    yield
    threads.set_num_threads(count)
    busy_cores.watch()


def decisions(looks, asked, now=None, passed=0.1):
    """The numbers of threads after looks of (what each thread waited, idle cores)."""
    team, count, found = Team(), asked if now is None else now, []
    for waits, idle in looks:
        count = team.decide(count, asked, dict(enumerate(waits)), passed, idle)
        found.append(count)
    return found


def test_as_many_threads_as_are_late_are_given_back():
    assert decisions([((0.05, 0.05, 0.0), 0), ((0.0, 0.0, 0.0), 0)], 8) == [6, 6]
    assert decisions([((0.019, 0.0), 0)] * 3 + [((0.0, 0.0), 0)] * 2, 8) == [8] * 5  # 4 ms late each time, then on time
    assert decisions([((0.022, 0.0), 0)] * 3, 8) == [8, 8, 7]  # 7 ms late each time


def test_a_usual_wait_adds_nothing_up():
    assert decisions([((0.014,), 0)] * 100, 8) == [8] * 100


def test_lateness_is_forgotten_when_a_thread_is_given_back():
    assert decisions([((0.05, 0.05), 0), ((0.02, 0.02), 0), ((0.02, 0.02), 0)], 8) == [6, 6, 6]


def test_one_thread_always_stays():
    assert decisions([((0.1,) * 5, 0)] * 3, 2) == [1, 1, 1]


def test_idle_cores_are_taken_up_again_after_five_looks():
    assert decisions([((), 1.0)] * 10, 3, now=1) == [1, 1, 1, 1, 2, 2, 2, 2, 2, 3]
    assert decisions([((), 8.0)] * 5, 4, now=1)[-1] == 4
    assert decisions([((), 0.5)] * 9, 4, now=1) == [1] * 9
    assert decisions([((), 1.0)] * 4 + [((), 0.0)] + [((), 1.0)] * 4, 4, now=1) == [1] * 9


def test_fewer_threads_end_with_the_next_choice_of_a_number():
    threads.set_num_threads(2)
    threads.use_fewer_threads(1)
    assert (threads.get_num_threads(), threads.asked_num_threads()) == (1, 2)
    threads.use_fewer_threads(5)
    assert threads.get_num_threads() == 2
    threads.use_fewer_threads(1)
    threads.set_num_threads(2)
    assert threads.get_num_threads() == 2


@pytest.fixture
def crowded(monkeypatch):
    """A look that finds every thread waiting for a core, at each operation."""
    seconds = iter(range(10**6))
    monkeypatch.setattr(busy_cores, "SECONDS", 0.0)
    monkeypatch.setattr(busy_cores, "_SOON", 0.0)
    monkeypatch.setattr(busy_cores, "_COST", 0.0)
    monkeypatch.setattr(busy_cores, "waiting_times", lambda: {"1": float(next(seconds)) * 100.0})
    threads.set_num_threads(2)


def run_operations(count=200):
    x = ms.Tensor([1.0])
    for _ in range(count):
        x = x + 1


def test_operations_look_now_and_then(crowded):
    busy_cores.watch()
    run_operations()
    assert threads.get_num_threads() == 1


def test_deterministic_runs_keep_the_number(crowded):
    ms.set_deterministic(True)
    try:
        run_operations()
        assert threads.get_num_threads() == 2
    finally:
        ms.set_deterministic(False)
    run_operations()
    assert threads.get_num_threads() == 1
    ms.set_deterministic(True)
    assert threads.get_num_threads() == 2
    ms.set_deterministic(False)


def test_openmp_s_own_variable_keeps_the_number(crowded, monkeypatch):
    monkeypatch.setenv("OMP_DYNAMIC", "false")
    busy_cores.watch()
    run_operations()
    assert threads.get_num_threads() == 2


BUSY = """
import os, sys, time
os.sched_setaffinity(0, {cores})
import numpy as np
import dist_ms as ms
from dist_ms import ops
from dist_ms._ext import threads
x = ms.Tensor(np.ones((256, 256), np.float32))
def until(count):
    end = time.monotonic() + 60
    while threads.get_num_threads() != count:
        assert time.monotonic() < end, threads.get_num_threads()
        ops.matmul(x, x)
        ops.relu(x)
    print(count, flush=True)
threads.set_num_threads(2)
until(1)
sys.stdin.readline()
until(2)
"""


@pytest.fixture
def job():
    """A process of two threads beside four busy ones that then go, how many threads it said to have, and its cores."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2 or not waiting_times() or idle_seconds([0]) is None:
        pytest.skip("needs two cores, and Linux to tell of them")
    environ = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")}
    pin = f"import os; os.sched_setaffinity(0, {set(cores)})\nwhile True: pass"
    hogs = [subprocess.Popen([sys.executable, "-c", pin]) for _ in range(4)]
    try:
        found = subprocess.Popen(
            [sys.executable, "-c", BUSY.format(cores=set(cores))],
            env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with found:
            said = found.stdout.readline()
            for hog in hogs:
                hog.kill()
            yield found, said, cores
            found.kill()
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def test_a_thread_is_given_back_beside_busy_processes(job):
    _, said, _ = job
    assert said == "1\n"


def test_it_is_taken_up_again_when_they_are_gone(job):
    process, _, cores = job
    idle, start = idle_seconds(cores), time.monotonic()
    process.stdin.write("\n")
    process.stdin.flush()
    while process.poll() is None:
        time.sleep(0.05)
        passed = time.monotonic() - start
        if passed > 3 and idle_seconds(cores) - idle < 0.8 * passed:
            pytest.skip("no core stays idle enough for that: others have them")
    assert process.stdout.read() == "2\n"
