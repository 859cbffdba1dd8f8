"""What operations note of MindSpore's classes of exception, and what the checks make of it."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common import checks, error_classes
from dist_ms.ops import arguments


@error_classes.raises(axis=(TypeError, RuntimeError), mode=KeyError)
@error_classes.reads(x="shape")
@error_classes.reads_of_none("y")
@error_classes.plain("size")
@error_classes.scalars("alpha")
@error_classes.bools("beta")
@error_classes.truths("flag")
@error_classes.shaped("z")
def noted(x, y, z, axis, mode, size, alpha, beta, flag):
    """An operation that departs in every way."""


def test_what_is_decorated_stays_itself():
    def plain():
        """Nothing."""

    assert error_classes.plain("a")(plain) is plain


def test_the_classes_of_a_pair_and_of_one():
    with pytest.raises(TypeError, match="'axis' must be an int"):
        arguments.one_axis("a", "axis", "noted", 2)
    with pytest.raises(RuntimeError, match="'axis' must be in the range"):
        arguments.one_axis(5, "axis", "noted", 2)
    with pytest.raises(KeyError):
        arguments.one_of("c", "mode", "noted", ("a", "b"))
    with pytest.raises(ValueError, match="'axis'"):
        arguments.one_axis(5, "axis", "another", 2)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("x", [1.0], AttributeError),
        ("x", np.ones(1), TypeError),
        ("y", None, AttributeError),
        ("y", [1.0], TypeError),
        ("z", 1.0, ValueError),
        ("z", "a", TypeError),
        ("w", None, TypeError),
    ],
)
def test_what_is_no_tensor(name, value, wanted):
    with pytest.raises(wanted, match="must be a Tensor"):
        arguments.tensor(value, name, "noted")


def test_checks_of_types_know_what_is_read():
    for value, name in (([1.0], "x"), (None, "y")):
        with pytest.raises(AttributeError, match=f"'{name}' must be a Tensor"):
            checks.check_type(value, name, "noted", ms.Tensor)
    with pytest.raises(TypeError, match="'y' must be a Tensor"):
        checks.check_type([1.0], "y", "noted", ms.Tensor)


def test_numbers_out_of_tensors():
    one, two = ms.Tensor([1]), ms.Tensor([1, 2])
    assert arguments.integer(one, "axis", "noted") == 1
    with pytest.raises(TypeError):
        arguments.integer(one, "size", "noted")
    with pytest.raises(ValueError, match="'alpha' must be an int"):
        arguments.integer(two, "alpha", "noted")
    with pytest.raises(TypeError):
        arguments.integer(two, "axis", "noted")


def test_bools_where_they_are_taken():
    assert arguments.integer(True, "beta", "noted") == 1
    assert arguments.number(True, "beta", "noted") is True
    assert checks.check_number(True, "beta", "noted") is True
    for check in (arguments.integer, arguments.number, checks.check_int):
        with pytest.raises(TypeError):
            check(True, "alpha", "noted")


def test_flags_of_which_the_truth_is_taken():
    for check in (arguments.boolean, checks.check_bool):
        assert check([1], "flag", "noted") is True
        assert check(None, "flag", "noted") is False
        with pytest.raises(TypeError, match="must be a bool"):
            check(1, "alpha", "noted")


def test_dtypes_by_their_letters():
    x = ms.Tensor([True])
    assert arguments.not_of(x, "FD", "x", "noted") is x
    with pytest.raises(TypeError, match="must not be Bool"):
        arguments.not_of(x, "?", "x", "noted")
    assert arguments.not_of(1.0, "?", "x", "noted") == 1.0  # not a tensor: for other checks


def test_what_has_an_order_and_what_can_be_an_index():
    with pytest.raises(TypeError, match="number type"):
        arguments.countable(np.ones(2, bool), "x", "noted")
    with pytest.raises(TypeError, match="real"):
        arguments.countable(np.ones(2, np.complex64), "x", "noted")
    with pytest.raises(TypeError, match="Int32 or Int64"):
        arguments.index_array(np.ones(2, np.uint8), "x", "noted")
    assert arguments.index_array(np.ones(2, np.int32), "x", "noted").size == 2


def test_equally_many_dimensions():
    x, y = ms.Tensor([1.0]), ms.Tensor([[1.0]])
    arguments.same_rank(x, x, "noted")
    arguments.same_rank(x, 1.0, "noted")
    with pytest.raises(ValueError, match="equally many dimensions"):
        arguments.same_rank(x, y, "noted")
