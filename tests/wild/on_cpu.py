"""python on_cpu.py SCRIPT ARGUMENTS...: run a script on MindSpore's CPU, whatever device it asks for.

Datasets may ask for up to 128 workers, as on their authors' machines, and get as many as there are cores: MindSpore
refuses more. Kernels are not fused: MindSpore 2.10 ends with "Response is empty" where it fuses them on a CPU.
"""

import os
import runpy
import sys

import mindspore as ms
from mindspore import context
from mindspore.dataset.core import validator_helpers
from mindspore.dataset.engine.datasets import Dataset

_set_context = context.set_context


def on_cpu(**settings):
    """Set the context, but for the device and what fuses kernels."""
    if "device_target" in settings:
        settings["device_target"] = "CPU"
    for fusing in ("enable_graph_kernel", "graph_kernel_flags"):
        settings.pop(fusing, None)
    _set_context(**settings)


def device_is_cpu(*_, **__):
    """Set the device, the CPU."""
    _set_context(device_target="CPU")


ms.set_context = context.set_context = on_cpu
ms.set_device = device_is_cpu
_make_dataset = Dataset.__init__


def with_workers_there_are(self, children=None, num_parallel_workers=None, cache=None):
    """Make a dataset, with no more workers than cores."""
    _make_dataset(self, children, num_parallel_workers and min(num_parallel_workers, os.cpu_count()), cache)


validator_helpers.cpu_count = lambda: 128
Dataset.__init__ = with_workers_there_are
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
runpy.run_path(sys.argv[0], run_name="__main__")
