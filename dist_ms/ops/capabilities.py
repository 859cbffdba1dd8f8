"""What this CPU and the precision that is set allow products and convolutions: what their plans ask."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dist_ms.ops.kernels import amx, dnnl


class Capabilities(NamedTuple):
    """Facts that choose an algorithm.

    Attributes:
        amx: float32 products are made in AMX tiles.
        amx_float16: AMX multiplies float16.
        bfloat16, float16: oneDNN computes in these types.
        rounds: float32 factors may be rounded to bfloat16.
        avx2: oneDNN has vectors of whole numbers.
    """

    amx: bool = False
    amx_float16: bool = False
    bfloat16: bool = False
    float16: bool = False
    rounds: bool = False
    avx2: bool = False


def capabilities() -> Capabilities:
    """Return those of this moment: the precision may be set anew."""
    return _with_rounding(dnnl.rounds_factors())


@lru_cache(2)
def _with_rounding(rounds: bool) -> Capabilities:
    return Capabilities(
        amx=amx.available(),
        amx_float16=amx.has_float16(),
        bfloat16=dnnl.has_bfloat16(),
        float16=dnnl.has_float16(),
        rounds=rounds,
        avx2=dnnl.isa() not in ("SSE41", "AVX"),
    )
