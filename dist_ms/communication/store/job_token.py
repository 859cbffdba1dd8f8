"""The job's token: a secret that its processes share, by which they know each other over TCP.

`dist-ms run` makes one and gives it to the ranks; under another launcher rank 0's is everyone's once
`init()` was called. It stands in the environment, which other users can not read and child processes
inherit.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import MutableMapping

VARIABLE = "DIST_MS_JOB_TOKEN"
PROOF_BYTES = hashlib.sha256().digest_size


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
        environ[VARIABLE] = secrets.token_hex(16)
    return environ[VARIABLE]


def proof(token: str, side: bytes, *nonces: bytes) -> bytes:
    """Return what only who knows the token can answer to numbers that were never used before.

    Args:
        token: the job's.
        side: who answers, so that nobody can be sent his own answer.
        nonces: of both sides, of fixed length.
    """
    return hmac.digest(token.encode(), side + b"".join(nonces), "sha256")


def proves(given: bytes, token: str, side: bytes, *nonces: bytes) -> bool:
    """Whether an answer is right; takes the same time for every wrong one.

    Args:
        given: the answer.
        token, side, nonces: as for `proof`.
    """
    return hmac.compare_digest(given, proof(token, side, *nonces))
