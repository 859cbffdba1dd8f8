"""Printed forms: every expected text here is what MindSpore 2.10.0 printed for the same array."""

import numpy as np
import pytest

import dist_ms as ms

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (3, None, "Int64, value= 3"),
        (True, None, "Bool, value= True"),
        (1.5, None, "Float32, value= 1.5"),
        (0.0, ms.float32, "Float32, value= 0"),
        (-0.0, ms.float64, "Float64, value= -0"),
        (2 / 3, ms.float64, "Float64, value= 0.666667"),
        (1234567, ms.float32, "Float32, value= 1.23457e+06"),
        (999999.5, ms.float32, "Float32, value= 1e+06"),
        (1e-5, ms.float16, "Float16, value= 1.00136e-05"),
        (1.5, ms.bfloat16, "BFloat16, value= 1.5"),
        (0.1, ms.bfloat16, "BFloat16, value= 0.100098"),
        (1j, None, "Complex128, value= 0+1j"),
        (1.5 - 2j, ms.complex64, "Complex64, value= 1.5-2j"),
    ],
)
def test_repr_of_a_single_element(value, dtype, wanted):
    assert repr(ms.Tensor(value, dtype)) == f"Tensor(shape=[], dtype={wanted})"


@pytest.mark.parametrize(
    ("values", "dtype", "wanted"),
    [
        ([1, -20, 300], ms.int32, "[3], dtype=Int32, value= [  1, -20, 300]"),
        ([True, False], ms.bool_, "[2], dtype=Bool, value= [ True, False]"),
        ([20, 0.2], ms.float32, "[2], dtype=Float32, value= [ 2.00000000e+01,  2.00000003e-01]"),
        ([1.5, -2.5e-5], ms.float16, "[2], dtype=Float16, value= [ 1.5000e+00, -2.4974e-05]"),
        (
            [1e100, 5e-324],
            ms.float64,
            "[2], dtype=Float64, value= [1.00000000e+100, 4.94065646e-324]",
        ),
        (
            [NAN, INF, -INF, -0.0],
            ms.float32,
            "[4], dtype=Float32, value= [            nan,             inf,            -inf, -0.00000000e+00]",
        ),
        (
            [1.5, -2.25, 3e30, NAN, INF, 0.1],
            ms.bfloat16,
            "[6], dtype=BFloat16, value= [        1.5,       -2.25, 2.99086e+30,         nan,"
            "         inf,    0.100098]",
        ),
        ([1 + 2j, -0.5 - 0.5j], ms.complex64, "[2], dtype=Complex64, value= [1+2j, -0.5-0.5j]"),
        (
            [complex(INF, 2), complex(1e-42, -INF)],
            ms.complex128,
            "[2], dtype=Complex128, value= [inf+2j, 1e-42-infj]",
        ),
    ],
)
def test_repr_of_one_dimension(values, dtype, wanted):
    assert repr(ms.Tensor(values, dtype)) == f"Tensor(shape={wanted})"


def test_repr_shows_the_sign_of_a_nan():
    negative = np.copysign(np.array([NAN]), -1).astype(np.float32)
    assert repr(ms.Tensor(negative)).endswith("[           -nan])")


def test_repr_of_matrices():
    x = ms.Tensor(np.array([[0.0, 1.0], [-2.0, 3.5]], np.float32))
    assert repr(x) == (
        "Tensor(shape=[2, 2], dtype=Float32, value=\n"
        "[[ 0.00000000e+00,  1.00000000e+00],\n"
        " [-2.00000000e+00,  3.50000000e+00]])"
    )


def test_repr_has_no_empty_lines_between_blocks():
    assert repr(ms.Tensor(np.arange(8).reshape(2, 2, 2))) == (
        "Tensor(shape=[2, 2, 2], dtype=Int64, value=\n[[[0, 1],\n  [2, 3]],\n [[4, 5],\n  [6, 7]]])"
    )


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((0,), "[0], dtype=Float32, value= )"),
        ((2, 0), "[2, 0], dtype=Float32, value=\n)"),
        ((0, 3), "[0, 3], dtype=Float32, value=\n)"),
    ],
)
def test_repr_of_empty_tensors(shape, wanted):
    assert repr(ms.Tensor(np.zeros(shape, np.float32))) == f"Tensor(shape={wanted}"
    assert str(ms.Tensor(np.zeros(shape, np.float32))) == "[]"


def test_repr_of_a_long_vector_is_cut_above_1000_elements():
    whole = repr(ms.Tensor(np.zeros(1000, np.int32)))
    assert whole.count("0,") == 999
    assert "..." not in whole
    assert repr(ms.Tensor(np.arange(2000))) == (
        "Tensor(shape=[2000], dtype=Int64, value= [   0,    1,    2 ... 1997, 1998, 1999])"
    )


@pytest.mark.parametrize(
    ("dtype", "per_line", "width"),
    [
        ("int32", 24, 97),
        ("uint8", 24, 97),
        ("complex64", 24, None),
        ("float32", 12, 205),
        ("float16", 12, 157),
        ("bool", 12, 85),
    ],
)
def test_repr_of_a_vector_breaks_after_24_or_12_elements(dtype, per_line, width):
    lines = repr(ms.Tensor((np.arange(90) + 10).astype(dtype))).split("\n")
    assert len(lines) == -(-90 // per_line)
    assert [line.count(", ") for line in lines[1:-1]] == [per_line] * (len(lines) - 2)
    assert width is None or {len(line) for line in lines[1:-1]} == {width}


def test_repr_cuts_every_dimension_above_six_however_small_the_tensor():
    assert repr(ms.Tensor(np.ones((2, 7), np.int64))) == (
        "Tensor(shape=[2, 7], dtype=Int64, value=\n[[1, 1, 1 ... 1, 1, 1],\n [1, 1, 1 ... 1, 1, 1]])"
    )
    assert repr(ms.Tensor(np.arange(14).reshape(7, 2))) == (
        "Tensor(shape=[7, 2], dtype=Int64, value=\n"
        "[[ 0,  1],\n [ 2,  3],\n [ 4,  5],\n ...\n [ 8,  9],\n [10, 11],\n [12, 13]])"
    )


def test_repr_aligns_to_what_is_shown():
    a = np.zeros((2, 20), np.int64)
    a[0, 10] = 123456
    assert "[0, 0, 0 ... 0, 0, 0]" in repr(ms.Tensor(a))
    a[0, 1] = -12
    assert "[  0, -12,   0 ...   0,   0,   0]" in repr(ms.Tensor(a))


def test_repr_of_memory_that_came_from_numpy_is_numpys():
    x = ms.Tensor.from_numpy(np.array([1.0, 2.5], np.float32))
    assert repr(x) == "Tensor(shape=[2], dtype=Float32, value= [1. , 2.5])"
    b = ms.Tensor.from_numpy(ms.Tensor([[1, 2], [3, 4.5]], ms.bfloat16).asnumpy())
    assert repr(b) == ("Tensor(shape=[2, 2], dtype=BFloat16, value=\n[[1.000000, 2.000000],\n [3.000000, 4.500000]])")


@pytest.mark.parametrize(
    ("values", "dtype", "wanted"),
    [
        ([11, 2], ms.float32, "[11.  2.]"),
        ([[True, False]], ms.bool_, "[[ True False]]"),
        ([1.5, NAN, INF], ms.float32, "[1.5 nan inf]"),
        ([5.0, 123456789.0], ms.float32, "[5.0000000e+00 1.2345679e+08]"),
        ([83.1, 2027, 1.2], ms.float16, "[8.312e+01 2.027e+03 1.200e+00]"),
        ([83.1, 2027], ms.float16, "[  83.1 2027. ]"),
        ([1000000, 2000000], ms.float32, "[1000000. 2000000.]"),
        ([1e-4], ms.float32, "[1.e-04]"),
        ([1e-4, 2e-4], ms.float32, "[1.e-04 2.e-04]"),
        ([1e-4, 1.5e-3, 123], ms.float32, "[1.00e-04 1.50e-03 1.23e+02]"),
        ([1e-4, NAN], ms.float32, "[1.e-04    nan]"),
        ([1.5, -2.25, 0.1], ms.bfloat16, "[1.500000 -2.250000 0.100098]"),
        (1e-4, ms.float32, "1e-04"),
        (1e-4, ms.float64, "0.0001"),
        (12345678, ms.float32, "12345678.0"),
        (1e16, ms.float32, "1e+16"),
        (30000, ms.float16, "30000.0"),
        (1.5, ms.bfloat16, "1.500000"),
        (1.5j, ms.complex64, "1.5j"),
        (1.5 - 2j, ms.complex64, "(1.5-2j)"),
        (complex(-0.0, 1), ms.complex128, "(-0+1j)"),
    ],
)
def test_str(values, dtype, wanted):
    assert str(ms.Tensor(values, dtype)) == wanted


def test_print_options_of_numpy_are_followed():
    with np.printoptions(precision=2, threshold=3, edgeitems=1):
        assert str(ms.Tensor([1.234, 2.0])) == "[1.23 2.  ]"
        assert str(ms.Tensor([1, 2, 3, 4, 5])) == "[1 ... 5]"
