"""Settings of data pipelines: the seed of shuffles, worker threads and how far they run ahead."""

from __future__ import annotations

from dist_ms.common.checks import check_int_range, check_positive_int
from dist_ms.common.random import seed as global_seed

_settings: dict = {"seed": None, "num_parallel_workers": 2, "prefetch_size": 16}

__all__ = [
    "get_num_parallel_workers",
    "get_prefetch_size",
    "get_seed",
    "set_num_parallel_workers",
    "set_prefetch_size",
    "set_seed",
    "shuffle_seed",
]


def set_seed(seed: int) -> None:
    """Set the seed of shuffles (0 to 2**32 - 1); the same on every rank."""
    check_int_range(seed, "seed", "set_seed", 0, 2**32 - 1)
    _settings["seed"] = seed


def get_seed() -> int:
    """The seed of shuffles: this module's, else the global one, else MindSpore's default 5489."""
    if _settings["seed"] is not None:
        return _settings["seed"]
    general = global_seed.get_seed()
    return 5489 if general is None else general


shuffle_seed = get_seed


def set_num_parallel_workers(num: int) -> None:
    """Set how many threads run the functions of `map`."""
    _settings["num_parallel_workers"] = check_positive_int(num, "num", "set_num_parallel_workers")


def get_num_parallel_workers() -> int:
    """How many threads run the functions of `map`."""
    return _settings["num_parallel_workers"]


def set_prefetch_size(size: int) -> None:
    """Set how many rows a pipeline with Python functions prepares ahead."""
    _settings["prefetch_size"] = check_positive_int(size, "size", "set_prefetch_size")


def get_prefetch_size() -> int:
    """How many rows a pipeline with Python functions prepares ahead."""
    return _settings["prefetch_size"]
