"""The options of `dist-ms run`, and the job that they describe."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TypeVar

from dist_ms.launch.command import Job
from dist_ms.launch.hosts import Host, parse_hosts, read_hostfile, share
from dist_ms.launch.mpirun import LaunchError
from dist_ms.launch.running.stopping import GRACE
from dist_ms.launch.schedulers import find_allocation

_Number = TypeVar("_Number", int, float)


def number(text: str, kind: type[_Number], least: float, wanted: str, most: float = sys.float_info.max) -> _Number:
    """Return a number within limits, for argparse.

    Args:
        text: what was given.
        kind: int or float.
        least: the smallest that is taken.
        wanted: what the error says that it must be.
        most: the largest that is taken.
    """
    try:
        found = kind(text)
    except ValueError:
        found = None
    if found is None or not least <= found <= most:
        raise argparse.ArgumentTypeError(f"must be {wanted}, but got {text!r}")
    return found


def positive(text: str) -> int:
    """Return a positive int, for argparse."""
    return number(text, int, 1, "an int of 1 or more")


def count(text: str) -> int:
    """Return an int of 0 or more, for argparse."""
    return number(text, int, 0, "an int of 0 or more")


def seconds(text: str) -> float:
    """Return a number of seconds, for argparse."""
    return number(text, float, 0, "0 seconds or more")


def add_run_options(run: argparse.ArgumentParser) -> None:
    """Add the options of `dist-ms run` to its parser."""
    run.add_argument(
        "-n",
        "--ranks",
        type=positive,
        metavar="N",
        help="how many ranks (default: as many as --hosts, --hostfile or the allocation of Slurm or PBS has slots)",
    )
    run.add_argument(
        "--servers",
        type=positive,
        default=0,
        metavar="K",
        help="start K parameter servers besides the N ranks, which are the workers; for scripts "
        "that call set_ps_context(enable_ps=True)",
    )
    where = run.add_mutually_exclusive_group()
    where.add_argument("--hosts", metavar="A:4,B:4", help="the machines, with how many ranks each may get")
    where.add_argument("--hostfile", metavar="FILE", help='the machines in a file, a line each: "a slots=4" or "a:4"')
    run.add_argument(
        "--bind",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="give each rank cores of its own when there are enough (default)",
    )
    run.add_argument(
        "--threads",
        type=positive,
        metavar="T",
        help="threads per rank (default: OMP_NUM_THREADS, the CPUs per task of a Slurm or PBS job, or as many as a "
        "rank has cores)",
    )
    run.add_argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="how long a rank waits for others; 0: without limit (default: DIST_MS_TIMEOUT, or 600)",
    )
    run.add_argument(
        "--grace",
        type=seconds,
        default=GRACE,
        metavar="SECONDS",
        help="how long ranks may take to finish their step, save and end after the first SIGINT, SIGTERM or SIGUSR1; "
        f"0 ends them at once (default {GRACE:g})",
    )
    run.add_argument(
        "--restarts",
        type=count,
        default=0,
        metavar="N",
        help="start a failed job again, up to N times, after 1, 2, 4 ... 60 s; ranks find the number of restarts in "
        "DIST_MS_RESTARTS, and Model.train(resume=...) goes on where the run was (default 0)",
    )
    run.add_argument(
        "--elastic",
        action="store_true",
        help="when a rank is killed, the others go on: Model.train and Model.fit from their newest state "
        "(RunCheckpoint), a loop of one's own by dist_ms.elastic.run; takes Open MPI 5 with ULFM",
    )
    run.add_argument(
        "--spares",
        action=argparse.BooleanOptionalAction,
        help="with --restarts: of the machines with more slots than there are ranks, leave out one whose rank was "
        "killed or that does not answer, and take others (default, where there are any)",
    )
    run.add_argument(
        "--min-ranks",
        type=positive,
        metavar="M",
        help="with --restarts: start the job again with fewer ranks, M or more, when a rank was killed or a machine "
        "does not answer and no slots are left to take its place (default: N); with --elastic: go on with so many "
        "ranks or more (default: 1)",
    )
    run.add_argument(
        "--summary",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="say at the end how long the training took, how fast it was and what it waited for (default)",
    )
    run.add_argument(
        "--summary-on", choices=("stderr", "stdout"), default="stderr", help="where to say that (default: stderr)"
    )
    run.add_argument("--prefix", action="store_true", help="begin each line with its rank; equal ones are shown once")
    run.add_argument("--log-dir", metavar="DIR", help="write each rank's output to DIR/rank_R.log as well")
    run.add_argument("--log-name", metavar="NAME", help="call these files DIR/NAME_R.log")
    run.add_argument(
        "--trace",
        metavar="DIR",
        help="record what each rank does in each step, in DIR; at the end, and with 'dist-ms report DIR', it becomes "
        "DIR/trace.json for Perfetto and the page DIR/report.html, which says what bounds the run",
    )
    run.add_argument("--dry-run", action="store_true", help="print the command instead of running it")
    run.add_argument("--mpirun", metavar="PROGRAM", help="the mpirun to use")
    run.add_argument(
        "--mpi-args",
        default="",
        metavar="ARGS",
        help='further arguments of mpirun, as one word: --mpi-args="--mca btl_tcp_if_include eth0"',
    )
    run.add_argument("-m", dest="module", action="store_true", help="run a module, as python -m")
    run.add_argument("program", nargs=argparse.REMAINDER, metavar="script.py", help="what to run")


def make_job(options: argparse.Namespace, program: Sequence[str], environ: Mapping[str, str]) -> Job:
    """Return the job that the options, and the allocation of a batch system, describe.

    Args:
        options: of `dist-ms run`.
        program: Python's arguments.
        environ: the environment.

    Raises:
        LaunchError: if they contradict each other, or tell no number of ranks.
    """
    wanted = None if options.ranks is None else options.ranks + options.servers
    hosts: tuple[Host, ...] = ()
    source, threads = "", options.threads
    if options.hosts is not None:
        hosts, source = parse_hosts(options.hosts), "--hosts"
    elif options.hostfile is not None:
        hosts, source = read_hostfile(options.hostfile), "--hostfile"
    elif (allocation := find_allocation(environ)) is not None:
        hosts, source = allocation.hosts_for(wanted), f"the allocation of {allocation.scheduler}"
        if threads is None and "OMP_NUM_THREADS" not in environ:
            threads = allocation.threads
    if wanted is None and not hosts:
        raise LaunchError("-n must tell the number of ranks where no --hosts, --hostfile, Slurm or PBS job does.")
    ranks = sum(host.slots for host in hosts) if wanted is None else wanted
    if ranks <= options.servers:
        raise LaunchError(
            f"--servers must leave a slot for a worker, but {source} has {ranks} and it is {options.servers}."
        )
    if options.log_name is not None and options.log_dir is None:
        raise LaunchError(
            f"--log-name must come with --log-dir DIR, whose files it names, but got {options.log_name!r}."
        )
    shared = share(hosts, ranks, source) if hosts else ()
    _check_restarting(options, ranks - options.servers, sum(host.slots for host in hosts) - ranks)
    _check_elastic(options, ranks)
    return Job(
        ranks=ranks,
        python=sys.executable,
        program=program,
        bind=options.bind,
        threads=threads,
        timeout=options.timeout,
        mpi_args=shlex.split(options.mpi_args),
        servers=options.servers,
        prefix=options.prefix,
        log_dir=options.log_dir,
        log_name=options.log_name or "rank",
        trace=options.trace,
        hosts=shared,
        offered=shared if options.spares is False else hosts,
        least=(options.min_ranks or 1) if options.elastic else None,
    )


def _check_restarting(options: argparse.Namespace, workers: int, spare: int) -> None:
    """Raise if what is to be done after a failure cannot be."""
    if options.spares and not options.restarts:
        raise LaunchError("--spares must come with --restarts N, as it says how a failed job is started again.")
    if options.min_ranks is not None and not (options.restarts or options.elastic):
        raise LaunchError(
            "--min-ranks must come with --restarts N, as it says how a failed job is started again, or with --elastic."
        )
    if options.spares and spare < 1:
        raise LaunchError(
            f"--spares must have machines with more slots than ranks, but there are {max(0, workers + spare)} for "
            f"{workers}: name more in --hosts or --hostfile."
        )
    if options.min_ranks is not None and options.min_ranks > workers:
        raise LaunchError(f"--min-ranks must be {workers} or less, the number of ranks, but got {options.min_ranks}.")


def _check_elastic(options: argparse.Namespace, ranks: int) -> None:
    """Raise if no rank can go on without another."""
    if not options.elastic:
        return
    if options.servers:
        raise LaunchError(
            f"--elastic must come without --servers, but got {options.servers}: what a server holds is lost with it. "
            "--restarts starts servers again."
        )
    if ranks < 2:
        raise LaunchError(f"--elastic must have 2 ranks or more, but got {ranks}.")
