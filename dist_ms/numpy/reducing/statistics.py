"""Covariances, correlations and convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_choice
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import FLOAT32, alike, cast, is_float, kind_type, tensor_of, typed

__all__ = ["convolve", "corrcoef", "correlate", "cov"]


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
        aweights: Any = None, dtype: Any = None) -> Tensor:  # fmt: skip
    """Return, in float32, the covariances of variables.

    Args:
        m: one variable in each row, its observations in the columns.
        y: more variables.
        rowvar: False if the variables are the columns.
        bias: divide by the number of observations instead of one less.
        ddof: what to subtract from the number, instead of `bias`.
        fweights: how often each observation counts.
        aweights: how much each observation weighs.
        dtype: the data type of the result.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.cov([[0.0, 2.0], [2.0, 0.0]]))
        [[ 2. -2.]
         [-2.  2.]]
    """
    tables = []
    for value, name in ((m, "m"), (y, "y")):
        if value is None:
            continue
        table = cast(tensor_of(value, name, "cov"), FLOAT32)
        if table.ndim > 2:
            raise ValueError(f"For 'cov', '{name}' must have at most 2 dimensions, but got {table.ndim}.")
        table = ops.reshape(table, (1, -1)) if table.ndim < 2 else table
        tables.append(ops.transpose(table, (1, 0)) if not rowvar and table.shape[0] != 1 else table)
    if len({t.shape[1] for t in tables}) > 1:
        raise ValueError(
            f"For 'cov', 'm' and 'y' must have as many observations, but got {[t.shape[1] for t in tables]}."
        )
    x = ops.concat(tables, 0) if len(tables) > 1 else tables[0]
    correction = ddof if ddof is not None else 0 if bias else 1
    weights = {}
    for value, name in ((fweights, "fweights"), (aweights, "aweights")):
        if value is not None:
            weights[name] = tensor_of(value, name, "cov")
    if "fweights" in weights and is_float(weights["fweights"]):
        raise TypeError(f"For 'cov', 'fweights' must hold integers, but got {weights['fweights'].dtype}.")
    return typed(ops.cov(x, correction=correction, **weights), dtype)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Tensor:
    """Return, in float32, the correlations of variables: their covariances over their deviations; see `cov`."""
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return typed(ops.div(c, c), dtype)
    deviation = ops.sqrt(c[tuple(wrap(i) for i in np.diag_indices(c.shape[0]))])
    scaled = ops.div(ops.div(c, ops.reshape(deviation, (-1, 1))), ops.reshape(deviation, (1, -1)))
    return typed(ops.clip(scaled, -1.0, 1.0), dtype)


def _rows(name: str, a: Any, v: Any) -> tuple[Tensor, Tensor]:
    """Two rows of one type."""
    rows = alike([tensor_of(a, "a", name), tensor_of(v, "v", name)])
    rows = [ops.reshape(r, (1,)) if r.ndim == 0 else r for r in rows]
    for row in rows:
        if row.ndim != 1 or row.size == 0:
            raise ValueError(f"For '{name}', 'a' and 'v' must be rows that are not empty, but got {row.shape}.")
    return rows[0], rows[1]


def _sums(name: str, a: Tensor, v: Tensor, mode: str, offset: int = 0) -> Tensor:
    """The convolution of two rows, sums over shifts; `offset` moves the start of "same"."""
    long, short = (a, v) if a.size >= v.size else (v, a)
    n, m = long.size, short.size
    bounds = {"full": (0, n + m - 1), "same": ((m - 1 + offset) // 2, (m - 1 + offset) // 2 + n), "valid": (m - 1, n)}
    check_choice(mode, "mode", name, bounds)
    edge = wrap(np.zeros(m - 1, kind_type(long)))
    padded = ops.concat((edge, long, edge), 0)
    first, last = bounds[mode]
    windows = np.arange(first, last)[:, None] + np.arange(m)
    picked = ops.gather(padded, wrap(windows), 0)
    result = ops.sum(ops.mul(picked, ops.flip(short, (0,))), 1)
    return cast(result, kind_type(a))


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """Return the convolution of two rows, the sums of a[i] v[n - i].

    Args:
        a: a row, a Tensor or numbers.
        v: another.
        mode: "full": every overlap; "same": as many as the longer row; "valid": whole overlaps only.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.convolve([1, 2, 3], [0, 1]))
        [0 1 2 3]
    """
    return _sums("convolve", *_rows("convolve", a, v), mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    """Return the cross-correlation of two rows as floats, the sums of a[i + n] v[i]; see `convolve`.

    Raises:
        TypeError: if the rows have different types.
    """
    first, second = tensor_of(a, "a", "correlate"), tensor_of(v, "v", "correlate")
    if first.dtype != second.dtype:
        raise TypeError(f"For 'correlate', 'a' and 'v' must have one dtype, but got {first.dtype} and {second.dtype}.")
    if not is_float(first):
        wide = np.dtype(np.float64) if kind_type(first).itemsize == 8 else FLOAT32
        first, second = cast(first, wide), cast(second, wide)
    first, second = _rows("correlate", first, second)
    return _sums("correlate", first, ops.flip(second, (0,)), mode, int(first.size < second.size))
