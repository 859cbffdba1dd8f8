"""Which algorithm makes a product of matrices: a function of sizes, the type, how factors lie and the CPU.

Nothing is computed here; `matrix_product` runs what is chosen.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

import ml_dtypes
import numpy as np

from dist_ms.ops.capabilities import Capabilities

_BF16, _F16, _F32 = map(np.dtype, (ml_dtypes.bfloat16, np.float16, np.float32))
# Elements of a matrix from which on, and a vector's length from which on, the kernel for a vector is quicker than BLAS.
_MANY, _LONG = 1 << 16, 128
# Rows of float32 that the kernel for few multiplies with a large matrix, which it reads where it lies, where oneDNN
# copies it first at many sizes: 8 rows times 512 x 512 took 0.45 x its time, 2048 x 2048 0.75 x; 16 rows as long. And
# how many columns that kernel wants, and how long they must be to be worth their sums.
_FEW_ROWS, _COLUMNS, _DEPTH = 8, 96, 64
# AMX multiplies blocks of 32 by 32; below that most of a block would be padding.
_LEAST = 32
# Multiplications of one product below which oneDNN is quicker: the split of the factors costs more than AMX saves.
_FEW = 1 << 20
# Rows times columns over their sum, from which on AMX makes up for the split of a factor that few rows or columns are
# multiplied with: 1000 x 300 times 77 columns (72) took 1.2 x oneDNN's time, 2048 x 2048 times 96 (92) as long, 192 x
# 192 times 192 (96) 0.9 x; out of the caches AMX gains less.
_USES = 90
# Rows from which on the project's product of 16 bits is quicker than oneDNN's where the first factor lies in rows: it
# packs the second one at every call (64 rows 0.7 to 1.0 x, 256 and more 0.9 to 1.7 x, and it takes float32 without a
# cast). Where that factor lies in columns, as for a weight's gradient, oneDNN has to turn it: 1.0 to 2.8 x.
_MANY_ROWS = 128


class Order(Enum):
    """How a matrix lies in memory: with its rows contiguous, its columns (and not its rows), or neither."""

    ROWS = auto()
    COLUMNS = auto()
    APART = auto()


class Algorithm(Enum):
    """How a product is made.

    Attributes:
        NONE: there is nothing to multiply.
        VECTOR: a matrix times a vector, by a kernel of ours.
        FEW_ROWS: float32 of few rows and a large matrix, by a kernel of ours.
        OUTER: a column times a row, of float32, by a kernel of ours.
        TILES: float32 in AMX tiles.
        ROUNDED_TILES: 16-bit numbers in AMX tiles, the first factor read in columns.
        ONEDNN: oneDNN's.
    """

    NONE = auto()
    VECTOR = auto()
    FEW_ROWS = auto()
    OUTER = auto()
    TILES = auto()
    ROUNDED_TILES = auto()
    ONEDNN = auto()


class Plan(NamedTuple):
    """How one product is made.

    Attributes:
        algorithm: what makes it.
        lead: its leading dimensions.
        shape: its shape.
        direct: oneDNN makes it of two matrices that it can read where they lie.
    """

    algorithm: Algorithm
    lead: tuple
    shape: tuple
    direct: bool


@lru_cache(8192)  # looking up a plan costs less than asking an array or an enumeration for four facts
def plan(
    a: tuple, b: tuple, a_strides: tuple, b_strides: tuple, dtype: np.dtype, cpu: Capabilities, has_bias: bool
) -> Plan:
    """Plan the product of two arrays.

    Args:
        a, b: shapes (..., m, k) and (..., k, n).
        a_strides, b_strides: of these arrays, in bytes.
        dtype: of both.
        cpu: what that can do.
        has_bias: a bias is added.

    Raises:
        ValueError: if the leading dimensions do not broadcast.
    """
    (m, k), n = a[-2:], b[-1]
    lead = np.broadcast_shapes(a[:-2], b[:-2])
    algorithm = choose(m, n, k, lead, dtype, cpu, deciding_order(m, n, a_strides, b_strides, dtype), has_bias)
    matrices = len(a) == len(b) == 2
    direct = matrices and is_readable(a, a_strides, dtype) and is_readable(b, b_strides, dtype)
    return Plan(algorithm, lead, (*lead, m, n), direct and algorithm is Algorithm.ONEDNN)


def deciding_order(m: int, n: int, a_strides: tuple, b_strides: tuple, dtype: np.dtype) -> Order:
    """How the matrix of a product with a vector lies, (n, k) for a vector first; else how the first factor does."""
    return lies(b_strides[::-1] if m == 1 != n else a_strides, dtype)


def lies(strides: tuple, dtype: np.dtype) -> Order:
    """How a matrix, or each of several, lies in memory, by its strides in bytes."""
    if strides[-1] == dtype.itemsize:
        return Order.ROWS
    return Order.COLUMNS if strides[-2] == dtype.itemsize else Order.APART


def is_readable(shape: tuple, strides: tuple, dtype: np.dtype) -> bool:
    """Whether oneDNN reads a matrix, or three dimensions of them, in place: one unit stride, and no overlap."""
    (rows, columns), size = strides[-2:], dtype.itemsize
    if len(shape) == 3 and shape[0] > 1 and strides[0] < size * shape[-1] * shape[-2]:
        return False
    return (columns == size and rows >= size * shape[-1]) or (rows == size and columns >= size * shape[-2])


def choose(
    m: int, n: int, k: int, lead: tuple, dtype: np.dtype, cpu: Capabilities, order: Order, has_bias: bool
) -> Algorithm:
    """Choose for (..., m, k) times (..., k, n).

    Args:
        m, n, k: sizes.
        lead: the leading dimensions.
        dtype: of both factors.
        cpu: what that can do.
        order: the `deciding_order`.
        has_bias: a bias is added.
    """
    if not k or not m or not n or 0 in lead:
        return Algorithm.NONE
    if is_by_vector(m, n, k, lead, order):
        # Of bfloat16 in rows oneDNN's AMX took 0.6 to 0.9 x the vector kernel's time; of columns 2 x.
        return Algorithm.ONEDNN if dtype == _BF16 and cpu.amx and order is Order.ROWS else Algorithm.VECTOR
    if dtype == _F32:
        if k == 1 and not lead:
            return Algorithm.OUTER
        if 1 < m <= _FEW_ROWS and n >= _COLUMNS and k >= _DEPTH and not lead:
            return Algorithm.FEW_ROWS
        return Algorithm.TILES if in_tiles(m, n, k, cpu, lead) else Algorithm.ONEDNN
    if not lead and not has_bias and order is Order.COLUMNS and rounds_itself(m, n, cpu, True, dtype):
        return Algorithm.ROUNDED_TILES
    return Algorithm.ONEDNN


def is_by_vector(m: int, n: int, k: int, lead: tuple, order: Order) -> bool:
    """Whether a product of a matrix and a vector, in either order, is made by the kernel for these."""
    if lead or min(m, n) != 1 or max(m, n) * k < _MANY:
        return False
    return k >= _LONG if order is Order.ROWS else order is Order.COLUMNS


def in_tiles(m: int, n: int, k: int, cpu: Capabilities, lead: tuple = ()) -> bool:
    """Whether a float32 product, or several, is made in AMX tiles: where it fills them, and exactly."""
    enough = m >= _LEAST and n >= _LEAST and k >= _LEAST and (bool(lead) or m * n * k >= _FEW)
    used = m * n >= _USES * (m + n)
    return enough and used and cpu.amx and not cpu.rounds


def rounds_itself(rows: int, columns: int, cpu: Capabilities, few: bool, low: np.dtype) -> bool:
    """Whether a product of so many rows and columns is made by the kernel that rounds its factors to `low` itself.

    `few`: the first factor lies in columns, or there are several products, and few rows are enough.
    """
    if rows < (_LEAST if few else _MANY_ROWS) or columns < _LEAST:
        return False
    return cpu.amx_float16 if low == _F16 else cpu.amx
