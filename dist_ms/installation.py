"""The check of an installation: does this process compute right, and do the ranks of its job?"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np


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
    from dist_ms.common.tensor import Tensor
    from dist_ms.communication import current
    from dist_ms.ops import matmul

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
