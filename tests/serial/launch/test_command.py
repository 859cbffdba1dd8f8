"""A Ctrl-C while `dist-ms` still imports its modules."""

import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MODULE, _, FUNCTION = tomllib.loads(Path(ROOT, "pyproject.toml").read_text())["project"]["scripts"][
    "dist-ms"
].partition(":")
SCRIPT = f"import sys; from {MODULE} import {FUNCTION}; sys.exit({FUNCTION}())"  # what pip writes
PACE = re.compile(r"import time: .*\n")  # -X importtime writes a line when a module's import is over
MOMENTS = (MODULE, "numpy", "dist_ms.common.dtype", "dist_ms.ops", "dist_ms", "dist_ms.launch.mpirun")


def interrupted(moment, *words, setup=""):
    """Interrupt the command when a module's import is over; return its exit code and what it has written."""
    command = [sys.executable, "-X", "importtime", "-c", setup + SCRIPT, *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=-1, stderr=-1, text=True, start_new_session=True) as process:
        told = ""
        while not re.search(rf"\| +{re.escape(moment)}\n$", told):
            line = process.stderr.readline()
            assert line, told
            told += line
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    return process.returncode, output, PACE.sub("", told + errors)


@pytest.mark.parametrize("words", [("run", "-n", "2", "examples/train_digits.py"), ("doctor",)])
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_before_all_is_imported_is_silent(moment, words):
    assert interrupted(moment, *words) == (128 + signal.SIGINT, "", "")


def test_it_is_silent_between_imports_and_the_job():
    code, output, errors = interrupted("dist_ms.launch.run", "run", "-n", "2", "examples/train_digits.py")
    assert (code, output) == (128 + signal.SIGINT, "") and errors.count("\n") <= 1


def test_an_ignored_interrupt_stays_ignored(tmp_path):
    """As of jobs that a shell has put into the background."""
    setup = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    code, _, errors = interrupted("dist_ms.ops", "report", str(tmp_path / "none"), setup=setup)
    assert code == 2 and "Traceback" not in errors
