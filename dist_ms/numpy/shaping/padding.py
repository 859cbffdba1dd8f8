"""pad: a border around a tensor, of constants, of its own elements or of their statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_string
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import cast, floats, is_float, kind_type, strict, tensor_of

__all__ = ["pad"]

_COPIES = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS = {"maximum": ops.amax, "minimum": ops.amin}


def pad(arr: Tensor, pad_width: Any, mode: Any = "constant", stat_length: Any = None, constant_values: Any = 0,
        end_values: Any = 0, reflect_type: str = "even", **kwargs: Any) -> Tensor:  # fmt: skip
    """Put a border around a tensor.

    Args:
        arr: a Tensor.
        pad_width: how many elements, as one number, one pair (before, after) or a pair for each axis.
        mode: "constant", "empty" (zeros), "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum",
            "minimum", "mean", or a function of (vector, widths, axis, kwargs) that returns the padded vector.
        stat_length: of how many elements at each end "maximum", "minimum" and "mean" are taken, all by default.
        constant_values: what "constant" puts, in the forms of `pad_width`.
        end_values: where "linear_ramp" ends, in the forms of `pad_width`.
        reflect_type: "even", or "odd" to reflect in the value at the edge too.
        kwargs: passed to the function `mode`.

    Raises:
        NotImplementedError: for the mode "median".
        ValueError: for another unknown mode, or a negative width.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.pad(mnp.array([1, 2, 3]), (1, 2), mode="reflect"))
        [2 1 2 3 2 1]
    """
    x = strict(arr, "arr", "pad")
    widths = _pairs(pad_width, x.ndim, "pad_width")
    if any(w < 0 for pair in widths for w in pair):
        raise ValueError(f"For 'pad', 'pad_width' must hold no negative number, but got {pad_width}.")
    if mode == "median":
        raise NotImplementedError("For 'pad', the mode 'median' does not exist in MindSpore either: pad by hand.")
    if not callable(mode) and mode not in ("constant", "empty", "linear_ramp", "mean", *_COPIES, *_STATISTICS):
        raise ValueError(f"For 'pad', 'mode' must be one of NumPy's modes or a function, but got {mode!r}.")
    check_string(reflect_type, "reflect_type", "pad", ("even", "odd"))
    constants = _pairs(0 if mode == "empty" else constant_values, x.ndim, "constant_values")
    ends = _pairs(end_values, x.ndim, "end_values")
    lengths = _pairs(stat_length, x.ndim, "stat_length")
    for axis, width in enumerate(widths):
        if callable(mode):
            x = _by_function(x, width, mode, axis, kwargs)
        elif width == (0, 0):
            continue
        elif mode in ("constant", "empty"):
            x = _joined(x, axis, [_filled(x, axis, w, c) for w, c in zip(width, constants[axis], strict=True)])
        elif mode in _COPIES:
            odd = reflect_type == "odd" and mode in ("reflect", "symmetric")
            x = _odd(x, axis, width, mode) if odd else _copied(x, axis, width, mode)
        elif mode == "linear_ramp":
            x = _joined(
                x, axis, [_ramp(x, axis, w, e, i) for i, (w, e) in enumerate(zip(width, ends[axis], strict=True))]
            )
        else:
            sides = enumerate(zip(width, lengths[axis], strict=True))
            x = _joined(x, axis, [_statistic(x, axis, w, mode, n, i) for i, (w, n) in sides])
    return x


def _pairs(value: Any, ndim: int, argument: str) -> list[tuple]:
    """One pair of numbers for each axis, from the forms that NumPy accepts."""
    if isinstance(value, Tensor):
        value = value.asnumpy().tolist()
    if value is None:
        return [(None, None)] * ndim
    try:
        return [tuple(pair) for pair in np.broadcast_to(np.asarray(value), (ndim, 2)).tolist()]
    except ValueError:
        raise ValueError(
            f"For 'pad', '{argument}' must be a number, a pair or a pair for each of {ndim} axes, but got {value}."
        ) from None


def _at(x: Tensor, axis: int, first: int, last: int) -> Tensor:
    """The part between two places along an axis."""
    return x[(*(slice(None),) * axis, slice(first, last))]


def _joined(x: Tensor, axis: int, borders: list[Tensor]) -> Tensor:
    """The tensor between two borders, in its own type."""
    return ops.concat((cast(borders[0], kind_type(x)), x, cast(borders[1], kind_type(x))), axis)


def _filled(x: Tensor, axis: int, width: int, value: Any) -> Tensor:
    """A border of one value."""
    return wrap(np.full((*x.shape[:axis], width, *x.shape[axis + 1 :]), value, kind_type(x)))


def _copied(x: Tensor, axis: int, width: tuple, mode: str) -> Tensor:
    """The tensor with copies of its own elements; NumPy tells which."""
    return ops.gather(x, wrap(np.pad(np.arange(x.shape[axis]), width, mode=mode)), axis)


def _odd(x: Tensor, axis: int, width: tuple, mode: str) -> Tensor:
    """The tensor with mirrored elements on the other side of the edge's value."""
    before, after = width
    skip = 1 if mode == "reflect" else 0
    while before > 0 or after > 0:
        n = x.shape[axis]
        if n <= skip:
            return _copied(x, axis, (before, after), "edge")
        low, high = min(before, n - skip), min(after, n - skip)
        parts = [x]
        if low > 0:
            parts.insert(0, ops.sub(ops.mul(_at(x, axis, 0, 1), 2), ops.flip(_at(x, axis, skip, skip + low), (axis,))))
        if high > 0:
            mirrored = ops.flip(_at(x, axis, n - skip - high, n - skip), (axis,))
            parts.append(ops.sub(ops.mul(_at(x, axis, n - 1, n), 2), mirrored))
        x, before, after = ops.concat(parts, axis), before - low, after - high
    return x


def _ramp(x: Tensor, axis: int, width: int, end: Any, side: int) -> Tensor:
    """A border that goes in equal steps from the edge to the end's value."""
    edge = floats(_at(x, axis, 0, 1) if side == 0 else _at(x, axis, x.shape[axis] - 1, x.shape[axis]))
    share = np.linspace(0, 1, width, endpoint=False)
    share = share if side == 0 else (1 - np.arange(1, width + 1) / width)
    weight = wrap(share.astype(kind_type(edge)).reshape((-1,) + (1,) * (x.ndim - axis - 1)))
    ramp = ops.add(ops.mul(edge, weight), ops.mul(ops.sub(1, weight), end))
    return ramp if is_float(x) else ops.trunc(ramp)


def _statistic(x: Tensor, axis: int, width: int, mode: str, length: int | None, side: int) -> Tensor:
    """A border of the largest, least or mean element of some at the edge."""
    n = x.shape[axis]
    count = n if length is None else min(int(length), n)
    part = _at(x, axis, 0, count) if side == 0 else _at(x, axis, n - count, n)
    value = _STATISTICS[mode](part, axis, True) if mode != "mean" else ops.mean(floats(part), axis, True)
    return ops.broadcast_to(value if is_float(x) or mode != "mean" else ops.trunc(value),
                            (*x.shape[:axis], width, *x.shape[axis + 1 :]))  # fmt: skip


def _by_function(x: Tensor, width: tuple, function: Any, axis: int, kwargs: dict) -> Tensor:
    """The tensor whose vectors along an axis, padded with zeros, a function fills."""
    x = _joined(x, axis, [_filled(x, axis, w, 0) for w in width])
    last = ops.transpose(x, (*[i for i in range(x.ndim) if i != axis], axis))
    rows = ops.reshape(last, (-1, last.shape[-1]))
    made = ops.stack([tensor_of(function(rows[i], width, axis, kwargs), "x", "pad") for i in range(rows.shape[0])])
    order = list(range(x.ndim - 1))
    order.insert(axis, x.ndim - 1)
    return ops.transpose(ops.reshape(made, last.shape), tuple(order))
