"""The world this process belongs to: alone, or one rank of several."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dist_ms._ext.openmp import cpu_quota
from dist_ms.communication.comm import Comm
from dist_ms.communication.end import heartbeat
from dist_ms.communication.end.failure import Ending
from dist_ms.communication.end.missing import Place
from dist_ms.communication.local import LocalComm
from dist_ms.communication.mpi import MpiComm
from dist_ms.communication.rendezvous.control import Control
from dist_ms.communication.rendezvous.waiting import default_timeout
from dist_ms.communication.start import cores, mpi_process, roles
from dist_ms.communication.start.launched import check_launcher, launched_local, launched_size
from dist_ms.communication.start.roles import Roles
from dist_ms.communication.store.job_token import VARIABLE, job_token
from dist_ms.communication.wire.mail import Mail

WORLD_GROUP = "mccl_world_group"


@dataclass
class World:
    """All ranks, and where this one stands.

    Attributes:
        comm: the communicator of all ranks; in a job with servers, of those that have this rank's
            role: the world of a worker are the workers.
        nodes: per rank the number of its node; nodes are numbered in the order of their ranks.
        threads: the threads this rank should run; None when the user has decided
            (OMP_NUM_THREADS), or when it is alone and may use the whole machine.
        library: the MPI library's name and version, "" when MPI was not started.
        groups: the groups that `create_group` made; None for one without this rank.
        roles: what the ranks are; None in a job without servers.
        processes: per rank of the job its process id on its node.
        mail: messages between workers and servers; None without servers.
    """

    comm: Comm
    nodes: tuple[int, ...]
    threads: int | None = None
    library: str = ""
    groups: dict[str, tuple[list[int], Comm | None]] = field(default_factory=dict)
    roles: Roles | None = None
    mail: Mail | None = None
    processes: tuple[int, ...] = ()


_callbacks: list[Callable[[World], None]] = []
_started: World | None = None  # MPI starts once in a process, so this outlives release()
_current: World | None = None


def current() -> World | None:
    """Return the world, None before init() and after release()."""
    return _current


def on_init(callback: Callable[[World], None]) -> None:
    """Have `callback(world)` called when init() has joined the world; now, if it has.

    Args:
        callback: called once per init().
    """
    _callbacks.append(callback)
    if _current is not None:
        callback(_current)


def join() -> World:
    """Join the world of this process's launcher, or make a world of one."""
    global _current, _started
    if _current is not None:
        return _current
    if _started is None:
        running = mpi_process.running_size() > 1
        if not running:
            check_launcher("init")
        found = launched_size()
        several = found is not None and found[1] > 1
        _started = _start_mpi() if several or running else _alone()
    _current = _started
    for callback in _callbacks:
        callback(_current)
    return _current


def leave() -> None:
    """Give up the groups and forget the world; `join` may be called again."""
    global _current
    if _current is None:
        return
    for _, comm in _current.groups.values():
        if comm is not None:
            comm.free()
    _current.groups.clear()
    _current = None


def _alone() -> World:
    return World(LocalComm(WORLD_GROUP), nodes=(0,))


def _start_mpi() -> World:
    """Start MPI, meet the other ranks and learn where they are."""
    variable, size = launched_size() or ("", 0)
    mpi_process.prepare_environment(launched_local()[1], size)
    library, channel, work = mpi_process.start(variable, size)
    assigned, mail = _assign_roles(channel)
    if assigned is not None:
        number = roles.order(assigned)[channel.Get_rank()]
        channel, work, mail = (c.Split(0, number) for c in (channel, work, mail))
    control = Control(channel, channel.Get_rank(), channel.Get_size())
    control.owner.watch(control.rank, control.size)
    seconds = default_timeout()
    ranks = tuple(range(control.size))
    comm = MpiComm(work, WORLD_GROUP, ranks, False, control, seconds)
    Ending(control, mpi_process.abort, mpi_process.finalize).install()
    control.heartbeat = heartbeat.prepare(control.rank, control.size, launched_local()[1] == control.size)
    address = None if control.heartbeat is None else control.heartbeat.address
    places = comm.gather_objects((_machine(), cores.my_cores(), cpu_quota(), os.getpid(), job_token(), address))
    os.environ[VARIABLE] = places[0][4]
    heartbeat.begin(control.heartbeat, [place[5] for place in places], places[0][4])
    control.places = [Place(place[0], place[3]) for place in places]
    names = list(dict.fromkeys(place[0] for place in places))
    nodes = tuple(names.index(place[0]) for place in places)
    threads = None
    if "OMP_NUM_THREADS" not in os.environ:
        _, mine, quota, *_ = places[control.rank]
        here = [place[1] for place in places if place[0] == places[control.rank][0]]
        threads = cores.fair_share(mine, here, quota)
    world = World(comm, nodes, threads, library, processes=tuple(place[3] for place in places))
    if assigned is not None:
        _divide(world, sorted(assigned, key=roles.PLACES.index), work, Mail(mail, control))
    assert isinstance(world.comm, MpiComm)
    world.comm.share([nodes[r] for r in world.comm.ranks])
    return world


def _assign_roles(channel: Any) -> tuple[list[str] | None, Any]:
    """Learn every rank's role, and where there are servers make the communicator for their messages."""
    claims = channel.allgather(roles.claim())
    mpi_process.forget_memory()
    try:
        assigned = roles.assign(claims)
    except (RuntimeError, ValueError):  # on every rank
        Ending(
            Control(channel, channel.Get_rank(), channel.Get_size()), mpi_process.abort, mpi_process.finalize
        ).install()
        raise
    return assigned, None if assigned is None else channel.Dup()


def _divide(world: World, assigned: list[str], work: Any, mail: Mail) -> None:
    """Give the ranks of each role a world of their own."""
    whole = world.comm
    role = assigned[whole.rank]
    members = tuple(r for r, other in enumerate(assigned) if other == role)
    part = work.Split(roles.PLACES.index(role), whole.rank)
    world.comm = MpiComm(part, WORLD_GROUP, members, False, mail.control, default_timeout())
    world.roles = Roles(role, assigned.count(roles.WORKER), assigned.count(roles.SERVER))
    world.mail = mail
    os.environ["MS_ROLE"] = roles.VARIABLES[role]


def _machine() -> tuple[str, str]:
    """Return what tells machines apart: containers share a boot, clones share a name."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return platform.node(), boot.read_text().strip() if boot.exists() else ""
