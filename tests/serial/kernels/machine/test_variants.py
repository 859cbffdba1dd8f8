"""The thread count, the choice of a CPU variant, and how oneDNN's library is found."""

import os
import subprocess
import sys

import pytest

from dist_ms import _ext
from dist_ms._ext import cpu, onednn_library, threads


def run(code, **environment):
    """Run Python code in a new process and return it."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_thread_count_is_kept():
    before = threads.get_num_threads()
    for number in (3, 1):
        threads.set_num_threads(number)
        assert threads.get_num_threads() == number
    threads.set_num_threads(before)


def test_wrong_thread_counts():
    for wrong in (0, -2):
        with pytest.raises(ValueError, match=f"'number' must be positive, but got {wrong}"):
            threads.set_num_threads(wrong)
    for wrong in (2.0, "2", True, None):
        with pytest.raises(TypeError, match=f"must be an int, but got {type(wrong).__name__}"):
            threads.set_num_threads(wrong)


def test_the_variant_is_the_best_allowed():
    assert threads.isa() == _ext.choose_isa(cpu.level(), os.environ.get("DIST_MS_MAX_ISA"), _ext.BUILT)


@pytest.mark.parametrize("isa", [isa for isa in _ext.BUILT if isa <= cpu.level()])
def test_the_environment_limits_the_variant(isa):
    code = "from dist_ms._ext import softmax, threads; print(threads.isa(), softmax.__file__)"
    found, file = run(code, DIST_MS_MAX_ISA=isa).stdout.split()
    assert found == isa
    assert f"/{isa}/" in file


@pytest.mark.parametrize("wrong", ["v1", "avx2", "V3"])
def test_an_unknown_limit_is_an_error(wrong):
    result = run("import dist_ms._ext", DIST_MS_MAX_ISA=wrong)
    assert result.returncode == 1
    assert f"DIST_MS_MAX_ISA must be one of v2, v3, v4, but got '{wrong}'." in result.stderr


def test_a_cpu_below_the_oldest_variant_is_an_error():
    with pytest.raises(ImportError, match="needs a CPU with SSE4.2"):
        _ext.choose_isa("v1", None)


@pytest.mark.parametrize("built, has", [(("v3", "v4"), "v3, v4"), ((), "none")])
def test_variants_that_are_not_compiled_are_an_error(built, has):
    with pytest.raises(ImportError, match=rf"must be compiled for v2 or older.* has {has}: .*DIST_MS_LEVELS="):
        _ext.choose_isa("v4", "v2", built)


def test_onednn_is_loaded_with_its_module_only():
    code = (
        "import dist_ms._ext.softmax\n"
        "loaded = lambda: 'libdnnl' in open('/proc/self/maps').read()\n"
        "assert not loaded()\n"
        "import dist_ms._ext.dnnl\n"
        "assert loaded()\n"
    )
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_dnnlroot_wins_over_the_wheel(tmp_path, monkeypatch):
    wheel = onednn_library.find_file(onednn_library.SONAME)
    (tmp_path / "lib64").mkdir()
    own = tmp_path / "lib64" / onednn_library.SONAME
    own.symlink_to(wheel)
    monkeypatch.setenv("DNNLROOT", str(tmp_path))
    assert onednn_library.find_file(onednn_library.SONAME) == own
    own.unlink()
    with pytest.raises(ImportError, match="'libdnnl.so.3' is in none of its folders lib, lib64"):
        onednn_library.find_file(onednn_library.SONAME)


def test_a_file_that_is_no_library_is_an_import_error(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / onednn_library.SONAME).write_text("not a library")
    result = run("import dist_ms._ext.dnnl", DNNLROOT=str(tmp_path))
    assert "ImportError: oneDNN could not be loaded (" in result.stderr
    assert "pip install onednn-cpu-gomp==2023.2.0" in result.stderr
