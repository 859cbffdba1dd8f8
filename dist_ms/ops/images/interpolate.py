"""interpolate and upsample: (N, C, *spatial) at another size."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_number, check_positive_int, check_string, complaint
from dist_ms.common.error_classes import scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.images.resampling import Resample, cubic, linear, nearest, sparse, window_means

__all__ = ["interpolate", "upsample"]

_MODES = ["nearest", "linear", "bilinear", "bicubic", "area", "nearest-exact", "trilinear"]
_RANKS = {"linear": (1,), "bilinear": (2,), "bicubic": (2,), "trilinear": (3,)}


def _sizes(owner: str, sizes: tuple, size: Any, scale_factor: Any, recompute: Any) -> tuple[tuple, tuple]:
    """The new spatial sizes, and the steps between old elements that new ones stand for."""
    rank = len(sizes)
    if (size is None) == (scale_factor is None):
        what = "both" if size is not None else "neither"
        raise ValueError(f"For '{owner}', one of 'size' and 'scale_factor' must be given, but got {what}.")
    if size is not None:
        given = tuple(size) if isinstance(size, (tuple, list)) else (size,) * rank
        for n in given:
            check_positive_int(n, "size", owner)
        if len(given) != rank:
            raise ValueError(complaint("size", owner, f"an int or a tuple of {rank}", size))
        return given, tuple([n / m for n, m in zip(sizes, given)])
    factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * rank
    for f in factors:
        if check_number(f, "scale_factor", owner) <= 0:
            raise ValueError(complaint("scale_factor", owner, "above 0", scale_factor))
    if len(factors) != rank:
        raise ValueError(complaint("scale_factor", owner, f"a number or a tuple of {rank}", scale_factor))
    given = tuple([int(n * f) for n, f in zip(sizes, factors)])
    if min(given) == 0:
        raise ValueError(complaint("scale_factor", owner, "large enough for a size of 1 or more", scale_factor))
    if recompute:
        return given, tuple([n / m for n, m in zip(sizes, given)])
    return given, tuple([1 / f for f in factors])


@scalars("recompute_scale_factor")
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Return a (N, C, *spatial) tensor at another spatial size.

    Args:
        input: floats with 1 to 3 spatial dimensions.
        size: the new size, an int or a tuple; or None.
        scale_factor: new size over old, a number or a tuple; or None. One of the two is given.
        mode: "nearest", "nearest-exact" (the element whose centre is nearest), "linear" (1-D), "bilinear"
            and "bicubic" (2-D), "trilinear" (3-D), or "area" (means).
        align_corners: let the corner elements coincide, for the linear and cubic modes; else
            elements are squares whose outer edges coincide.
        recompute_scale_factor: take the scale from the rounded new size instead of
            `scale_factor`.

    Returns:
        Tensor (N, C, *size).

    Raises:
        TypeError: if an argument has the wrong type, or `input` holds no floats.
        ValueError: if the mode does not fit the dimensions, or sizes are out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.interpolate(ms.Tensor([[[1.0, 3.0]]]), size=4, mode="linear"))
        [[[1.  1.5 2.5 3. ]]]
    """
    owner = "interpolate"
    data = arguments.floating(arguments.tensor(input, "input", owner).array(), "input", owner, complex_too=False)
    check_string(mode, "mode", owner, _MODES)
    if not 3 <= data.ndim <= 5:
        raise ValueError(f"For '{owner}', 'input' must have 3 to 5 dimensions, but got shape {data.shape}.")
    if data.ndim - 2 not in _RANKS.get(mode, (1, 2, 3)):
        raise ValueError(
            f"For '{owner}', 'mode' {mode!r} must go with an input of {_RANKS[mode][0] + 2} dimensions, "
            f"but got shape {data.shape}."
        )
    for given, name in ((align_corners, "align_corners"), (recompute_scale_factor, "recompute_scale_factor")):
        if given is not None:
            check_bool(given, name, owner)
    if align_corners and mode not in (*_RANKS,):
        raise ValueError(complaint("align_corners", owner, f"None or False with 'mode' {mode!r}", align_corners))
    if recompute_scale_factor and size is not None:
        raise ValueError(complaint("recompute_scale_factor", owner, "None or False when 'size' is given", True))
    if 0 in data.shape[2:]:
        raise ValueError(
            f"For '{owner}', 'input' must have elements in its spatial dimensions, but got shape {data.shape}."
        )
    counts, ratios = _sizes(owner, data.shape[2:], size, scale_factor, recompute_scale_factor)
    matrices = [sparse(_matrix, mode, n, m, r, bool(align_corners)) for n, m, r in zip(data.shape[2:], counts, ratios)]
    return Resample(owner, matrices)(input)


def _matrix(mode: str, length: int, count: int, ratio: float, align_corners: bool) -> Any:
    """What one dimension is multiplied by."""
    if mode == "area":
        return window_means(length, count)
    if mode.startswith("nearest"):
        return nearest(length, count, ratio, mode == "nearest-exact")
    return (cubic if mode == "bicubic" else linear)(length, count, ratio, align_corners)


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Return a (N, C, *spatial) tensor at another size; the same as `interpolate`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.upsample(ms.Tensor([[[1.0, 3.0]]]), size=4))
        [[[1. 1. 3. 3.]]]
    """
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)
