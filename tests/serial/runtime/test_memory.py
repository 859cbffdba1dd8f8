"""ms.runtime's figures of memory, and its bound."""

import subprocess
import sys

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import runtime


def alone(code):
    """Run code in a process of its own, as some settings can be made only once."""
    return subprocess.run(
        [sys.executable, "-c", "import dist_ms as ms\n" + code], capture_output=True, text=True, check=False
    )


def test_figures_follow_the_tensors():
    before = runtime.memory_allocated()
    x = ms.ops.zeros((512, 512), ms.float32)
    assert runtime.memory_allocated() - before == 2**20
    assert runtime.memory_reserved() >= runtime.memory_allocated()
    del x
    assert runtime.memory_allocated() == before
    runtime.empty_cache()
    stats = runtime.memory_stats()
    assert stats["total_idle_memory"] == stats["total_reserved_memory"] - stats["total_allocated_memory"]
    assert f"{stats['common_mem_pool_stats']['block_counts']}".isdigit()


def test_peaks():
    x = ms.ops.zeros((2**18,), ms.float32)
    del x
    assert runtime.max_memory_allocated() >= runtime.memory_allocated() + 2**20
    runtime.reset_max_memory_allocated()
    assert runtime.max_memory_allocated() == runtime.memory_allocated()
    runtime.empty_cache()
    runtime.reset_max_memory_reserved()
    assert runtime.max_memory_reserved() == runtime.memory_reserved()
    y = ms.ops.zeros((2**18,), ms.float32)
    del y
    runtime.reset_peak_memory_stats()
    assert runtime.max_memory_allocated() == runtime.memory_allocated()


def test_a_step_leaves_nothing_behind():
    net = ms.nn.SequentialCell(ms.nn.Dense(256, 256), ms.nn.ReLU(), ms.nn.Dense(256, 256))
    step = ms.nn.TrainOneStepCell(
        ms.nn.WithLossCell(net, ms.nn.MSELoss()), ms.nn.SGD(net.trainable_params(), 0.01, momentum=0.9)
    )
    x, y = (ms.Tensor(np.ones((64, 256), np.float32)) for _ in range(2))
    step(x, y)
    step(x, y)
    before = runtime.memory_allocated()
    for _ in range(3):
        step(x, y)
    assert runtime.memory_allocated() == before


def test_activations_are_freed_while_the_sweep_runs():
    size = 2**20

    def chain(x):
        for _ in range(8):
            x = ms.ops.sigmoid(x)  # keeps its output
        return x.sum()

    x = ms.ops.zeros((size // 4,), ms.float32)
    ms.grad(chain)(x)
    before = runtime.memory_allocated()
    runtime.reset_max_memory_allocated()
    ms.grad(chain)(x)
    # Eight outputs, and two gradients while the sweep frees an output each step.
    assert runtime.max_memory_allocated() - before <= 11.5 * size


def test_the_summary_is_a_table():
    lines = runtime.memory_summary().splitlines()
    assert len({len(line) for line in lines}) == 1 and sum("memory" in line for line in lines) == 6


def test_set_memory_bounds_tensors():
    out = alone(
        "ms.runtime.set_memory(max_size='0.25GB')\n"
        "x = ms.ops.ones((1000, 1000))\n"
        "try:\n    ms.ops.ones((10000, 10000))\nexcept MemoryError:\n    print('refused')\n"
        "try:\n    ms.runtime.set_memory()\nexcept RuntimeError as error:\n    print(error)\n"
    )
    assert out.stdout.splitlines() == ["refused", "The 'set_memory' can not be set repeatedly."], out.stderr


@pytest.mark.parametrize(
    "arguments, error",
    [
        ("max_size=3", "TypeError"),
        ("max_size='3MB'", "ValueError"),
        ("max_size='0GB'", "ValueError"),
        ("init_size='0.0GB'", "ValueError"),
        ("optimize_level='O2'", "ValueError"),
        ("huge_page_reserve_size='x'", "ValueError"),
    ],
)
def test_set_memory_refuses(arguments, error):
    out = alone(f"ms.runtime.set_memory({arguments})")
    assert out.stderr.splitlines()[-1].startswith(f"{error}: For 'set_memory', "), out.stderr
