"""The job's token: a secret that its processes share, by which they know each other over TCP.

`dist-ms run` makes one and gives it to the ranks; under another launcher rank 0's is everyone's once
`init()` was called. It stands in the environment, which other users can not read and child processes
inherit.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

VARIABLE = "DIST_MS_JOB_TOKEN"


def job_token(environ: MutableMapping[str, str] = os.environ) -> str:
    """Return the job's token; make one where there is none.

    Args:
        environ: where it stands.

    Examples:
        >>> from dist_ms.communication.store.job_token import job_token
        >>> environ = {}
        >>> len(job_token(environ)), job_token(environ) == environ["DIST_MS_JOB_TOKEN"]
        (32, True)
    """
    if not environ.get(VARIABLE):
        environ[VARIABLE] = os.urandom(16).hex()
    return environ[VARIABLE]
