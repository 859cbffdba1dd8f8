"""Argument checks: what passes, which error, which text."""

import numpy as np
import pytest

from dist_ms.common import checks


@pytest.mark.parametrize(
    ("check", "good", "wrong_type", "wrong_value"),
    [
        (checks.check_bool, [True, False], [1, 0, None, "True", np.True_], []),
        (checks.check_int, [0, -3, np.int64(5)], [True, 1.0, "1", None], []),
        (checks.check_positive_int, [1, np.int32(2)], [True, 1.0, None], [0, -1]),
        (checks.check_non_negative_int, [0, 1], [False, 0.0], [-1]),
        (checks.check_number, [0, 1.5, np.float32(1), np.int8(1)], [True, "1", None, 1j], []),
        (checks.check_positive_number, [1, 0.5], [True, None], [0, -0.5, float("nan")]),
        (checks.check_non_negative_number, [0, 0.0], ["a"], [-1, float("nan")]),
        (checks.check_float, [1.5, np.float64(1)], [1, True, "a"], []),
        (checks.check_positive_float, [1e-8], [1], [0.0, -1.0, float("nan")]),
        (checks.check_non_negative_float, [0.0], [0], [-1.0]),
        (checks.check_string, ["", "a"], [3, None, b"a"], []),
        (checks.check_callable, [len, lambda: 0], [3, "a", None], []),
        (checks.check_key, [3, "a", None, (1,)], [[], {}, set()], []),
    ],
)
def test_what_passes(check, good, wrong_type, wrong_value):
    for value in good:
        assert check(value, "x", "F") is value
    for value in wrong_type:
        with pytest.raises(TypeError, match="For 'F', 'x' must be "):
            check(value, "x", "F")
    for value in wrong_value:
        with pytest.raises(ValueError, match=f"For 'F', 'x' must be .*, but got {value}"):
            check(value, "x", "F")


@pytest.mark.parametrize("check", [checks.check_int_range, checks.check_number_range])
@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [("[]", [0, 4], [-1, 5]), ("[)", [0, 3], [4]), ("(]", [1, 4], [0]), ("()", [1, 3], [0, 4])],
)
def test_ranges(check, bounds, inside, outside):
    for value in inside:
        assert check(value, "x", "F", 0, 4, bounds) == value
    for value in outside:
        with pytest.raises(ValueError, match="in .0, 4."):
            check(value, "x", "F", 0, 4, bounds)
    with pytest.raises(TypeError):
        check("a", "x", "F", 0, 4)


def test_float_range():
    assert checks.check_float_range(0.0, "p", "Dropout", 0.0, 1.0, "[)") == 0.0
    with pytest.raises(ValueError, match=r"For 'Dropout', 'p' must be a float in \[0.0, 1.0\), but got 1.0"):
        checks.check_float_range(1.0, "p", "Dropout", 0.0, 1.0, "[)")
    with pytest.raises(TypeError):
        checks.check_float_range(1, "p", "Dropout", 0.0, 1.0)


@pytest.mark.parametrize(
    ("value", "types", "ok"),
    [
        (1, int, True),
        (True, int, False),
        (True, (int, bool), True),
        (1.0, (int, float), True),
        (None, (int, type(None)), True),
        ("a", (int, float), False),
        (True, object, True),
    ],
)
def test_types(value, types, ok):
    if ok:
        assert checks.check_type(value, "x", "F", types) is value
    else:
        with pytest.raises(TypeError):
            checks.check_type(value, "x", "F", types)


@pytest.mark.parametrize(
    ("raising", "text"),
    [
        (
            lambda: checks.check_type(1, "p", "Dropout", (float, str)),
            "For 'Dropout', 'p' must be a float or str, but got int 1.",
        ),
        (
            lambda: checks.check_type([], "p", None, int),
            "The argument 'p' must be an int, but got list.",
        ),
        (
            lambda: checks.check_bool(1, "training", "BatchNorm"),
            "For 'BatchNorm', 'training' must be a bool, but got int 1.",
        ),
        (
            lambda: checks.check_string("x", "mode", "Pool", ("a", "b")),
            "For 'Pool', 'mode' must be one of 'a', 'b', but got 'x'.",
        ),
        (
            lambda: checks.check_choice("c", "wire", "Net", (None, "b")),
            "For 'Net', 'wire' must be one of None, 'b', but got 'c'.",
        ),
        (
            lambda: checks.check_dimensions(np.zeros((2, 3)), "x", "Net", 1),
            "For 'Net', 'x' must have 1 dimension, but got shape (2, 3).",
        ),
        (
            lambda: checks.check_elements([1, "b"], "axes", "Sum", int),
            "For 'Sum', 'axes' must be a tuple or list of int, but got [1, 'b'].",
        ),
        (
            lambda: checks.check_elements(3, "axes", "Sum", int),
            "For 'Sum', 'axes' must be a tuple or list of int, but got int 3.",
        ),
        (
            lambda: checks.check_shape([2, -1], "shape", "ones"),
            "For 'ones', 'shape' must be a shape without negative lengths, but got [2, -1].",
        ),
        (
            lambda: checks.check_shape("ab", "shape", "ones"),
            "For 'ones', 'shape' must be an int or a tuple or list of ints, but got 'ab'.",
        ),
    ],
)
def test_texts(raising, text):
    with pytest.raises((TypeError, ValueError)) as raised:
        raising()
    assert str(raised.value) == text


def test_a_choice_of_another_type_is_a_value_error():
    with pytest.raises(ValueError, match="but got 3"):
        checks.check_string(3, "mode", "Pool", ("a", "b"))


def test_shapes_become_tuples():
    assert checks.check_shape(3, "shape") == (3,)
    assert checks.check_shape([2, np.int64(0)], "shape") == (2, 0)
    assert checks.check_shape((), "shape") == ()
    with pytest.raises(TypeError):
        checks.check_shape([True], "shape")


def test_elements():
    assert checks.check_elements((1, 2.0), "x", "F", (int, float)) == (1, 2.0)
    assert checks.check_elements([np.int64(1)], "x", "F", int) == [1]
    for wrong, container in (((True,), tuple), ([1], tuple), ((1,), list)):
        with pytest.raises(TypeError, match="'x' must be a (list|tuple) of int"):
            checks.check_elements(wrong, "x", "F", int, container)


def test_dimensions():
    x = np.zeros((2, 3))
    assert checks.check_dimensions(x, "x", "F", 2, 3) is x


def test_a_remedy_follows_the_finding():
    assert checks.complaint("x", "F", "even", 3, "Double it.") == ("For 'F', 'x' must be even, but got 3. Double it.")
