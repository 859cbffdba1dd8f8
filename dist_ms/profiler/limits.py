"""What this process can do at best with its threads: the limits that operations are held against."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype
from dist_ms.common.tensor import Tensor

__all__ = ["measured_limits"]

_SIDE = 768  # of the matrices
_BYTES = 32 << 20  # that are read, and written: more than caches hold
_SECONDS = 0.03  # for each limit


def measured_limits() -> dict[str, float]:
    """Measure for a tenth of a second, and return the best rates.

    Returns:
        dict: "float32" and "bfloat16": operations per second of a product of matrices; "memory": bytes per second
        that a copy reads and writes.

    Examples:
        >>> from dist_ms.profiler.limits import measured_limits
        >>> sorted(measured_limits())
        ['bfloat16', 'float32', 'memory']
    """
    wide = Tensor(np.full((_SIDE, _SIDE), 0.5, np.float32))
    narrow = wide.astype(dtype.bfloat16)
    large = Tensor(np.ones(_BYTES // 4, np.float32))
    product = 2.0 * _SIDE**3
    return {
        "float32": product / _least(lambda: ops.matmul(wide, wide)),
        "bfloat16": product / _least(lambda: ops.matmul(narrow, narrow)),
        "memory": 2.0 * _BYTES / _least(lambda: ops.neg(large)),
    }


def _least(call: Callable[[], Any]) -> float:
    """The least seconds that a call took."""
    call().asnumpy()
    times: list[float] = []
    end = perf_counter() + _SECONDS
    while len(times) < 2 or perf_counter() < end:
        began = perf_counter()
        call().asnumpy()
        times.append(perf_counter() - began)
    return min(times)
