"""Which algorithm is chosen for a product: a table."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms.ops.capabilities import Capabilities
from dist_ms.ops.linear_algebra.matrix_product import deciding_order, order_of
from dist_ms.ops.linear_algebra.product_plan import Algorithm, Order, choose

F32, BF16, F16 = map(np.dtype, (np.float32, ml_dtypes.bfloat16, np.float16))
PLAIN = Capabilities()
AMX = Capabilities(amx=True, bfloat16=True)
ROWS, COLUMNS, APART = Order.ROWS, Order.COLUMNS, Order.APART


@pytest.mark.parametrize(
    "m, n, k, lead, dtype, cpu, order, has_bias, wanted",
    [
        (0, 4, 4, (), F32, AMX, ROWS, False, "NONE"),
        (4, 4, 0, (), F32, AMX, ROWS, True, "NONE"),
        (4, 4, 4, (2, 0), BF16, AMX, ROWS, False, "NONE"),
        (1, 512, 128, (), F32, AMX, ROWS, False, "VECTOR"),
        (512, 1, 128, (), BF16, PLAIN, ROWS, True, "VECTOR"),
        (1024, 1, 64, (), F32, PLAIN, ROWS, False, "ONEDNN"),  # a short vector
        (1024, 1, 64, (), F32, PLAIN, COLUMNS, False, "VECTOR"),
        (512, 1, 128, (), F32, PLAIN, APART, False, "ONEDNN"),
        (511, 1, 128, (), F32, PLAIN, ROWS, False, "ONEDNN"),  # a small matrix
        (512, 1, 128, (3,), F32, PLAIN, ROWS, False, "ONEDNN"),
        (3, 5, 1, (), F32, AMX, ROWS, True, "OUTER"),
        (3, 5, 1, (2,), F32, AMX, ROWS, False, "ONEDNN"),
        (3, 5, 1, (), BF16, PLAIN, ROWS, False, "ONEDNN"),
        (128, 128, 64, (), F32, AMX, ROWS, True, "TILES"),
        (128, 128, 64, (), F32, PLAIN, ROWS, True, "ONEDNN"),
        (128, 128, 64, (), F32, AMX._replace(rounds=True), ROWS, True, "ONEDNN"),
        (64, 64, 64, (), F32, AMX, ROWS, True, "ONEDNN"),  # few multiplications
        (64, 64, 64, (2,), F32, AMX, ROWS, True, "ONEDNN"),  # each split factor is used by few
        (192, 192, 32, (2,), F32, AMX, ROWS, True, "TILES"),
        (128, 128, 64, (2,), F32, AMX, ROWS, True, "ONEDNN"),
        (32, 2048, 2048, (), F32, AMX, ROWS, True, "ONEDNN"),
        (2048, 64, 2048, (), F32, AMX, ROWS, True, "TILES"),
        (128, 128, 31, (), F32, AMX, ROWS, True, "ONEDNN"),  # narrower than a tile
        (32, 32, 64, (), BF16, AMX, COLUMNS, False, "ROUNDED_TILES"),
        (32, 32, 64, (), BF16, AMX, ROWS, False, "ONEDNN"),
        (32, 32, 64, (), BF16, AMX, COLUMNS, True, "ONEDNN"),
        (32, 32, 64, (2,), BF16, AMX, COLUMNS, False, "ONEDNN"),
        (31, 32, 64, (), BF16, AMX, COLUMNS, False, "ONEDNN"),
        (32, 32, 64, (), F16, AMX, COLUMNS, False, "ONEDNN"),
        (32, 32, 64, (), F16, AMX._replace(amx_float16=True), COLUMNS, False, "ROUNDED_TILES"),
    ],
)
def test_what_is_chosen(m, n, k, lead, dtype, cpu, order, has_bias, wanted):
    assert choose(m, n, k, lead, dtype, cpu, order, has_bias) is Algorithm[wanted]


def test_how_matrices_lie():
    a, b = np.zeros((3, 4), np.float32), np.zeros((4, 5), np.float32)
    assert order_of(a) is ROWS and order_of(a.T) is COLUMNS and order_of(np.zeros((6, 8))[::2, ::2]) is APART
    assert deciding_order(a, b.copy("F")) is ROWS
    assert deciding_order(a[:1], b) is COLUMNS and deciding_order(a[:1], b.copy("F")) is ROWS
    assert deciding_order(a.copy("F"), b[:, :1]) is COLUMNS
    assert deciding_order(a[:1], b[:, :1]) is ROWS
