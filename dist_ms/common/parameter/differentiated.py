"""Whose gradients are computed: one listener is told the weights of every sweep, where there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Differentiated:
    """Who is told.

    Attributes:
        listener: called with the weights before their gradients are computed; None where nobody wants to know.
    """

    __slots__ = ("listener",)

    def __init__(self) -> None:
        self.listener: Callable[[Sequence[Any]], None] | None = None


differentiated = Differentiated()
