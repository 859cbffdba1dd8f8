"""Hooks that add gradients over the ranks with fewer bytes: `DistributedGradReducer.register_comm_hook`."""

from dist_ms.parallel.compression.powersgd import PowerSGD
from dist_ms.parallel.compression.report import Compression
from dist_ms.parallel.compression.topk import TopK
from dist_ms.parallel.compression.wire import BFloat16Wire, Float16Wire

__all__ = ["BFloat16Wire", "Compression", "Float16Wire", "PowerSGD", "TopK"]
