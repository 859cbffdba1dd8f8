"""Before an update that ranks make together: do all of them mean the same one?

Their weights are one copy and cannot differ, so what the desync detector would find is found here, before the update:
other rates, gradients that were not reduced, and values that only some ranks' code has set. Each rank says a text, and
the meeting raises where texts differ.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.scaled import pending
from dist_ms.communication import Comm
from dist_ms.parallel.errors import CHANGED, NOT_REDUCED, REMEDY, DesyncError, UnreducedGradientError

_GIVEN = "after the program has set"
_PIECE = 4096  # elements of a gradient that are compared in a step


def meet(comm: Comm, texts: Sequence[str]) -> None:
    """Wait for all ranks; every rank calls it before the update.

    Args:
        comm: the ranks.
        texts: what the functions below have returned.

    Raises:
        RuntimeError: on every rank, if ranks do something else, or update with other rates or decays.
        UnreducedGradientError: on every rank, if they have other gradients.
        DesyncError: on every rank, if only some have given weights or states other values.
    """
    try:
        comm.meet("update", None, ", ".join(texts))
    except RuntimeError as error:
        if _GIVEN in str(error):
            raise DesyncError(f"{error}\n{CHANGED} {REMEDY}") from None
        if len(set(re.findall(r"gradient of \S+ \w+", str(error)))) > 1:
            raise UnreducedGradientError(f"{error}\nA gradient must be the same on all ranks: {NOT_REDUCED}") from None
        raise


def said_of_rates(rates: Iterable[float], decays: Iterable[float]) -> list[str]:
    """Name learning rates and weight decays.

    Args:
        rates, decays: by weight.

    Examples:
        >>> from dist_ms.parallel.replicas.same_update import said_of_rates
        >>> said_of_rates([0.1, 0.1], [0.0, 0.0])
        ['learning rate 0.1, weight decay 0.0']
    """
    numbers = dict.fromkeys(zip(rates, decays, strict=True))
    return [f"learning rate {np.float32(rate)!s}, weight decay {np.float32(decay)!s}" for rate, decay in numbers]


def said_of_gradient(name: str, gradient: Tensor, turn: int) -> list[str]:
    """Return a number that tells gradients apart, of a piece: gradients that were not reduced differ everywhere.

    Args:
        name: the weight's.
        gradient: its gradient, dense.
        turn: which piece.
    """
    array, factor = pending(gradient) or (gradient.array(), 1.0)
    start = turn * _PIECE % array.size
    piece = array.flat[start : start + _PIECE] + array.dtype.type(0)  # there is one zero
    piece[np.isnan(piece)] = np.nan
    return [f"gradient of {name!r} {zlib.crc32(piece.data, zlib.crc32(repr(factor).encode())):08x}"]


def said_of_values(pieces: Iterable[tuple[str, int, np.ndarray, np.ndarray]]) -> list[str]:
    """Return a number for the values that this rank's code has given weights or states since the last update.

    Args:
        pieces: the weight's or state's name, where the piece begins, its bytes as this rank has them, and as they were.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.parallel.replicas.same_update import said_of_values
        >>> before, now = np.uint8([1, 2]), np.uint8([1, 3])
        >>> said_of_values([("w", 0, before, before)])
        []
        >>> said_of_values([("w", 0, now, before)])
        ["after the program has set 'w' (in all 5b385c79)"]
    """
    found: list[str] = []
    code = 0
    for name, at, now, before in pieces:
        if not np.array_equal(now, before):
            found.append(name)
            code = zlib.crc32(now.data, zlib.crc32(b"%d" % at, code))
    return [f"{_GIVEN} {found[0]!r} (in all {code:08x})"] if found else []
