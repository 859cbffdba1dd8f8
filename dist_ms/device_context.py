"""What MindSpore asks of the kinds of devices: there is one CPU, and no other."""

from dist_ms.runtime import ascend_device as ascend
from dist_ms.runtime import cpu_device as cpu
from dist_ms.runtime import gpu_device as gpu

__all__ = ["ascend", "cpu", "gpu"]
