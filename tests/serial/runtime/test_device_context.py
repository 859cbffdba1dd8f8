"""dist_ms.device_context, which says what MindSpore 2.10 says where there is a CPU only."""

import subprocess
import sys

import pytest

import dist_ms as ms
from dist_ms import device_context


def test_devices():
    assert (device_context.cpu.is_available(), device_context.cpu.device_count()) == (True, 1)
    for other in (device_context.gpu, device_context.ascend):
        assert other.is_available() is False
        with pytest.raises(RuntimeError, match="not exist"):
            other.device_count()


def test_threads():
    script = (
        "import dist_ms as ms\n"
        "from dist_ms._ext import threads\n"
        "ms.device_context.cpu.threads_num(1)\n"
        "assert threads.get_num_threads() == 1 == ms.get_context('runtime_num_threads')\n"
        "try:\n"
        "    ms.device_context.cpu.op_tuning.threads_num(2)\n"
        "except RuntimeError as error:\n"
        "    assert 'repeatedly' in str(error)\n"
        "else:\n"
        "    raise AssertionError\n"
        "from dist_ms import compat\n"
        "compat.install()\n"
        "import mindspore.device_manager as manager\n"
        "import mindspore.device_context.cpu.op_tuning as tuning\n"
        "assert tuning.threads_num is ms.device_context.cpu.threads_num\n"
        "assert manager.set_device is ms.set_device and manager.get_current_device().device_target == 'CPU'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize(("num", "error"), [(0, ValueError), (-1, ValueError), ("a", TypeError), (1.0, TypeError)])
def test_refused_threads(num, error):
    before = ms.get_context("runtime_num_threads")
    with pytest.raises(error, match="For 'threads_num', 'num'"):
        device_context.cpu.threads_num(num)
    assert ms.get_context("runtime_num_threads") == before


def test_syntax_levels_are_in_the_context():
    from dist_ms import context

    assert (context.STRICT, context.COMPATIBLE, context.LAX) == (ms.STRICT, ms.COMPATIBLE, ms.LAX) == (0, 1, 2)
