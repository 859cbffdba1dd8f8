"""All random streams of a process, as one state."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from dist_ms.common.random import seed
from dist_ms.common.random.generator import default_generator
from dist_ms.common.tensor import from_array
from dist_ms.ops.layers import dropout


def state_dict() -> dict[str, Any]:
    """The states of the streams that operations, NumPy's and Python's global generators draw from.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.train.state import random_streams
        >>> state = random_streams.state_dict()
        >>> before = np.random.rand()
        >>> random_streams.load_state_dict(state)
        >>> before == np.random.rand()
        True
    """
    return {
        "numpy": np.random.get_state(),
        "python": random.getstate(),
        "generator": default_generator.get_state().asnumpy().copy(),
        "counts": seed.counts(),
        "dropout": dropout.offsets(),
    }


def load_state_dict(state: dict[str, Any]) -> None:
    """Go back to a state that `state_dict` returned.

    Raises:
        ValueError: if it is none.
    """
    try:
        name, keys, *rest = state["numpy"]
        np.random.set_state((str(name), np.asarray(keys, np.uint32), *rest))
        random.setstate(state["python"])
        default_generator.set_state(from_array(np.asarray(state["generator"], np.uint8)))
        seed.set_counts(state["counts"])
        dropout.set_offsets(dict(state["dropout"]))
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"For 'load_run', the state of the random streams is damaged: {error}") from error


def derive(state: dict[str, Any], rank: int) -> dict[str, Any]:
    """A state for a rank that there was not before: streams of its own, which follow from rank 0's and its number."""
    keys = np.asarray(state["numpy"][1], np.uint32)
    fresh = np.random.RandomState([*keys[:16].tolist(), rank])
    words = np.zeros(2, np.int64)
    words[0] = int(fresh.randint(1, 2**31 - 1))
    other = random.Random(int(fresh.randint(1, 2**31 - 1)))
    return {**state, "numpy": fresh.get_state(), "python": other.getstate(), "generator": words.view(np.uint8)}
