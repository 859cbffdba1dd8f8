"""Random numbers of transforms: one generator, started from the pipelines' seed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import numpy as np

from dist_ms.dataset import config

_state: dict[str, Any] = {"seed": None, "generator": None}


def generator() -> np.random.Generator:
    """The generator; a new one when `dataset.config.set_seed` or `set_seed` gave another seed."""
    seed = config.get_seed()
    if _state["seed"] != seed:
        _state["seed"], _state["generator"] = seed, np.random.default_rng(seed)
    return _state["generator"]


@contextmanager
def row_stream(key, depth):
    yield
