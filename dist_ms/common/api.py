"""`mindspore.common.api`: jit and its kin, and the executors that scripts reach for."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dist_ms.common.jit import (
    JitConfig,
    constexpr,
    jit,
    jit_class,
    lazy_inline,
    no_inline,
    set_recursion_limit,
)
from dist_ms.common.mutables import mutable
from dist_ms.common.random.random_state import get_random_state, set_random_state
from dist_ms.common.tensor import Tensor

__all__ = [
    "JitConfig",
    "_cell_graph_executor",
    "_pynative_executor",
    "constexpr",
    "jit",
    "jit_class",
    "lazy_inline",
    "mutable",
    "no_inline",
    "set_recursion_limit",
]


class _PyNativeExecutor:
    """Runs operations one by one."""

    def sync(self) -> None:
        """Wait until all operations called so far are done; they are when their call returns."""


class _CellGraphExecutor:
    """Checks a network by running it once."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def compile(self, obj: Any, *args: Any, phase: str = "predict", **kwargs: Any) -> tuple[str, bool]:
        """Check the names of a network's parameters, and that it runs on some inputs.

        Parameters, and the random generator, are afterwards what they were before. Inputs
        without data (a shape of which only parts are known) leave the run out.

        Returns:
            (the name of the compiled network, True).

        Raises:
            AttributeError: if `obj` is no Cell.
            ValueError: if two parameters have the same name.
        """
        if not hasattr(obj, "construct"):
            raise AttributeError(
                f"The {type(obj).__name__} does not have method construct: only a Cell can be compiled."
            )
        obj.check_names()
        if all(x.init is not None or x._data is not None for x in (*args, *kwargs.values()) if isinstance(x, Tensor)):
            _try(obj, args, kwargs)
        return f"{phase}.{id(obj)}.{next(self._numbers)}", True


def _try(net: Any, args: tuple, kwargs: dict) -> None:
    """Run a network and undo what that did to its parameters."""
    before = [(p, p._data, p._data.copy()) for p in net.get_parameters() if p._data is not None]
    random = get_random_state()
    try:
        net(*args, **kwargs)
    finally:
        set_random_state(random)
        for p, data, values in before:
            np.copyto(data, values)
            p._data = data


_pynative_executor = _PyNativeExecutor()
_cell_graph_executor = _CellGraphExecutor()
