"""The cases of bench_kernels.py: a file per subject, each with `ours()` and perhaps `torch()`.

Both yield cases; those of one name do the same work and are compared. The files import dist_ms or
torch inside these functions only, as each runs in an interpreter of its own.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass
class Case:
    """Something to time.

    Attributes:
        name: subject, what is done and to what; the same on both sides.
        run: does it once.
        traffic: bytes that must move between memory and cores, every array once; 0 if that is no limit.
        work: floating-point operations; 0 if they are no limit.
    """

    name: str
    run: Callable[[], object]
    traffic: float = 0
    work: float = 0


def cases(side: str, only: str = "") -> Iterator[Case]:
    """Yield the cases of "ours" or "torch" whose names contain `only`."""
    for module in pkgutil.iter_modules(__path__):
        maker = getattr(importlib.import_module(f"{__name__}.{module.name}"), side, None)
        if maker is not None:
            yield from (case for case in maker() if only in case.name)
