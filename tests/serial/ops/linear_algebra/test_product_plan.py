"""Which algorithm is chosen for a product: a table."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms.ops.capabilities import Capabilities
from dist_ms.ops.linear_algebra.product_plan import Algorithm, Order, choose, deciding_order, is_readable, lies, plan

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
        (512, 1, 128, (), BF16, AMX, ROWS, True, "ONEDNN"),
        (512, 1, 128, (), BF16, AMX, COLUMNS, True, "VECTOR"),
        (512, 1, 128, (), F16, AMX, ROWS, True, "VECTOR"),
        (1024, 1, 64, (), F32, PLAIN, ROWS, False, "ONEDNN"),  # a short vector
        (1024, 1, 64, (), F32, PLAIN, COLUMNS, False, "VECTOR"),
        (512, 1, 128, (), F32, PLAIN, APART, False, "ONEDNN"),
        (511, 1, 128, (), F32, PLAIN, ROWS, False, "ONEDNN"),  # a small matrix
        (512, 1, 128, (3,), F32, PLAIN, ROWS, False, "ONEDNN"),
        (8, 96, 64, (), F32, AMX, ROWS, True, "FEW_ROWS"),
        (2, 4096, 4096, (), F32, PLAIN, COLUMNS, False, "FEW_ROWS"),
        (9, 96, 64, (), F32, PLAIN, ROWS, True, "ONEDNN"),
        (8, 95, 64, (), F32, PLAIN, ROWS, True, "ONEDNN"),
        (8, 96, 63, (), F32, PLAIN, ROWS, True, "ONEDNN"),
        (8, 96, 64, (2,), F32, PLAIN, ROWS, True, "ONEDNN"),
        (8, 96, 64, (), BF16, PLAIN, ROWS, True, "ONEDNN"),
        (3, 5, 1, (), F32, AMX, ROWS, True, "OUTER"),
        (3, 5, 1, (2,), F32, AMX, ROWS, False, "ONEDNN"),
        (3, 5, 1, (), BF16, PLAIN, ROWS, False, "ONEDNN"),
        (180, 180, 64, (), F32, AMX, ROWS, True, "TILES"),
        (180, 180, 64, (), F32, PLAIN, ROWS, True, "ONEDNN"),
        (180, 180, 64, (), F32, AMX._replace(rounds=True), ROWS, True, "ONEDNN"),
        (179, 180, 64, (), F32, AMX, ROWS, True, "ONEDNN"),  # each split factor is used by few
        (64, 64, 64, (), F32, AMX, ROWS, True, "ONEDNN"),  # few multiplications
        (64, 64, 64, (2,), F32, AMX, ROWS, True, "ONEDNN"),  # each split factor is used by few
        (192, 192, 32, (2,), F32, AMX, ROWS, True, "TILES"),
        (128, 128, 64, (2,), F32, AMX, ROWS, True, "ONEDNN"),
        (32, 2048, 2048, (), F32, AMX, ROWS, True, "ONEDNN"),
        (2048, 96, 2048, (), F32, AMX, ROWS, True, "TILES"),
        (192, 192, 31, (), F32, AMX, ROWS, True, "ONEDNN"),  # narrower than a tile
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
    apart = np.zeros((6, 8), np.float32)[::2, ::2]
    assert [lies(x.strides, F32) for x in (a, a.T, apart)] == [ROWS, COLUMNS, APART]
    assert deciding(a, b.copy("F")) is ROWS
    assert deciding(a[:1], b) is COLUMNS and deciding(a[:1], b.copy("F")) is ROWS
    assert deciding(a.copy("F"), b[:, :1]) is COLUMNS
    assert deciding(a[:1], b[:, :1]) is ROWS


def deciding(a, b):
    return deciding_order(a.shape[0], b.shape[1], a.strides, b.strides, F32)


def planned(a, b, has_bias=False):
    return plan(a.shape, b.shape, a.strides, b.strides, a.dtype, PLAIN, has_bias)


def test_a_plan_says_what_the_result_is_and_whether_factors_are_read_where_they_lie():
    a, b = np.zeros((32, 64), np.float32), np.zeros((64, 48), np.float32)
    assert planned(a, b) == (Algorithm.ONEDNN, (), (32, 48), True)
    assert planned(a.copy("F"), b[:, :40]) == (Algorithm.ONEDNN, (), (32, 40), True)
    assert not planned(a, np.zeros((64, 96), np.float32)[:, ::2]).direct
    assert not planned(np.broadcast_to(a[:1], a.shape), b).direct
    assert planned(np.zeros((3, 1, 32, 64), np.float32), np.zeros((2, 64, 48), np.float32))[1:] == (
        (3, 2),
        (3, 2, 32, 48),
        False,
    )
    assert planned(a[:1], np.zeros((64, 2048), np.float32).copy("F")).algorithm is Algorithm.ONEDNN  # a short vector
    assert planned(a[:1], np.zeros((64, 2048), np.float32)).algorithm is Algorithm.VECTOR
    with pytest.raises(ValueError, match="broadcast"):
        planned(np.zeros((3, 32, 64), np.float32), np.zeros((2, 64, 48), np.float32))


def test_what_one_dnn_reads_in_place():
    x = np.zeros((4, 6, 8), np.float32)
    for y, wanted in (
        (x, True),
        (x.swapaxes(1, 2), True),
        (x[:, ::2, ::2], False),
        (x[:, ::2], True),
        (np.broadcast_to(x[:1], x.shape), False),
        (x[:1], True),
    ):
        assert is_readable(y.shape, y.strides, F32) is wanted
