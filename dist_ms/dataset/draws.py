"""Random numbers of transforms: in a pipeline each row has a stream of its own, so they do not depend on workers."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from dist_ms._ext.row_streams import RowStream, current, row_key, row_keys
from dist_ms.dataset import config

_state: dict[str, Any] = {"seed": None, "generator": None, "follows": False}
_lock = threading.Lock()


def generator() -> Any:
    """The random numbers of the row that this thread makes; outside of pipelines those of the seed.

    Returns:
        an object with methods of NumPy's Generator: random, uniform, integers, normal, permutation, shuffle, choice,
        beta, exponential.
    """
    stream = getattr(current, "stream", None)
    if stream is not None:
        return stream
    seed = config.get_seed()
    with _lock:
        if _state["seed"] != seed:
            _state["seed"], _state["generator"] = seed, np.random.default_rng(seed)
        return _state["generator"]


def row_seed(key: tuple, depth: int) -> int:
    """64 bits that follow from the seed, the epoch and place of a row, and the depth of a stage."""
    return row_key(config.get_seed(), key, depth)


def follow_rows() -> None:
    """From now on `follow_row` seeds the global generators of this process, in which nothing else draws from them."""
    _state["follows"] = True


def follow_row(key: tuple, depth: int) -> None:
    """Make what functions of the user's draw from NumPy's and Python's global generators follow from the row alone."""
    if _state["follows"]:
        number = row_seed(key, depth) % 2**32
        random.seed(number)
        np.random.seed(number)


def row_stream(key: tuple, depth: int) -> Any:
    """The stream of a row at a stage; in a `with` it is what `generator` gives."""
    if isinstance(getattr(current, "stream", None), _NoRandomness):
        return nullcontext()
    return RowStream(row_key(config.get_seed(), key, depth))


def row_seeds(epochs: np.ndarray, places: np.ndarray, depth: int) -> np.ndarray:
    """`row_seed` of many rows at once.

    Args:
        epochs, places: int64, the first two numbers of each row's key.
        depth: of the stage.

    Returns:
        uint64, the keys of the rows' streams.

    Raises:
        RuntimeError: where nothing may draw random numbers.
    """
    if isinstance(getattr(current, "stream", None), _NoRandomness):
        current.stream.random()
    return row_keys(config.get_seed(), epochs, places, depth)


class _NoRandomness:
    """Stands for the stream of rows that are made once and kept."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(
            "For 'DatasetCache', the operations before it must draw no random numbers, but one does: the rows would be "
            "the same in all epochs. Cache what comes before, and draw in a later map."
        )


@contextmanager
def without_randomness() -> Iterator[None]:
    """Meanwhile nothing in this thread may draw random numbers."""
    before = getattr(current, "stream", None)
    current.stream = _NoRandomness()
    try:
        yield
    finally:
        current.stream = before
