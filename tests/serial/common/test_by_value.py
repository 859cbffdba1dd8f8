"""What goes to another process by value comes there whole."""

import pickle
import threading
import traceback

import pytest

from dist_ms.common.by_value import dumped_by_value


def there(value):
    return pickle.loads(dumped_by_value(value))


def test_a_function_goes_with_what_it_refers_to():
    offset = 5

    class Pair:
        def __init__(self, a):
            self.a = a

    def added(a):
        return Pair(a + offset).a

    assert there(added)(2) == 7 and there(lambda a: added(a))(1) == 6


def test_tracebacks_show_lines_of_functions_that_went_by_value():
    def fails():
        def within():
            raise KeyError("here")  # a line to be seen

        within()

    with pytest.raises(KeyError) as found:
        there(fails)()
    text = "".join(traceback.format_exception(found.value))
    assert "# a line to be seen" in text and text.count(__file__) == 3


def test_what_cannot_be_pickled_is_told():
    lock = threading.Lock()
    with pytest.raises(TypeError, match=r"cannot pickle '_thread\.lock'"):
        dumped_by_value(lambda: lock)
