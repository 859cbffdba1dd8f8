"""launch/running/supervision.py: mpirun while it runs."""

import os
import time

import pytest

from dist_ms.launch.reports import VARIABLE, Reports
from dist_ms.launch.running import stopping
from dist_ms.launch.running.stopping import Stopping
from dist_ms.launch.running.supervision import supervise


def say(text):
    return f'printf "\\036dist-ms {text}\\n" >"${VARIABLE}"; '


@pytest.mark.parametrize("told", [(0,), (0, 1), (1, 1)], ids=str)
def test_an_mpirun_that_hangs_when_all_ranks_have_stopped_is_ended(told, monkeypatch):
    monkeypatch.setattr(stopping, "_PATIENCE", 0.2)
    reports = Reports(True, 2)
    lines = "".join(say(f"rank={rank} host=a status=75") for rank in told)
    program = ["sh", "-c", f"{lines} exec sleep {60 if told == (0, 1) else 1}"]
    start = time.monotonic()
    try:
        code, banners = supervise(
            program, {**os.environ, VARIABLE: reports.path}, None, reports, False, Stopping(30, print)
        )
    finally:
        reports.close()
    assert code == (128 + 15 if told == (0, 1) else 0) and not banners.failure
    assert time.monotonic() - start < 30
    assert reports.first().code == stopping.STOPPED
