"""Checks of the values of settings: each takes a key and its value, and raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import complaint

Check = Callable[[str, Any], None]


class ValueChecks:
    """Makes checks for the function that sets the values.

    Args:
        owner: its name.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def of_type(self, kind: type) -> Check:
        """Return a check for one type."""

        def check(key: str, value: Any) -> None:
            if not isinstance(value, kind):
                raise TypeError(complaint(key, self._owner, f"a {kind.__name__}", repr(value)))

        return check

    def ints(self, low: int, high: int | None = None) -> Check:
        """Return a check for ints within limits."""

        def check(key: str, value: Any) -> None:
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(complaint(key, self._owner, "an int", repr(value)))
            if value < low or (high is not None and value > high):
                wanted = f"in [{low}, {high}]" if high is not None else f"at least {low}"
                raise ValueError(complaint(key, self._owner, wanted, value))

        return check

    def one_of(self, *choices: str) -> Check:
        """Return a check for one of several words."""

        def check(key: str, value: Any) -> None:
            self.of_type(str)(key, value)
            if value not in choices:
                raise ValueError(complaint(key, self._owner, f"one of {', '.join(map(repr, choices))}", repr(value)))

        return check
