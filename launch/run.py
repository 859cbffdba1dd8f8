"""Running a job and ending it: signals, output and the exit code."""

from __future__ import annotations

import ctypes
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from dist_ms.launch.banner import LOST, BannerFilter, describe, failure_code
from dist_ms.launch.command import Job, mpirun_command, rank_environment, several_machines
from dist_ms.launch.loopback import on_loopback
from dist_ms.launch.machine import this_machine
from dist_ms.launch.mpirun import LaunchError, find_mpirun
from dist_ms.launch.reports import VARIABLE, Reports
from dist_ms.launch.streams import Streams

_TOKEN = "DIST_MS_JOB_TOKEN"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 5.0  # seconds for mpirun to end the ranks before it is killed
_LAST_PATIENCE = 1.0  # the same when the job is over, and it has not ended by itself
_PR_SET_PDEATHSIG = 1


def run_job(job: Job, mpirun: str | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run a job to its end.

    Args:
        job: what to start.
        mpirun: the mpirun to use; default: as `find_mpirun` finds.
        environ: the user's environment.

    Returns:
        The exit code: the first failing rank's, 128 + the signal's number for a signal.

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
        code, banners = _supervise(command, env, streams, reports, silent)
    finally:
        if streams is not None:
            streams.close()
        reports.close()
    if banners.quiet:
        return code
    first = reports.first()
    lost = "lost" in banners.failure and first is not None and first.code == LOST
    if first is not None and not lost:
        print(first.describe(job.ranks, job.servers), file=sys.stderr, flush=True)
        return first.code
    if code:
        print(describe(banners.failure, job.ranks, code, job.servers), file=sys.stderr, flush=True)
    return code


def _check(job: Job, environ: Mapping[str, str]) -> None:
    """Raise if the job cannot work, before any process is started."""
    if environ.get("OMPI_COMM_WORLD_RANK") or environ.get("PMI_RANK"):
        raise LaunchError("this process is a rank of a job already; start jobs outside of jobs.")
    script = job.program[0]
    if script not in ("-m", "-c") and not Path(script).is_file():
        raise LaunchError(f"the script must be a file, but {script!r} is none.")


def _supervise(
    command: list[str], env: dict[str, str], streams: Streams | None, reports: Reports, silent: bool
) -> tuple[int, BannerFilter]:
    """Run mpirun, pass its output on, and see that it ends when this process is told to."""
    received: list[int] = []
    old = {s: signal.signal(s, lambda number, _: received.append(number)) for s in _SIGNALS}
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
            _pump(process, banners, streams, reports, wake, received)
        except BrokenPipeError:  # nobody reads the output any more
            received.append(signal.SIGPIPE)
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
    if received:
        banners.quiet = True  # the user ended the job, not a rank
        if received[0] in (signal.SIGTERM, signal.SIGHUP):  # or a batch system did, which should not pass unseen
            print(f"dist-ms: got {signal.Signals(received[0]).name}; the job was stopped.", file=sys.stderr, flush=True)
        return 128 + received[0], banners
    code = process.returncode
    if code in (-signal.SIGKILL, -signal.SIGTERM) and "rank" in banners.failure:  # mpirun hung when the job was over
        code = failure_code(banners.failure)
    return (128 - code if code < 0 else code), banners


def _pump(
    process: subprocess.Popen,
    banners: BannerFilter,
    streams: Streams | None,
    reports: Reports,
    wake: int,
    received: list[int],
) -> None:
    """Pass output on until mpirun has ended; end it when a signal has come.

    Open MPI's mpirun may hang when several ranks on several machines abort at once.
    """
    told: float | None = None
    over: float | None = None
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
            now = time.monotonic()
            if over is None and ("rank" in banners.failure or reports.told):
                over = now
            if told is None and (received or (over is not None and now - over > _PATIENCE)):
                told = now
                process.send_signal(signal.SIGTERM)
            elif told is not None and now - told > (_PATIENCE if received else _LAST_PATIENCE):
                process.kill()


def _write_stderr(data: bytes) -> None:
    """Write bytes to stderr at once."""
    if data:
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()


def _die_with_parent() -> None:
    """Have the kernel end mpirun when the launcher is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
