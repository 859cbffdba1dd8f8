"""The machines of a job: as the user names them, and how many ranks each gets."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dist_ms.launch.mpirun import LaunchError

_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Host:
    """A machine.

    Attributes:
        name: its name or address.
        slots: how many ranks it may get.
    """

    name: str
    slots: int

    @property
    def local(self) -> bool:
        """Whether it is this one, as far as the name tells."""
        here = platform.node()
        return self.name in (*_LOCAL, here, here.partition(".")[0]) or self.name.partition(".")[0] == here


def parse_hosts(text: str) -> tuple[Host, ...]:
    """Read what `--hosts` names.

    Args:
        text: names or addresses with numbers of ranks: "a:4,b:4"; no number is one rank.

    Raises:
        LaunchError: if it is of another form.

    Examples:
        >>> from dist_ms.launch.hosts import parse_hosts
        >>> [(host.name, host.slots) for host in parse_hosts("node1:4,10.0.0.2")]
        [('node1', 4), ('10.0.0.2', 1)]
    """
    return merged([_host(part.strip(), "--hosts", part) for part in text.split(",")])


def read_hostfile(path: str) -> tuple[Host, ...]:
    """Read a host file: a machine per line, as "a slots=4", "a:4" or "a"; what follows # is a comment.

    Args:
        path: the file.

    Raises:
        LaunchError: if it cannot be read, has a line of another form, or names no machine.
    """
    try:
        lines = Path(path).read_text().splitlines()
    except OSError as error:
        raise LaunchError(f"--hostfile must be a file that can be read, but got {path!r}: {error.strerror}.") from error
    found = []
    for line in lines:
        words = re.sub(r"#.*", "", line).strip()
        if words:
            found.append(_host(re.sub(r"\s+slots\s*=\s*", ":", words), "--hostfile", line))
    if not found:
        raise LaunchError(f"--hostfile must name a machine, but {path} names none.")
    return merged(found)


def merged(hosts: Sequence[Host]) -> tuple[Host, ...]:
    """Return each machine once, in order, with all its slots.

    Examples:
        >>> from dist_ms.launch.hosts import Host, merged
        >>> merged([Host("a", 1), Host("b", 1), Host("a", 2)])
        (Host(name='a', slots=3), Host(name='b', slots=1))
    """
    slots: dict[str, int] = {}
    for host in hosts:
        slots[host.name] = slots.get(host.name, 0) + host.slots
    return tuple(Host(name, count) for name, count in slots.items())


def share(hosts: Sequence[Host], ranks: int, source: str) -> tuple[Host, ...]:
    """Return the first machines that ranks fill, with as many slots as they take.

    Args:
        hosts: the machines there are.
        ranks: how many ranks.
        source: where the machines are named.

    Raises:
        LaunchError: if there are too few slots.

    Examples:
        >>> from dist_ms.launch.hosts import Host, share
        >>> share([Host("a", 4), Host("b", 4)], 5, "--hosts")
        (Host(name='a', slots=4), Host(name='b', slots=1))
    """
    found, left = [], ranks
    for host in hosts:
        if left:
            found.append(Host(host.name, min(left, host.slots)))
            left -= found[-1].slots
    if left:
        there = sum(host.slots for host in hosts)
        raise LaunchError(
            f"{source} must have slots for {ranks} ranks, but has {there}: give fewer ranks, or more slots."
        )
    return tuple(found)


def _host(text: str, option: str, shown: str) -> Host:
    match = re.fullmatch(r"(\[[0-9a-fA-F:]+\]|\w[\w.-]*)(?::(\d+))?", text)
    if match is None or match[2] == "0":
        raise LaunchError(f"{option} must have machines of the form name:slots, but got {shown.strip()!r}.")
    return Host(match[1].strip("[]"), int(match[2] or 1))
