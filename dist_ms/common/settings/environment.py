"""The environment variables of dist_ms, by name, so that a misspelt one is not passed over in silence."""

from __future__ import annotations

import os
from collections.abc import Mapping

VARIABLES = (
    "DIST_MS_ALLOCATOR",
    "DIST_MS_ALL_REDUCE",
    "DIST_MS_ALONE",
    "DIST_MS_DESYNC_STEPS",
    "DIST_MS_JOB_TOKEN",
    "DIST_MS_MAX_ISA",
    "DIST_MS_NON_FINITE",
    "DIST_MS_PLAN",
    "DIST_MS_REPORT",
    "DIST_MS_TIMEOUT",
    "DIST_MS_UPDATE_LOG",
    "DIST_MS_VIRTUAL_SHARDS",
    "DIST_MS_WINOGRAD",
)


def check_names(environ: Mapping[str, str] = os.environ) -> None:
    """Raise if a variable is named nearly as one of dist_ms; other names are the user's own.

    Args:
        environ: the environment.

    Raises:
        ImportError: if there is such a variable.

    Examples:
        >>> from dist_ms.common.settings.environment import check_names
        >>> check_names({"DIST_MS_TIMEOUT": "60", "DIST_MS_DATA": "/data"})
        >>> check_names({"DIST_MS_TIMEUOT": "60"})
        Traceback (most recent call last):
        ...
        ImportError: The environment variable DIST_MS_TIMEUOT is none of dist_ms. Did you mean 'DIST_MS_TIMEOUT'?
    """
    for name in environ:
        if not name.startswith("DIST_MS_") or name in VARIABLES:
            continue
        from dist_ms.common.nearest import nearest

        # Without the prefix, which would make all names alike.
        meant = nearest(name.removeprefix("DIST_MS_"), [v.removeprefix("DIST_MS_") for v in VARIABLES])
        if meant is not None:
            raise ImportError(f"The environment variable {name} is none of dist_ms. Did you mean 'DIST_MS_{meant}'?")
