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
from dist_ms.communication.end.survivors import Survivors, follow, least_ranks
from dist_ms.communication.local import LocalComm
from dist_ms.communication.mpi import MpiComm, load_mpi
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
_on_shrink: list[Callable[[], None]] = []
_ending: Ending | None = None
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


def on_shrink(callback: Callable[[], None]) -> None:
    """Have `callback()` called when the ranks that are left of an elastic job have made a smaller world.

    Args:
        callback: talks to no other rank.
    """
    _on_shrink.append(callback)


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
    for callback in tuple(_callbacks):  # one that is added meanwhile is called at once
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
    global _ending
    variable, size = launched_size() or ("", 0)
    mpi_process.prepare_environment(launched_local()[1], size)
    library, channel, work = mpi_process.start(variable, size)
    assigned, mail = _assign_roles(channel)
    if assigned is not None:
        number = roles.order(assigned)[channel.Get_rank()]
        channel, work, mail = (c.Split(0, number) for c in (channel, work, mail))
    least = least_ranks()
    if least is not None and assigned is not None:
        raise RuntimeError(
            f"[rank {channel.Get_rank()} of {channel.Get_size()}] For 'init', an elastic job must have no parameter "
            "servers, whose parameters would be lost with them: run without --elastic; --restarts starts them again."
        )
    survivors = None if least is None else Survivors(load_mpi(), channel, least)
    control = Control(channel, channel.Get_rank(), channel.Get_size(), survivors)
    control.owner.watch(control.rank, control.size)
    ranks = tuple(range(control.size))
    comm = MpiComm(work, WORLD_GROUP, ranks, False, control, default_timeout())
    ways = (mpi_process.abort, mpi_process.finalize) if survivors is None else (os._exit, mpi_process.stay_unfinished)
    _ending = Ending(control, *ways)
    _ending.install()
    world = World(comm, (), None, library)
    _meet(world, control, launched_local()[1] == control.size)
    if assigned is not None:
        _divide(world, sorted(assigned, key=roles.PLACES.index), work, Mail(mail, control))
    assert isinstance(world.comm, MpiComm)
    world.comm.share([world.nodes[r] for r in world.comm.ranks])
    return world


def _meet(world: World, control: Control, one_machine: bool) -> None:
    """Learn where all ranks are, and begin to beat."""
    control.heartbeat = heartbeat.prepare(control.rank, control.size, one_machine)
    address = None if control.heartbeat is None else control.heartbeat.address
    places = world.comm.gather_objects((_machine(), cores.my_cores(), cpu_quota(), os.getpid(), job_token(), address))
    os.environ[VARIABLE] = places[0][4]
    heartbeat.begin(control.heartbeat, [place[5] for place in places], places[0][4])
    control.places = [Place(place[0], place[3]) for place in places]
    names = list(dict.fromkeys(place[0] for place in places))
    world.nodes = tuple(names.index(place[0]) for place in places)
    world.processes = tuple(place[3] for place in places)
    if "OMP_NUM_THREADS" not in os.environ:
        _, mine, quota, *_ = places[control.rank]
        here = [place[1] for place in places if place[0] == places[control.rank][0]]
        world.threads = cores.fair_share(mine, here, quota)


def is_elastic() -> bool:
    """Whether ranks of this job can go on when another one dies."""
    return _survivors() is not None


def dead_ranks() -> set[int]:
    """Return the ranks of an elastic job's world that are known to have died."""
    survivors = _survivors()
    return set() if survivors is None else set(survivors.dead())


def _survivors() -> Survivors | None:
    control = getattr(None if _current is None else _current.comm, "_control", None)
    return None if control is None else control.survivors


def rank_has_died(error: BaseException) -> bool:
    """Whether a rank's death has caused an error, after which the others can go on: those of an elastic job.

    Args:
        error: any.
    """
    survivors = _survivors()
    return survivors is not None and survivors.caused(error)


def shrink() -> str:
    """Have the ranks that are left go on as a smaller world: each calls it after `rank_has_died`.

    What holds the world's communicator holds that of the smaller world afterwards. Where too few are left the process
    ends, and so does the job.

    Returns:
        Who has died, as words.
    """
    world = _current
    assert world is not None and _ending is not None
    assert isinstance(world.comm, MpiComm)
    before, comm = world.comm._control, world.comm
    groups = [group for _, group in world.groups.values() if group is not None]
    before.abandoned.extend(vars(group) for group in groups)
    world.groups.clear()
    one_machine = len({place.machine for place in before.places}) == 1

    def build(survivors: Survivors) -> None:
        if survivors.size < survivors.least:
            follow()
        control = Control(survivors.channel, survivors.rank, survivors.size, survivors)
        control.take_over(comm._control)
        comm.renew(survivors.channel.Dup(), control)
        _meet(world, control, one_machine)
        comm.share(world.nodes)

    assert before.survivors is not None
    before.survivors.shrink(build)
    control = comm._control
    _ending.follow(control)
    for callback in _on_shrink:
        callback()
    left = set(control.places)
    lost = [f"{r} (on {place.host})" for r, place in enumerate(before.places) if place not in left]
    return f"rank {', '.join(lost)} of {before.size} has died"


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
