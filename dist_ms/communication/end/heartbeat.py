"""Heartbeats: a rank that is stopped or cut off is found in seconds, one that computes for long is not taken for it.

Each rank has a thread without Python that sends a datagram every second (`_ext/ranks/heartbeat.h` says to whom). Ranks
whose datagrams never come, as where a cluster lets none through, are not watched: there DIST_MS_TIMEOUT is the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dist_ms.communication.environment import value_of

if TYPE_CHECKING:
    from dist_ms._ext.heartbeat import Heartbeat

_EVERY = 1.0  # seconds between two beats, at most


def silence(environ: dict[str, str] | None = None) -> float:
    """Return the seconds of silence after which a rank is lost: DIST_MS_HEARTBEAT, 10 by default, 0 for no heartbeat.

    Args:
        environ: the environment; default: this process's.

    Raises:
        ValueError: if the variable is neither 0 nor a number of 1 or more.

    Examples:
        >>> from dist_ms.communication.end.heartbeat import silence
        >>> silence({"DIST_MS_HEARTBEAT": "30"}), silence({})
        (30.0, 10.0)
    """
    text = value_of("DIST_MS_HEARTBEAT", environ)
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not (seconds == 0 or 1 <= seconds < 1e6):  # NaN too
        raise ValueError(
            "The environment variable DIST_MS_HEARTBEAT must be 1 second or more, 0 for no heartbeat, "
            f"but got {text!r}."
        )
    return seconds


def prepare(rank: int, size: int, one_machine: bool) -> Heartbeat | None:
    """Return this rank's heartbeat, which does not beat yet; None where there is none to be.

    Args:
        rank: this one.
        size: of the job.
        one_machine: whether all ranks are on this machine.
    """
    if size == 1 or not silence():
        return None
    from dist_ms._ext.heartbeat import Heartbeat

    try:
        return Heartbeat(rank, size, one_machine)
    except OSError:  # no network at all
        return None


def begin(heartbeat: Heartbeat | None, addresses: list[tuple[int, ...] | None], token: str) -> None:
    """Begin to beat, if every rank does.

    Args:
        heartbeat: this rank's.
        addresses: every rank's `Heartbeat.address`, None for one without.
        token: the job's secret.
    """
    if heartbeat is None or None in addresses:
        return
    import hashlib

    from dist_ms._ext.heartbeat import KEY_BYTES

    limit = silence()
    key = hashlib.sha256(b"heartbeat" + token.encode()).digest()[:KEY_BYTES]
    heartbeat.begin(key, addresses, min(_EVERY, limit / 5), limit)
