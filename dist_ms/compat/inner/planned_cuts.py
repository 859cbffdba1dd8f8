"""How MindSpore's planner has cut the parameters of a network: here it cuts none, and says so as MindSpore does."""

from __future__ import annotations

from typing import Any

from dist_ms.common.once import warn_once

__all__ = [
    "clear_strategy_metadata",
    "enable_save_strategy_online",
    "get_current_strategy_metadata",
    "get_strategy_metadata",
]


def _checked(network: Any, owner: str) -> None:
    """Require a Cell."""
    if not hasattr(network, "compile_phase"):
        raise TypeError(f"For '{owner}', 'network' must be a Cell, but got {type(network).__name__}.")


def get_strategy_metadata(network: Any, rank_id: int | None = None) -> dict | None:
    """Return how a planner has cut a network's parameters for each rank: None, as for any network that none has cut.

    Parameters of `nn.model_parallel` are cut by their layers, not by a planner.

    Args:
        network: the network.
        rank_id: ask for one rank only.

    Raises:
        TypeError: if it is no Cell.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.planned_cuts import get_strategy_metadata
        >>> get_strategy_metadata(ms.nn.Dense(2, 2)) is None
        True
    """
    _checked(network, "get_strategy_metadata")
    return None


def get_current_strategy_metadata(network: Any) -> dict | None:
    """Return how a planner has cut a network's parameters for this rank: None, as for any network that none has cut.

    Args:
        network: the network.

    Raises:
        TypeError: if it is no Cell.
    """
    _checked(network, "get_current_strategy_metadata")
    return None


def enable_save_strategy_online() -> None:
    """Ask for the cuts to be kept; a warning says once that there are none."""
    warn_once("strategy", "'enable_save_strategy_online' keeps nothing: no parameter is cut by a planner on CPUs.")


def clear_strategy_metadata() -> None:
    """Forget the cuts that are kept, of which there are none."""
