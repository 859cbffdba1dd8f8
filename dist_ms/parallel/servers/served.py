"""What optimizers and layers ask of parameter servers: nothing happens in a job that has none."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from dist_ms.common.parameter.postponing import no_init_parameters
from dist_ms.parallel.servers.client import client
from dist_ms.parallel.servers.roles import is_worker


def hand_over(optimizer: Any) -> None:
    """Give the servers what the plan wants them to hold, before the first forward run looks at it; done once.

    Args:
        optimizer: has `parameters`, in the order of the gradients.

    Examples:
        >>> from dist_ms.parallel.servers.served import hand_over
        >>> hand_over(None)
    """
    if is_worker():
        client().begin(optimizer)


def push(optimizer: Any, gradients: Mapping[int, Any]) -> Mapping[int, Any]:
    """Send servers the gradients of what they hold and take their new values.

    Args:
        optimizer: what the gradients are for.
        gradients: by the place of the parameter.

    Returns:
        The gradients of what this process updates itself.

    Examples:
        >>> from dist_ms.parallel.servers.served import push
        >>> push(None, {0: "a gradient"})
        {0: 'a gradient'}
    """
    return client().push(optimizer, gradients) if is_worker() else gradients


def table(parameter: Any) -> Any:
    """Return the link of a table that servers hold; None if it is here.

    Args:
        parameter: the table.

    Examples:
        >>> from dist_ms.parallel.servers.served import table
        >>> table(None) is None
        True
    """
    return client().table(parameter) if is_worker() else None


def tables_made_late() -> AbstractContextManager:
    """Return a context in which a worker makes no values of parameters: servers may turn out to hold them.

    Examples:
        >>> from dist_ms.parallel.servers.served import tables_made_late
        >>> with tables_made_late():
        ...     pass
    """
    return no_init_parameters() if is_worker() else nullcontext()
