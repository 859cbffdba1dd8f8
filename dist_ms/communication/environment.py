"""The environment variables that this floor reads, each with what it is where it is not set.

What launchers set is read in `start/launched.py`, and `store/job_token.py` makes the token.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_DEFAULTS = {
    "DIST_MS_ALL_REDUCE": "shared",
    "DIST_MS_ELASTIC": "",
    "DIST_MS_HEARTBEAT": "10",
    "DIST_MS_TIMEOUT": "600",
    "LOCAL_RANK": "0",
    "LOCAL_RANK_SIZE": "1",
    "MS_ROLE": "",
    "MS_SERVER_NUM": "",
    "MS_WORKER_NUM": "",
    "RANK_ID": "0",
    "RANK_SIZE": "1",
}


def value_of(name: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the value of a variable.

    Args:
        name: one of those above.
        environ: the environment; default: this process's.

    Examples:
        >>> from dist_ms.communication.environment import value_of
        >>> value_of("RANK_SIZE", {}), value_of("RANK_SIZE", {"RANK_SIZE": "4"})
        ('1', '4')
    """
    return (os.environ if environ is None else environ).get(name, _DEFAULTS[name])
