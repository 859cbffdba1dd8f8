"""What the OpenMP library is told before it is loaded."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dist_ms._ext import openmp
from dist_ms._ext.openmp import cpu_quota, defaults

SHOW = (
    "import os, dist_ms\nfrom dist_ms._ext import threads\n"
    "print(threads.get_num_threads(), [os.environ.get(n) for n in ('GOMP_SPINCOUNT', 'OMP_NUM_THREADS')])"
)


def write(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


@pytest.mark.parametrize(("text", "quota"), [("max 100000\n", None), ("150000 100000\n", 1.5), ("nonsense", None)])
def test_the_container_s_quota(tmp_path, text, quota):
    assert cpu_quota(tmp_path, tmp_path / "none") is None
    write(tmp_path, "cpu.max", text)
    assert cpu_quota(tmp_path, tmp_path / "none") == quota


def test_the_lowest_quota_of_nested_groups_counts(tmp_path):
    write(tmp_path, "own", "0::/jobs.slice/step_1\n")
    write(tmp_path / "jobs.slice", "cpu.max", "300000 100000\n")
    write(tmp_path / "jobs.slice/step_1", "cpu.max", "max 100000\n")
    assert cpu_quota(tmp_path, tmp_path / "own") == 3.0
    write(tmp_path / "jobs.slice/step_1", "cpu.max", "50000 100000\n")
    assert cpu_quota(tmp_path, tmp_path / "own") == 0.5


def test_control_groups_of_the_first_version(tmp_path):
    write(tmp_path, "own", "5:memory:/a\n4:cpu,cpuacct:/a/b\n")
    write(tmp_path / "cpu/a/b", "cpu.cfs_quota_us", "-1\n")
    write(tmp_path / "cpu/a/b", "cpu.cfs_period_us", "100000\n")
    assert cpu_quota(tmp_path, tmp_path / "own") is None
    write(tmp_path / "cpu/a/b", "cpu.cfs_quota_us", "250000\n")
    assert cpu_quota(tmp_path, tmp_path / "own") == 2.5


def test_groups_outside_of_what_is_mounted_are_left_alone(tmp_path):
    write(tmp_path, "cpu.max", "100000 100000\n")
    write(tmp_path / "root", "own", "0::/../..\n")
    assert cpu_quota(tmp_path / "root", tmp_path / "root" / "own") is None


@pytest.mark.parametrize(
    ("environ", "quota", "names"),
    [
        ({}, None, {"GOMP_SPINCOUNT"}),
        ({}, 16.0, {"GOMP_SPINCOUNT"}),
        ({}, 3.5, {"GOMP_SPINCOUNT", "OMP_NUM_THREADS"}),
        ({"OMP_NUM_THREADS": "8"}, 3.5, {"GOMP_SPINCOUNT"}),
        ({"OMP_WAIT_POLICY": "active"}, None, set()),
        ({"GOMP_SPINCOUNT": "7"}, None, set()),
    ],
)
def test_what_the_user_has_set_stays(environ, quota, names):
    found = defaults(environ, 8, quota)
    assert set(found) == names
    assert found.get("OMP_NUM_THREADS", "3") == "3"


def test_at_least_one_thread():
    assert defaults({}, 8, 0.3)["OMP_NUM_THREADS"] == "1"


def test_settings_reach_the_library_and_leave_no_trace():
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    code = (
        "import ctypes, os\nbefore = dict(os.environ)\n"
        "from dist_ms._ext import openmp\nopenmp.cpu_quota = None\nassert dict(os.environ) == before\n" + SHOW
    )
    # The library itself tells what it has read.
    done = subprocess.run(
        [sys.executable, "-c", code], env={**environ, "OMP_DISPLAY_ENV": "verbose"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "GOMP_SPINCOUNT = '10000'" in done.stderr
    assert done.stdout.split()[1:] == ["[None,", "None]"]


def test_a_library_that_is_nowhere(monkeypatch, tmp_path):
    monkeypatch.setattr(openmp, "SONAME", "libgomp_nowhere.so.1")
    monkeypatch.setattr(openmp, "BROUGHT", tmp_path / "libgomp_nowhere.so.1")
    with pytest.raises(ImportError, match="apt-get install libgomp1"):
        openmp.load()


def test_the_wheels_own_library_is_found_by_its_name(tmp_path):
    """A process whose loader knows no libgomp, but that a wheel has brought one."""
    mapped = (line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines())
    shutil.copy(next(path for path in mapped if "/libgomp.so.1" in path), tmp_path / "libgomp.so.1")
    shutil.copy(openmp.__file__, tmp_path / "openmp.py")
    program = (
        "import ctypes, openmp\nopenmp.SONAME = 'libgomp_nowhere.so.1'\nopenmp.load()\n"
        "ctypes.CDLL('libgomp.so.1').omp_get_max_threads()\n"
        "print([line.split()[-1] for line in open('/proc/self/maps') if 'libgomp' in line][0])\n"
    )
    told = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert told.stdout.strip() == str(tmp_path / "libgomp.so.1"), told.stderr
