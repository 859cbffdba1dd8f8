"""Elastic jobs: when a rank is killed, the others make a smaller world and go on, in the same processes.

`dist-ms run --elastic` starts one. There `Model.train` and `Model.fit` go back to the newest state of their
RunCheckpoint and go on with the ranks that are left. For a loop of one's own there is `run`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dist_ms.communication import RankFailedError, get_group_size, get_rank, is_elastic, rank_has_died, shrink

__all__ = ["RankFailedError", "is_elastic", "run"]

_depth = 0


def run(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function; when another rank dies meanwhile, call it again with the ranks that are left.

    Every rank calls it, after `init()`. The function makes all that depends on the ranks anew (dataset shards, train
    step, groups), and begins with what `load_run` or `resume` finds, as a script does that is started again: rank and
    number of ranks are other ones. In other jobs than elastic ones it is called once.

    Args:
        function: trains. Where it calls `Model.train`, that does not go back by itself.
        args: what it is called with.

    Returns:
        What it returns.

    Raises:
        Exception: what it raises, if no rank's death has caused that.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> from dist_ms import elastic
        >>> from dist_ms.communication import init
        >>> init()
        >>> folder = tempfile.mkdtemp()
        >>> def train():
        ...     net = ms.nn.Dense(2, 1)
        ...     found = ms.train.load_run(folder, net=net)
        ...     for step in range(0 if found is None else found["step"], 3):
        ...         ms.train.save_run(folder, step + 1, net=net)
        ...     return step + 1
        >>> elastic.run(train)
        3
    """
    global _depth
    while True:
        _depth += 1
        try:
            return function(*args)
        except Exception as error:
            if not rank_has_died(error):
                raise
        finally:
            _depth -= 1
        who = shrink()
        if get_rank() == 0:
            size = get_group_size()
            say(f"dist_ms: {who}; {size} rank{'s begin' if size > 1 else ' begins'} anew.")


def running() -> bool:
    """Whether this is called by the function of `run`."""
    return _depth > 0


def say(line: str) -> None:
    """Write a line to stderr.

    Args:
        line: without its end.
    """
    try:
        sys.stdout.flush()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # nobody reads any more
