"""The check of an installation: does this process compute right, and do the ranks of its job? On which CPU?"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np

from dist_ms._ext import cpu, threads
from dist_ms.common.settings.environment import value_of
from dist_ms.common.tensor import Tensor
from dist_ms.communication import current
from dist_ms.ops import matmul

# What the kernels' paths depend on beyond the level of x86-64.
_INSTRUCTIONS = ("avx512_bf16", "avx512_fp16", "amx_bf16", "amx_fp16")
_LIMITS = ("DIST_MS_MAX_ISA", "ONEDNN_MAX_CPU_ISA")


def cpu_level() -> str:
    """Return what the CPU has, and what of it this process uses, in one line.

    `DIST_MS_MAX_ISA` and `ONEDNN_MAX_CPU_ISA` set limits, which are named.

    Examples:
        >>> from dist_ms.installation import cpu_level
        >>> "x86-64-v" in cpu_level()
        True
    """
    from dist_ms._ext import amx, dnnl

    info = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    info = {name.strip(): text.strip() for name, text in info.items()}
    has = [name for name in _INSTRUCTIONS if name in info.get("flags", "").split()]
    limits = [f"{name}={value_of(name)}" for name in _LIMITS if value_of(name)]
    return (
        f"{info.get('model name', 'CPU')}, x86-64-{cpu.level()} with {', '.join(has) or 'no 16-bit floats'}; in use: "
        f"kernels {threads.isa()} {'with' if amx.available() else 'without'} AMX, oneDNN {dnnl.isa()}"
        + (f" ({' '.join(limits)})" if limits else "")
    )


def run_check() -> None:
    """Multiply two matrices, on several ranks add what all got, and print that it is right.

    Raises:
        RuntimeError: if a result is wrong.

    Examples:
        >>> import dist_ms as ms
        >>> ms.run_check()  # doctest: +ELLIPSIS
        dist_ms version: ...
        The result of multiplication calculation is correct, dist_ms has been installed on platform [CPU] successfully!
    """
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = matmul(Tensor(rows), Tensor(np.ascontiguousarray(rows.T))).asnumpy()
    world = current()
    if world is not None and world.comm.size > 1:
        found = world.comm.all_reduce(found.copy()) / np.float32(world.comm.size)
    wanted = np.einsum("ik,jk->ij", rows, rows)
    if not np.array_equal(found, wanted):
        raise RuntimeError(
            f"For 'run_check', the product of two matrices must be {wanted.tolist()}, but got {found.tolist()}; "
            f"DIST_MS_MAX_ISA=v2 tries kernels for older CPUs, and 'dist-ms doctor' says what is installed."
        )
    print("dist_ms version: ", version("dist_ms"))
    print(
        "The result of multiplication calculation is correct, "
        "dist_ms has been installed on platform [CPU] successfully!"
    )
