"""With which machines and how many ranks a failed job is started again."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import replace

from dist_ms.launch.command import Job
from dist_ms.launch.hosts import Host, share
from dist_ms.launch.running.faults import Fault

_PLACING = ("--map-by", "--rank-by", "--rankfile", "--bynode", "-bynode", "-ppn", "-rr", "-perhost")


class TooFewSlots(Exception):
    """The machines that answer have no room for the job; the text says so."""


class Remaining:
    """What is left of a job's machines after failures.

    A machine whose rank was killed, or fell silent, is left out while the others have slots for all ranks. Where they
    have not, it stays, and with `least` it loses a slot for each such rank. One that does not answer is left out until
    it does.

    Args:
        job: as it was started first; `offered` are its machines.
        least: how many ranks are enough, servers included; None: all of them.
        find_silent: returns the names of the machines that do not answer.

    Attributes:
        job: as it is to be started next.

    Examples:
        >>> from dist_ms.launch.command import Job
        >>> from dist_ms.launch.hosts import Host
        >>> from dist_ms.launch.running.faults import Fault
        >>> from dist_ms.launch.running.remaining import Remaining
        >>> a, b = Host("a", 2), Host("b", 2)
        >>> left = Remaining(Job(4, "python", ["x.py"], hosts=(a, b), offered=(a, b)), 2, lambda hosts: set())
        >>> left.after(Fault(3, "b", "was ended by signal 9 (SIGKILL)"))
        'dist-ms: 3 ranks instead of 4 on a:2,b:1: rank 3 was ended by signal 9 (SIGKILL) on b.'
        >>> left.job.ranks
        3
    """

    def __init__(self, job: Job, least: int | None, find_silent: Callable[[Sequence[Host]], set[str]]) -> None:
        self.job, self._all = job, job.ranks
        self._offered = job.offered or job.hosts or (Host("", job.ranks),)
        self._least = job.ranks if least is None else least
        self._find_silent = find_silent
        self._killed: dict[str, int] = {}  # how many ranks of a machine

    @property
    def flexible(self) -> bool:
        """Whether there are other machines to take, or fewer ranks are enough."""
        return self._least < self._all or sum(host.slots for host in self._offered) > self._all

    def after(self, fault: Fault | None) -> str:
        """Choose the machines of the next attempt, and return a line that says what is new; "" if nothing is.

        Args:
            fault: what ended the last attempt, None if the program did.

        Raises:
            TooFewSlots: if too few machines answer.
        """
        if fault is None:
            return ""
        silent = self._find_silent(self._offered) if self._offered[0].name else set()
        name = self._blamed(fault)
        if name is not None and name not in silent:
            self._killed[name] = self._killed.get(name, 0) + 1
        chosen = self._choose([host for host in self._offered if host.name not in silent])
        if chosen is None:
            there = sum(host.slots for host in self._offered if host.name not in silent)
            raise TooFewSlots(
                f"{_names(silent)} not answer, and the others have {there} slots for {self._least} ranks or more"
            )
        before, ranks = self.job, sum(host.slots for host in chosen)
        named_hosts = chosen if chosen[0].name else ()
        self.job = replace(before, ranks=ranks, hosts=named_hosts)
        if (before.ranks, before.hosts) == (ranks, named_hosts):
            return ""
        return self._line(before, fault, name, silent)

    def _blamed(self, fault: Fault) -> str | None:
        """Return the name of the machine that a fault names, None for none."""
        if not self._offered[0].name:
            return "" if fault.rank is not None else None
        for host in self._offered:
            if fault.host and (fault.host == host.name or (fault.host == platform.node() and host.local)):
                return host.name
        short = [h.name for h in self._offered if fault.host and _short(h.name) == _short(fault.host)]
        if len(short) == 1:
            return short[0]
        if fault.rank is None or any(word.split("=")[0] in _PLACING for word in self.job.mpi_args):
            return None
        first = 0  # addresses, say: ranks fill the machines in order
        for host in self.job.hosts:
            first += host.slots
            if fault.rank < first:
                return host.name
        return None

    def _choose(self, there: Sequence[Host]) -> tuple[Host, ...] | None:
        """Return the machines of the next attempt, of those that are there; None if they have too few slots."""
        clean = [host for host in there if host.name not in self._killed]
        if sum(host.slots for host in clean) >= self._all:
            return share(clean, self._all, "")
        if self._least < self._all:
            return self._smaller(there)
        if sum(host.slots for host in there) < self._all:
            return None
        again = [host for host in there if host.name in self._killed]
        return _in_order(share([*clean, *again], self._all, ""), self._offered)

    def _smaller(self, there: Sequence[Host]) -> tuple[Host, ...] | None:
        """The same with fewer ranks: a slot less for each that was killed, while there are enough."""
        slots = {host.name: host.slots for host in there}
        excess = sum(slots.values()) - self._least
        if excess < 0:
            return None
        for name, count in self._killed.items():
            gone = min(count, excess, slots.get(name, 0))
            slots[name] = slots.get(name, 0) - gone
            excess -= gone
        left = [Host(host.name, slots[host.name]) for host in there if slots[host.name]]
        return share(left, min(self._all, sum(host.slots for host in left)), "")

    def _line(self, before: Job, fault: Fault, name: str | None, silent: set[str]) -> str:
        """Say what is new, and why."""
        job = self.job
        count, kind = job.ranks - job.servers, "worker" if job.servers else "rank"
        ranks = f"{count} {kind}{'s' * (count > 1)}"
        if job.ranks != before.ranks:
            ranks += f" instead of {before.ranks - before.servers}"
        where = " on " + ",".join(f"{host.name}:{host.slots}" for host in job.hosts) if job.hosts else ""
        why = []
        if name is not None and name not in silent:
            who = f"rank {fault.rank} " if fault.rank is not None else "a rank "
            why.append(f"{who}{fault.why}" + (f" on {name}" if name else ""))
        if silent:
            why.append(f"{_names(silent)} not answer")
        out = sorted({host.name for host in before.hosts} - {host.name for host in job.hosts})
        back = sorted({host.name for host in job.hosts} - {host.name for host in before.hosts})
        news = [f"{', '.join(out)} left out"] if out else []
        if back and not why:
            why.append(f"{', '.join(back)} answers again" if len(back) == 1 else f"{', '.join(back)} answer again")
        return f"dist-ms: {', '.join([*news, ranks])}{where}" + (f": {'; '.join(why)}." if why else ".")


def _names(hosts: set[str]) -> str:
    return f"{', '.join(sorted(hosts))} do{'es' * (len(hosts) == 1)}"


def _short(name: str) -> str:
    """A machine's name without its domain; addresses stay whole."""
    return name if name.replace(".", "").isdigit() or ":" in name else name.partition(".")[0]


def _in_order(hosts: Sequence[Host], order: Sequence[Host]) -> tuple[Host, ...]:
    names = [host.name for host in order]
    return tuple(sorted(hosts, key=lambda host: names.index(host.name)))
