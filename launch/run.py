"""Running a job: as one process, or by mpirun, again where it failed."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TextIO

from dist_ms.launch.banner import LOST, BannerFilter, describe
from dist_ms.launch.command import PLAIN_TERMINAL, Job, mpirun_command, rank_environment, several_machines
from dist_ms.launch.hosts import Host
from dist_ms.launch.loopback import on_loopback
from dist_ms.launch.machine import Machine, this_machine
from dist_ms.launch.monitoring.status import VARIABLE as STATUS
from dist_ms.launch.monitoring.status import StatusFolder
from dist_ms.launch.monitoring.summary import summary
from dist_ms.launch.mpirun import LaunchError, MpiRun, find_mpirun
from dist_ms.launch.output.rank_output import RankOutput
from dist_ms.launch.output.streams import Streams
from dist_ms.launch.output.tagged_lines import TaggedLines
from dist_ms.launch.reporting.reading import prepare
from dist_ms.launch.reporting.report import report
from dist_ms.launch.reports import VARIABLE, Reports, named
from dist_ms.launch.running.answering import silent_hosts
from dist_ms.launch.running.faults import Fault, fault_of
from dist_ms.launch.running.remaining import Remaining, TooFewSlots
from dist_ms.launch.running.restarts import COUNT, Outcome, with_restarts
from dist_ms.launch.running.single import run_single
from dist_ms.launch.running.stopping import GRACE, STOPPED, Stopping, say
from dist_ms.launch.running.supervision import supervise

_TOKEN = "DIST_MS_JOB_TOKEN"


def run_job(
    job: Job,
    mpirun: str | None = None,
    environ: Mapping[str, str] = os.environ,
    grace: float = GRACE,
    restarts: int = 0,
    min_ranks: int | None = None,
    closing: TextIO | None = None,
) -> int:
    """Run a job to its end.

    Args:
        job: what to start.
        mpirun: the mpirun to use; default: as `find_mpirun` finds.
        environ: the user's environment.
        grace: seconds that ranks have to stop after a signal, 0 to end them at once.
        restarts: how often the job is started again when it has failed.
        min_ranks: with how few ranks, servers not counted, it may be; None: with all.
        closing: where a line at the end says how the training went, if it ended well; None: nowhere.

    Returns:
        The exit code: the first failing rank's, 128 + the signal's number for a signal, 75 for ranks that
        stopped on request.

    Raises:
        LaunchError: if the job cannot be started.
    """
    _check(job, environ)
    if mpirun is not None and job.alone:
        find_mpirun(mpirun, job.python, environ)  # which a job of one rank takes no look at
    machine = this_machine()
    if job.alone and not restarts and job.trace is None:
        sys.stdout.flush()
        os.execve(job.python, [job.python, *job.program], rank_environment(job, machine, environ))
    if job.trace is not None:
        prepare(job.trace)
    status, began = StatusFolder(job.program, job.ranks, job.servers), time.monotonic()
    if status.path is not None:
        environ = {**environ, STATUS: str(status.path)}
    try:
        code = _run(job, mpirun, machine, environ, grace, restarts, min_ranks, status)
        found = status.read() if closing and code in (0, STOPPED) else None  # a failed job's last line says why
        if found is not None and (line := summary(found, time.monotonic() - began)):
            print(line, file=closing, flush=True)
    finally:
        status.remove()
    if job.trace is not None:
        _report(job.trace)
    return code


def _report(folder: str) -> None:
    """Say where the time went."""
    try:
        say(f"dist-ms: {report(folder)} See {Path(folder, 'report.html')}.")
    except (LaunchError, OSError) as error:
        say(f"dist-ms: no report: {error}")


def _run(
    job: Job,
    mpirun: str | None,
    machine: Machine,
    environ: Mapping[str, str],
    grace: float,
    restarts: int,
    min_ranks: int | None,
    status: StatusFolder,
) -> int:
    """Run a job, again where it failed, and return its exit code."""
    launcher = None if job.alone else find_mpirun(mpirun, job.python, environ)
    # The ranks' secret, by which they know each other over TCP before they have met.
    environ = {**environ, _TOKEN: environ.get(_TOKEN) or secrets.token_hex(16)}
    least = None if min_ranks is None else min_ranks + job.servers

    def find_silent(hosts: Sequence[Host]) -> set[str]:
        return set() if launcher is None else silent_hosts(hosts, launcher, job, machine, environ)

    remaining, last = Remaining(job, least, find_silent), Outcome(0)

    def attempt(count: int) -> Outcome:
        nonlocal last
        try:
            line = remaining.after(last.fault)
        except TooFewSlots as error:
            say(f"dist-ms: {error}.")
            last = Outcome(last.code, str(error), fault=Fault())
            return last
        if line:
            say(line)
        now, env = remaining.job, {**environ, COUNT: str(count)} if restarts else environ
        status.begin_attempt(count, now.ranks)
        if launcher is None or now.alone:
            last = run_single([now.python, *now.program], rank_environment(now, machine, env), grace)
            return last
        if count:
            closed = os.open(os.devnull, os.O_RDONLY)  # what was read is gone
            os.dup2(closed, 0)
            os.close(closed)
        last = _attempt(now, launcher, machine, env, grace)
        if last.fault is not None and last.fault.rank is not None and remaining.flexible:
            last = replace(last, changed=True)
        return last

    return with_restarts(attempt, restarts)


def _attempt(job: Job, launcher: MpiRun, machine: Machine, environ: Mapping[str, str], grace: float) -> Outcome:
    """Run a job by mpirun once."""
    streams = None if several_machines(job, environ) else Streams(job.ranks, job.prefix, job.log_dir, job.log_name)
    reports = Reports(streams is not None, job.ranks)
    environ = {**environ, VARIABLE: reports.path}
    if streams is None and not sys.stdout.isatty():
        environ = {**environ, **dict([PLAIN_TERMINAL])}  # lines of a progress bar that moves do not belong into a file
    tagged = None
    if streams is None and (job.prefix or job.log_dir is not None):
        output = RankOutput(job.ranks, job.prefix, job.log_dir, job.log_name)
        tagged = TaggedLines(launcher, job.ranks, output, reports)
    opened = streams.arguments if streams is not None else None
    command, env = mpirun_command(launcher, job, machine, environ, opened)
    if streams is not None and launcher.vendor == "openmpi":
        env = on_loopback(env)
    if streams is None or not streams.terminal:
        env.setdefault("PYTHONUNBUFFERED", "1")  # at a terminal Python writes line by line
    stopping = Stopping(grace, say)
    try:
        # Intel MPI's words about failures go to its stdout, which the ranks do not share here.
        silent = launcher.vendor == "intel" and streams is not None
        elastic = job.least is not None
        code, banners = supervise(command, env, streams, reports, silent, stopping, tagged, elastic)
        first = reports.first(elastic)
        shown = streams or tagged
        if shown is not None and first is not None and (text := shown.output.buried_traceback(first.rank)):
            say(f"dist-ms: what ended the job, again:\n{text.rstrip()}")
    finally:
        if streams is not None:
            streams.close()
        if tagged is not None:
            tagged.output.close()
        reports.close()
    return _verdict(job, code, banners, reports, stopping)


def _verdict(job: Job, code: int, banners: BannerFilter, reports: Reports, stopping: Stopping) -> Outcome:
    """Say how the job ended."""
    first, asked = reports.first(job.least is not None), stopping.first
    if first is not None and first.code == STOPPED:
        return Outcome(STOPPED, asked=True)
    if job.least is not None and code == 0 and not reports.failed(True) and len(reports.told) < job.ranks:
        return Outcome(0)  # the ranks that were killed were not needed
    by_itself = asked is None or not (stopping.killed or first is None or first.cause == "signal")
    if asked is not None and not by_itself and (code or stopping.killed):  # the user ended the job, not a rank
        if asked in (signal.SIGTERM, signal.SIGHUP):  # or a batch system did, which should not pass unseen
            say(f"dist-ms: got {signal.Signals(asked).name}; the job was stopped.")
        return Outcome(128 + asked, asked=True)
    lost = "lost" in banners.failure and first is not None and first.code == LOST
    if first is not None and not lost:
        line, code = first.describe(job.ranks, job.servers), first.code
    elif code - 128 in signal.valid_signals() and not banners.failure:
        line = f"dist-ms: mpirun was ended by {named(code - 128)}; the job was stopped."
    elif code and not banners.failure:
        line = _without_ranks(job, code)
    elif code or "daemon" in banners.failure:
        code = code or 1
        line = describe(banners.failure, job.ranks, code, job.servers)
    else:
        return Outcome(0)
    say(line)
    said = first.said if first is not None and not lost else ""
    return Outcome(code, said, asked is not None, fault_of(first, banners.failure))


def _without_ranks(job: Job, code: int) -> str:
    """Say that mpirun failed, and no rank has told of an end."""
    line = f"dist-ms: mpirun ended with exit code {code}, for what it says above, and no rank has told why."
    far = next((host.name for host in job.hosts if not host.local), None)
    if far is None:
        return line
    return (
        f"{line} It starts ranks through ssh: 'ssh {far} true' must work from here without a password, for each "
        f"machine, and {job.python} must be there, too."
    )


def _check(job: Job, environ: Mapping[str, str]) -> None:
    """Raise if the job cannot work, before any process is started."""
    if environ.get("OMPI_COMM_WORLD_RANK") or environ.get("PMI_RANK"):
        raise LaunchError("this process is a rank of a job already; start jobs outside of jobs.")
    script = job.program[0]
    if script not in ("-m", "-c") and not Path(script).is_file():
        raise LaunchError(f"the script must be a file, but {script!r} is none.")
    _check_the_package_is_found(Path.cwd() if script in ("-m", "-c") else Path(script).resolve().parent)


def _check_the_package_is_found(folder: Path) -> None:
    """Raise if a folder hides dist_ms: Python looks into folders before it asks what `pip install -e` has set up."""
    own = [] if sys.flags.safe_path else sys.path[:1]  # this program's folder, in whose place the script's is
    found = PathFinder.find_spec("dist_ms", [str(folder), *sys.path[len(own) :]])
    if found is not None and found.origin is None:  # folders without an __init__.py
        raise LaunchError(
            "the script must find the package dist_ms, but a folder without code hides it from Python: "
            f"{next(iter(found.submodule_search_locations or ()))}. Rename that folder, or keep the script elsewhere."
        )
