"""What proves over TCP that a process knows the job's token."""

from __future__ import annotations

import hashlib
import hmac

PROOF_BYTES = hashlib.sha256().digest_size


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
