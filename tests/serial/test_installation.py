"""What an installation says of its CPU."""

import os
import re
import subprocess
import sys

import pytest

from dist_ms import _ext
from dist_ms._ext import cpu

CODE = "from dist_ms.installation import cpu_level; print(cpu_level())"


def level(**limits):
    unlimited = {name: value for name, value in os.environ.items() if not name.endswith("_ISA")}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env={**unlimited, **limits}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_limits_all_that_the_cpu_has_is_used():
    found = level()
    assert f"x86-64-{cpu.level()} with" in found and f"kernels {cpu.level()} with" in found
    assert ("amx_bf16" in found) >= ("with AMX" in found)
    assert "ISA" not in found


@pytest.mark.parametrize("isa, onednn", [("v2", "SSE41"), ("v3", "AVX2"), ("v4", "AVX512_CORE[A-Z0-9_]*")])
def test_limits_are_named(isa, onednn):
    if isa > cpu.level() or isa not in _ext.BUILT:
        pytest.skip(f"a CPU without {isa}, or an installation")
    found = level(DIST_MS_MAX_ISA=isa)
    assert re.search(rf"kernels {isa} without AMX, oneDNN {onednn} \(DIST_MS_MAX_ISA={isa}\)\n$", found)
    assert "AMX_" not in found.partition("in use")[2]
    both = level(DIST_MS_MAX_ISA=isa, ONEDNN_MAX_CPU_ISA="SSE41")
    assert f"oneDNN SSE41 (DIST_MS_MAX_ISA={isa} ONEDNN_MAX_CPU_ISA=SSE41)" in both
