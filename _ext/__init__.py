"""Compiled kernels: NumPy arrays in and out, without the GIL inside.

Floor rule: nothing here imports another dist_ms module.

Every kernel module exists in the variants ``v2``, ``v3`` (AVX2, FMA) and ``v4`` (AVX-512) of
x86-64; an editable installation has that of the machine that built it. The folder of the best one
that is there and that this CPU has goes in front of the package's search path, so
``from dist_ms._ext import softmax`` gives that variant. The environment variable
``DIST_MS_MAX_ISA`` (v2, v3 or v4) sets an upper limit; any of them leaves out AMX.

>>> from dist_ms._ext import threads
>>> threads.isa() in ("v2", "v3", "v4")
True
"""

import os
import sys
from collections.abc import Sequence

from dist_ms._ext import openmp

openmp.load()

from dist_ms._ext import cpu, onednn_library  # noqa: E402  (the first may load OpenMP)

ISAS = ("v2", "v3", "v4")


def choose_isa(supported: str, limit: str | None, built: Sequence[str] = ISAS) -> str:
    """Return the variant to use on a CPU that supports `supported`, at most `limit`, of those that are `built`.

    Raises:
        ImportError: The CPU is too old, `limit` is no variant, or none that is built will do.

    >>> choose_isa("v4", "v3"), choose_isa("v3", None), choose_isa("v2", "v4"), choose_isa("v4", None, ["v2", "v3"])
    ('v3', 'v3', 'v2', 'v3')
    """
    if supported not in ISAS:
        raise ImportError("dist_ms needs a CPU with SSE4.2 and POPCNT (x86-64-v2), this one has not.")
    if limit and limit not in ISAS:
        raise ImportError(f"DIST_MS_MAX_ISA must be one of {', '.join(ISAS)}, but got '{limit}'.")
    newest = min(supported, limit or supported)
    if not any(isa <= newest for isa in built):
        raise ImportError(
            f"The kernels must be compiled for {newest} or older, the newest that this CPU and DIST_MS_MAX_ISA allow, "
            f"but this installation has {', '.join(built) or 'none'}: install a wheel, or compile all of them with "
            'DIST_MS_LEVELS="v2 v3 v4" pip install -e .'
        )
    return max(isa for isa in built if isa <= newest)


BUILT = tuple(isa for isa in ISAS if os.path.isdir(os.path.join(__path__[0], isa)))
_isa = choose_isa(cpu.level(), os.environ.get("DIST_MS_MAX_ISA"), BUILT)
__path__.insert(0, os.path.join(__path__[0], _isa))
sys.meta_path.insert(0, onednn_library.LoadBeforeImport(f"{__name__}.dnnl"))
