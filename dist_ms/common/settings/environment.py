"""The environment variables that dist_ms reads, each here: what it is where it is not set.

README.md says what those do that users set; PLAN, REPORT, STATUS and TRACE are what `dist-ms` tells its ranks.
`communication`, `launch` and `_ext` do not know this floor. `communication/environment.py` has those of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from dist_ms.common.absent import nearest

VARIABLES = {
    "DIST_MS_ALLOCATOR": "caching",
    "DIST_MS_ALL_REDUCE": "shared",
    "DIST_MS_ALONE": "",
    "DIST_MS_DESYNC_STEPS": "50",
    "DIST_MS_ELASTIC": "",
    "DIST_MS_HEARTBEAT": "10",
    "DIST_MS_JOB_TOKEN": "",
    "DIST_MS_LEVELS": "",
    "DIST_MS_MAX_ISA": "",
    "DIST_MS_NON_FINITE": "warn",
    "DIST_MS_PLAN": "",
    "DIST_MS_REPORT": "",
    "DIST_MS_RESTARTS": "0",
    "DIST_MS_SHARED_UPDATE": "1",
    "DIST_MS_STATUS": "",
    "DIST_MS_TIMEOUT": "600",
    "DIST_MS_TRACE": "",
    "DIST_MS_UPDATE_LOG": "",
    "DIST_MS_VIRTUAL_SHARDS": "",
    "DIST_MS_WINOGRAD": "1",
}
# Of compilers, oneDNN, MindSpore and launchers.
OTHERS = {
    "CXX": "g++",
    "GLOG_v": "2",
    "LOCAL_RANK": "",
    "MPI_LOCALRANKID": "",
    "MS_ENABLE_TFT": "",
    "MS_PROFILER_OPTIONS": "",
    "MS_ROLE": "",
    "OMPI_COMM_WORLD_LOCAL_RANK": "",
    "ONEDNN_MAX_CPU_ISA": "",
    "RANK_ID": "0",
    "SLURM_LOCALID": "",
}
_DEFAULTS = VARIABLES | OTHERS


def value_of(name: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the value of a variable.

    Args:
        name: one of those above.
        environ: the environment; default: this process's.

    Examples:
        >>> from dist_ms.common.settings.environment import value_of
        >>> value_of("DIST_MS_TIMEOUT", {}), value_of("DIST_MS_TIMEOUT", {"DIST_MS_TIMEOUT": "60"})
        ('600', '60')
    """
    return (os.environ if environ is None else environ).get(name, _DEFAULTS[name])


# MindSpore reads it when it loads, so a script that sets it later changes nothing.
LOG_LEVEL = value_of("GLOG_v")


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
        # Without the prefix, which would make all names alike.
        meant = nearest(name.removeprefix("DIST_MS_"), [v.removeprefix("DIST_MS_") for v in VARIABLES])
        if meant is not None:
            raise ImportError(f"The environment variable {name} is none of dist_ms. Did you mean 'DIST_MS_{meant}'?")
