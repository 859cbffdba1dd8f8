"""Functions that remember what they returned: which calls count as the same."""

import numpy as np
import pytest

from dist_ms._ext.remember import remembered


class Counted:
    """A function that counts its runs and refuses what is no int."""

    def __init__(self):
        self.runs = 0
        self.call = remembered(self.run)

    def run(self, *options):
        self.runs += 1
        return options, self.runs


PLAIN = [(1,), (2**80,), ("a",), (None,), (True,), (1.5,), ((1, 2),), (((1, 2), (3, 4)), "same", 0), (), (1,) * 16]


@pytest.mark.parametrize("options", PLAIN)
def test_a_second_call_runs_nothing(options):
    counted = Counted()
    assert counted.call(*options) is counted.call(*options)
    assert counted.runs == 1


@pytest.mark.parametrize(
    "options", [([1, 2],), ((1, True),), ((1, 2.0),), ((1, [2]),), (np.int64(1),), (np.float64(1),)]
)
def test_what_cannot_be_told_from_others_runs_each_time(options):
    counted = Counted()
    first, second = counted.call(*options), counted.call(*options)
    assert counted.runs == 2
    assert first[0] is not second[0]


@pytest.mark.parametrize("pair", [(1, True), (1, 1.0), (0, False), (0.0, False), ((1, 1), (1, True)), (1, np.int64(1))])
def test_equal_options_of_other_types_are_others(pair):
    counted = Counted()
    kinds = [type(counted.call(option)[0][0]) for option in (*pair, *pair)]
    assert kinds == [type(option) for option in (*pair, *pair)]
    assert type(counted.call(pair[1])[0][0]) is type(pair[1])


def test_positions_count():
    counted = Counted()
    assert counted.call(1, "a") is not counted.call("a", 1)
    assert counted.call(1, 1.0)[0] == (1, 1.0) and type(counted.call(1.0, 1)[0][0]) is float


def test_errors_are_raised_each_time():
    @remembered
    def positive(number):
        if number <= 0:
            raise ValueError(f"{number} is not above 0")
        return number

    for _ in range(3):
        assert positive(3) == 3
        with pytest.raises(ValueError, match="-1 is not above 0"):
            positive(-1)


def test_it_does_not_grow_without_bound():
    counted = Counted()
    first = counted.call(0)
    for number in range(1, 1000):
        counted.call(number)
    assert counted.runs == 1000
    assert counted.call(0) is not first
    assert counted.call(0) is counted.call(0)


def test_the_function_itself_can_be_reached():
    def plain(number):
        return [number]

    assert remembered(plain).function is plain
