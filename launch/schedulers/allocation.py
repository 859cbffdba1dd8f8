"""An allocation: the machines that a batch system has given to a job."""

from __future__ import annotations

from dataclasses import dataclass

from dist_ms.launch.hosts import Host


@dataclass(frozen=True)
class Allocation:
    """What a job may use.

    Attributes:
        scheduler: the batch system's name.
        hosts: the machines, with the number of tasks that were asked for on each.
        cpus: how many CPUs there are on each, in the same order; empty where that is not told.
        threads: CPUs per task, None where that was not asked for.
    """

    scheduler: str
    hosts: tuple[Host, ...]
    cpus: tuple[int, ...] = ()
    threads: int | None = None

    def hosts_for(self, ranks: int | None) -> tuple[Host, ...]:
        """Return the machines with slots for some ranks: the tasks, or where these are too few, the CPUs.

        Args:
            ranks: how many; None: as many as tasks.
        """
        tasks = sum(host.slots for host in self.hosts)
        if ranks is None or ranks <= tasks or not self.cpus:
            return self.hosts
        each = self.threads or 1
        counts = zip(self.hosts, self.cpus, strict=True)
        return tuple(Host(host.name, max(host.slots, cpus // each)) for host, cpus in counts)
