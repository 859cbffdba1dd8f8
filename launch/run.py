"""Running a job and ending it: signals, output and the exit code."""

from __future__ import annotations

import ctypes
import os
import secrets
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from dist_ms.launch.banner import LOST, BannerFilter, describe, failure_code
from dist_ms.launch.command import Job, mpirun_command, rank_environment, several_machines
from dist_ms.launch.loopback import on_loopback
from dist_ms.launch.machine import this_machine
from dist_ms.launch.mpirun import LaunchError, find_mpirun
from dist_ms.launch.reports import VARIABLE, Reports
from dist_ms.launch.stopping import GRACE, SIGNALS, STOPPED, Stopping, Terminal
from dist_ms.launch.streams import Streams

_TOKEN = "DIST_MS_JOB_TOKEN"
_PATIENCE = 5.0  # seconds for mpirun to end when nobody reads the output
_PR_SET_PDEATHSIG = 1


def run_job(job: Job, mpirun: str | None = None, environ: Mapping[str, str] = os.environ, grace: float = GRACE) -> int:
    """Run a job to its end.

    Args:
        job: what to start.
        mpirun: the mpirun to use; default: as `find_mpirun` finds.
        environ: the user's environment.
        grace: seconds that ranks have to stop after a signal, 0 to end them at once.

    Returns:
        The exit code: the first failing rank's, 128 + the signal's number for a signal, 75 for ranks that
        stopped on request.

    Raises:
        LaunchError: if the job cannot be started.
    """
    _check(job, environ)
    machine = this_machine()
    if job.ranks == 1:
        env = rank_environment(job, machine, environ)
        sys.stdout.flush()
        os.execve(job.python, [job.python, *job.program], env)
    launcher = find_mpirun(mpirun, job.python, environ)
    # The ranks' secret, by which they know each other over TCP before they have met.
    environ = {**environ, _TOKEN: environ.get(_TOKEN) or secrets.token_hex(16)}
    streams = None if several_machines(job, environ) else Streams(job.ranks)
    reports = Reports(pipe=streams is not None)
    environ = {**environ, VARIABLE: reports.path}
    opened = streams.arguments if streams is not None else None
    command, env = mpirun_command(launcher, job, machine, environ, opened)
    if streams is not None and launcher.vendor == "openmpi":
        env = on_loopback(env)
    if streams is None or not streams.terminal:
        env.setdefault("PYTHONUNBUFFERED", "1")  # at a terminal Python writes line by line
    try:
        # Intel MPI's words about failures go to its stdout, which the ranks do not share here.
        silent = launcher.vendor == "intel" and streams is not None
        stopping = Stopping(grace, _say)
        code, banners = _supervise(command, env, streams, reports, silent, stopping)
    finally:
        if streams is not None:
            streams.close()
        reports.close()
    return _verdict(job, code, banners, reports, stopping)


def _verdict(job: Job, code: int, banners: BannerFilter, reports: Reports, stopping: Stopping) -> int:
    """Say how the job ended, and return its exit code."""
    first, asked = reports.first(), stopping.first
    if first is not None and first.code == STOPPED:
        return STOPPED
    by_itself = asked is None or not (stopping.killed or first is None or first.cause == "signal")
    if asked is not None and not by_itself and (code or stopping.killed):  # the user ended the job, not a rank
        if asked in (signal.SIGTERM, signal.SIGHUP):  # or a batch system did, which should not pass unseen
            _say(f"dist-ms: got {signal.Signals(asked).name}; the job was stopped.")
        return 128 + asked
    lost = "lost" in banners.failure and first is not None and first.code == LOST
    if first is not None and not lost:
        _say(first.describe(job.ranks, job.servers))
        return first.code
    if code:
        _say(describe(banners.failure, job.ranks, code, job.servers))
    return code


def _check(job: Job, environ: Mapping[str, str]) -> None:
    """Raise if the job cannot work, before any process is started."""
    if environ.get("OMPI_COMM_WORLD_RANK") or environ.get("PMI_RANK"):
        raise LaunchError("this process is a rank of a job already; start jobs outside of jobs.")
    script = job.program[0]
    if script not in ("-m", "-c") and not Path(script).is_file():
        raise LaunchError(f"the script must be a file, but {script!r} is none.")


def _supervise(
    command: list[str],
    env: dict[str, str],
    streams: Streams | None,
    reports: Reports,
    silent: bool,
    stopping: Stopping,
) -> tuple[int, BannerFilter]:
    """Run mpirun, pass its output on, and see that it ends when this process is told to."""
    old = {s: signal.signal(s, lambda number, _: stopping.received.append(number)) for s in SIGNALS}
    terminal = Terminal()
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    old_waker = signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    banners = BannerFilter(_write_stderr)
    try:
        sys.stdout.flush()
        process = subprocess.Popen(
            command,
            env=env,
            stdin=None if streams is None else subprocess.DEVNULL,
            stdout=subprocess.PIPE if silent else None,
            stderr=subprocess.STDOUT if silent else subprocess.PIPE,
            # Out of the terminal's group: ^C comes here only, and mpirun is told once. Where it
            # has to read the terminal itself it must stay.
            process_group=None if streams is None and os.isatty(0) else 0,
            preexec_fn=_die_with_parent,
        )
        try:
            if streams is not None:
                streams.start_input()
            _pump(process, banners, streams, reports, wake, stopping)
        except BrokenPipeError:  # nobody reads the output any more
            stopping.received.insert(0, signal.SIGPIPE)
            stopping.killed = True
            process.terminate()
            process.wait(_PATIENCE)
        banners.feed(reports.last())
        banners.close()
    except OSError as error:
        raise LaunchError(f"{command[0]} did not start: {error}.") from error
    finally:
        signal.set_wakeup_fd(old_waker)
        for number, handler in old.items():
            signal.signal(number, handler)
        os.close(wake)
        os.close(waker)
    code = process.returncode
    if code or stopping.received:
        terminal.restore()
    if code in (-signal.SIGKILL, -signal.SIGTERM) and "rank" in banners.failure:  # mpirun hung when the job was over
        code = failure_code(banners.failure)
    return (128 - code if code < 0 else code), banners


def _pump(
    process: subprocess.Popen,
    banners: BannerFilter,
    streams: Streams | None,
    reports: Reports,
    wake: int,
    stopping: Stopping,
) -> None:
    """Pass output on until mpirun has ended; end it when it is time.

    Open MPI's mpirun may hang when several ranks on several machines abort at once.
    """
    output = process.stderr or process.stdout
    assert output is not None
    errors = output.fileno()
    with selectors.DefaultSelector() as selector:
        telling = () if reports.reader is None else (reports.reader,)
        for fd in (wake, errors, *telling, *(streams.readers if streams is not None else ())):
            selector.register(fd, selectors.EVENT_READ)
        while True:
            ended = process.poll() is not None
            ready = [key.fd for key, _ in selector.select(0 if ended else 0.05)]
            for fd in ready:
                if fd == wake:
                    os.read(wake, 512)
                elif fd == errors:
                    data = os.read(errors, 65536)
                    banners.feed(data if telling else reports.strip(data))
                    if not data:
                        selector.unregister(errors)
                elif fd in telling:
                    reports.strip(os.read(fd, 65536))
                elif streams is not None:
                    streams.pump(fd)
            if streams is not None:
                streams.flush(at_once=ended and not ready)
            if ended and not ready:
                return
            stopping.act(process, over="rank" in banners.failure or any(r.code != STOPPED for r in reports.told))


def _say(line: str) -> None:
    """Show a line to the user."""
    print(line, file=sys.stderr, flush=True)


def _write_stderr(data: bytes) -> None:
    """Write bytes to stderr at once."""
    if data:
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()


def _die_with_parent() -> None:
    """Have the kernel end mpirun when the launcher is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
