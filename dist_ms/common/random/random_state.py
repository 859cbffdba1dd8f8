"""The state of all global random generators, for code that runs twice with equal numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dist_ms.common.random.generator import default_generator
from dist_ms.common.random.seed import counts, operations_seeded, seeded, set_counts
from dist_ms.common.tensor import Tensor


def get_random_state() -> tuple[Any, Tensor, tuple]:
    """The state that random operations draw from now."""
    return np.random.get_state(), default_generator.get_state(), counts()


def set_random_state(state: tuple[Any, Tensor, tuple]) -> None:
    """Go back to a state that `get_random_state` returned."""
    np.random.set_state(state[0])
    default_generator.set_state(state[1])
    set_counts(state[2])


@contextmanager
def stream(*words: int) -> Iterator[None]:
    """A region whose random numbers, of whatever source, depend on `words` alone; all states are put back after it."""
    state = default_generator.get_state()
    with seeded(*words):
        key = int(np.random.randint(1, 2**31 - 1))
        default_generator.manual_seed(key)
        try:
            with operations_seeded(key):
                yield
        finally:
            default_generator.set_state(state)
