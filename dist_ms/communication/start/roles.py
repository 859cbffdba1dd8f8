"""Who is what in a job with parameter servers: workers train, servers hold parameters.

The environment says it: MS_ROLE on each rank (MS_WORKER, MS_PSERVER or MS_SERVER, MS_SCHED), or
MS_SERVER_NUM alone, and then the last ranks are the servers. `dist-ms run -n W --servers K` sets
the numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dist_ms.communication.environment import value_of

WORKER, SERVER, SCHEDULER = "worker", "server", "scheduler"
_NAMES = {"MS_WORKER": WORKER, "MS_PSERVER": SERVER, "MS_SERVER": SERVER, "MS_SCHED": SCHEDULER}
PLACES = (WORKER, SERVER, SCHEDULER)
VARIABLES = {WORKER: "MS_WORKER", SERVER: "MS_PSERVER", SCHEDULER: "MS_SCHED"}


@dataclass(frozen=True)
class Roles:
    """What each rank of the job is; workers are numbered first, then servers, then schedulers.

    Attributes:
        role: this rank's: "worker", "server" or "scheduler".
        workers: how many workers there are; their ranks are 0 to workers - 1.
        servers: how many servers; their ranks follow.
    """

    role: str
    workers: int
    servers: int

    def server_rank(self, number: int) -> int:
        """The rank of server `number`, 0 to servers - 1."""
        return self.workers + number


@dataclass(frozen=True)
class Claim:
    """What one rank's environment and script say.

    Attributes:
        role: MS_ROLE, "" where it is not set.
        servers: MS_SERVER_NUM, "" where it is not set.
        workers: MS_WORKER_NUM, "" where it is not set.
        asked: whether the script has enabled servers.
    """

    role: str
    servers: str
    workers: str
    asked: bool


_asked: Callable[[], bool] = lambda: False  # noqa: E731


def ask_with(question: Callable[[], bool]) -> None:
    """Have init() call `question()` to learn whether the script enabled servers."""
    global _asked
    _asked = question


def claim(environ: Mapping[str, str] | None = None) -> Claim:
    """Return what this rank says."""
    role, servers, workers = (value_of(name, environ) for name in ("MS_ROLE", "MS_SERVER_NUM", "MS_WORKER_NUM"))
    return Claim(role, servers, workers, bool(_asked()))


def assign(claims: Sequence[Claim]) -> list[str] | None:
    """Decide every rank's role from what all ranks say. The same on every rank.

    Args:
        claims: one per rank.

    Returns:
        A role per rank; None when the job has no servers.

    Raises:
        ValueError: if the numbers or roles contradict each other.
        RuntimeError: if servers were started for a script that did not enable them.

    Examples:
        >>> from dist_ms.communication.start.roles import Claim, assign
        >>> assign([Claim("", "1", "", True)] * 3)
        ['worker', 'worker', 'server']
        >>> assign([Claim("", "", "", True)] * 2) is None
        True
    """
    servers = _number("MS_SERVER_NUM", [c.servers for c in claims])
    workers = _number("MS_WORKER_NUM", [c.workers for c in claims])
    for rank, c in enumerate(claims):
        if c.role and c.role not in _NAMES:
            raise ValueError(
                f"The environment variable MS_ROLE must be one of {', '.join(_NAMES)}, but got {c.role!r} on rank "
                f"{rank}."
            )
    named = [_NAMES.get(c.role) for c in claims]
    if not servers and SERVER not in named:
        return None
    if not all(c.asked for c in claims):
        raise RuntimeError(
            f"For 'init', this job was started with {servers or named.count(SERVER)} parameter servers, but the script "
            "has not enabled them: call set_ps_context(enable_ps=True) before init(), or start it without servers."
        )
    if all(named):
        found = {role: named.count(role) for role in PLACES}
        for variable, number, role in (("MS_SERVER_NUM", servers, SERVER), ("MS_WORKER_NUM", workers, WORKER)):
            if number is not None and number != found[role]:
                raise ValueError(
                    f"The environment variable {variable} must be the number of ranks whose MS_ROLE is that of a "
                    f"{role}, {found[role]}, but got {number}."
                )
        roles = [str(name) for name in named]
    elif any(named):
        missing = [r for r, name in enumerate(named) if name is None]
        raise ValueError(
            f"The environment variable MS_ROLE must be set on every rank or on none, but ranks {missing} have none."
        )
    else:
        roles = _last(len(claims), servers or 0, workers)
    if WORKER not in roles:
        raise ValueError(f"A job with servers must have a worker, but got {roles.count(SERVER)} servers and none.")
    return roles


def _last(size: int, servers: int, workers: int | None) -> list[str]:
    """Make the last ranks the servers."""
    if servers >= size:
        raise ValueError(
            f"The environment variable MS_SERVER_NUM must leave a rank to work, but got {servers} for {size} ranks. "
            f"Start {servers} ranks more than there are workers, or use 'dist-ms run -n WORKERS --servers {servers}'."
        )
    if workers is not None and workers + servers != size:
        raise ValueError(
            f"The environment variables MS_WORKER_NUM and MS_SERVER_NUM must add up to the number of ranks, {size}, "
            f"but got {workers} and {servers}."
        )
    return [WORKER] * (size - servers) + [SERVER] * servers


def order(roles: Sequence[str]) -> list[int]:
    """The new number of every rank: workers first, then servers, then schedulers, each in the order they had.

    Examples:
        >>> from dist_ms.communication.start.roles import order
        >>> order(["server", "worker", "worker"])
        [2, 0, 1]
    """
    ranked = sorted(range(len(roles)), key=lambda r: (PLACES.index(roles[r]), r))
    numbers = [0] * len(roles)
    for number, rank in enumerate(ranked):
        numbers[rank] = number
    return numbers


def _number(variable: str, texts: Sequence[str]) -> int | None:
    """Read a number that all ranks must agree on; None where it is not set."""
    given = sorted(set(texts))
    if given == [""]:
        return None
    if len(given) > 1:
        raise ValueError(f"The environment variable {variable} must be the same on every rank, but got {given}.")
    if not given[0].isdigit():
        raise ValueError(f"The environment variable {variable} must be a number, but got {given[0]!r}.")
    return int(given[0])


def copy_role(rank: int, size: int) -> int:
    """Give scripts MS_ROLE before init() where MS_SERVER_NUM decides it; return the number of workers.

    Args:
        rank: this process's rank.
        size: the number of ranks.
    """
    text = value_of("MS_SERVER_NUM")
    servers = int(text) if text.isdigit() else 0
    if not 0 < servers < size or (value_of("MS_WORKER_NUM") or str(size - servers)) != str(size - servers):
        return size
    os.environ.setdefault("MS_ROLE", "MS_WORKER" if rank < size - servers else "MS_PSERVER")
    return size - servers
