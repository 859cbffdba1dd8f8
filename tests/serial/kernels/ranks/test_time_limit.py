"""A limit on compiled code that hangs, in processes of their own."""

import subprocess
import sys
import time

import pytest

# `hang` keeps the interpreter's lock.
HANGING = "import contextlib, ctypes; hang = lambda s: ctypes.PyDLL(None).usleep(int(1e6 * s))\n"


def ran(code):
    start = time.monotonic()
    words = [sys.executable, "-c", f"from dist_ms._ext.time_limit import TimeLimit\n{HANGING}{code}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - start


@pytest.mark.parametrize("code", [0, 75])
def test_what_takes_longer_is_ended(code):
    found = ran(f"with TimeLimit(0.2, {code}, b'It hangs.\\n'):\n    hang(30)\nprint('not reached')")
    assert found[:3] == (code, "", "It hangs.\n") and found[3] < 20


@pytest.mark.parametrize("how", ["in time", "raises", "given up"])
def test_what_has_ended_is_not(how):
    code = {
        "in time": "with TimeLimit(0.2, 1, b'It hangs.'):\n    hang(0.01)\n",
        "raises": "with contextlib.suppress(ValueError), TimeLimit(0.2, 1, b''):\n    raise ValueError\n",
        "given up": "limit = TimeLimit(0.2, 1, b'It hangs.')\ndel limit\n",
    }[how]
    assert ran(f"{code}hang(1)\nprint('reached')")[:3] == (0, "reached\n", "")


def test_limits_are_apart():
    code = "with TimeLimit(0.2, 1, b'the first'):\n    pass\nwith TimeLimit(0.4, 2, b'the second'):\n    hang(30)"
    assert ran(code)[:3] == (2, "", "the second")
