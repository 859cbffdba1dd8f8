"""The names of environment variables: all are known, and a misspelt one is an error."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dist_ms
from dist_ms.common.settings.environment import VARIABLES, check_names
from dist_ms.communication import environment as communication

ROOT = Path(dist_ms.__file__).resolve().parent.parent
# What is no variable: a macro of the kernels.
OTHERS = {"DIST_MS_ISA"}


def names_in(*folders):
    files = (f for folder in folders for f in (ROOT / folder).rglob("*") if f.suffix in (".py", ".pyx", ".pxi", ".pxd"))
    return {name for f in files for name in re.findall(r"DIST_MS_[A-Z_]*[A-Z]", f.read_text())}


def test_all_variables_are_listed():
    assert sorted(VARIABLES) == list(VARIABLES)
    used = names_in("dist_ms", "launch", "_ext") - OTHERS
    assert used - {"DIST_MS_DATA", "DIST_MS_TIMEUOT"} == set(VARIABLES)  # and the examples in the docstrings


def test_variables_are_read_in_one_place_of_a_floor():
    # What starts processes, sets variables for MPI and scripts, or reads what launchers set, has the whole environment.
    whole = "train/checkpoint/background.py communication/world.py communication/end/failure.py"
    whole += " communication/start/mpi_process.py communication/start/launched.py communication/start/roles.py"
    whole += " communication/management.py communication/store/job_token.py dataset/execution/processes.py"
    whole += " profiler/tracing.py"
    readers = {"common/settings/environment.py", "communication/environment.py", *whole.split()}
    package = ROOT / "dist_ms"
    files = (path for path in package.rglob("*.py") if {"environ", "getenv"} & used_of_os(path))
    assert {path.relative_to(package).as_posix() for path in files} == readers


def used_of_os(path):
    names = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute))
    return {node.attr for node in names if ast.unparse(node.value) == "os"}


def test_floors_agree_on_what_a_variable_is_by_default():
    theirs = {name: value for name, value in communication._DEFAULTS.items() if name.startswith("DIST_MS_")}
    assert theirs == {name: VARIABLES[name] for name in theirs} and theirs


def test_variables_are_documented():
    internal = {
        "DIST_MS_PLAN",
        "DIST_MS_REPORT",
        "DIST_MS_STATUS",
        "DIST_MS_TRACE",
    }  # between the launcher and the ranks
    assert set(re.findall(r"`(DIST_MS_\w+)`", (ROOT / "README.md").read_text())) == set(VARIABLES) - internal


@pytest.mark.parametrize(
    "name, meant",
    [("DIST_MS_TIMEUOT", "TIMEOUT"), ("DIST_MS_ALLREDUCE", "ALL_REDUCE"), ("DIST_MS_NONFINITE", "NON_FINITE")],
)
def test_a_misspelt_name_is_refused(name, meant):
    with pytest.raises(ImportError, match=f"variable {name} is none of dist_ms. Did you mean 'DIST_MS_{meant}'"):
        check_names({name: "1"})


def test_names_of_the_user_are_left_alone():
    check_names(dict.fromkeys(["DIST_MS_DATA", "DIST_MS_HOME", "DIST_MSTIMEOUT", "PATH", *VARIABLES], "1"))


@pytest.mark.parametrize(
    "name, value, text",
    [
        ("DIST_MS_DESYNC_STEP", "5", "Did you mean 'DIST_MS_DESYNC_STEPS'"),
        ("DIST_MS_WINOGRAD", "no", "DIST_MS_WINOGRAD must be 0 or 1, but got 'no'"),
    ],
)
def test_a_wrong_one_ends_the_import(name, value, text):
    code = "import dist_ms, dist_ms.ops.convolutions.winograd"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, name: value}, capture_output=True, text=True)
    assert done.returncode and text in done.stderr
