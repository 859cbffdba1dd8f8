"""mpirun while it runs: its output, the ranks' streams and reports, and signals."""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import subprocess
import sys

from dist_ms.launch.banner import BannerFilter, failure_code
from dist_ms.launch.mpirun import LaunchError
from dist_ms.launch.output.rank_output import write_all
from dist_ms.launch.output.streams import Streams
from dist_ms.launch.output.tagged_lines import TaggedLines
from dist_ms.launch.reports import VARIABLE, Reports
from dist_ms.launch.running.left_over import end_left_over
from dist_ms.launch.running.stopping import SIGNALS, Stopping, Terminal

_PATIENCE = 5.0  # seconds for mpirun to end when nobody reads the output
_PR_SET_PDEATHSIG = 1


def supervise(
    command: list[str],
    env: dict[str, str],
    streams: Streams | None,
    reports: Reports,
    silent: bool,
    stopping: Stopping,
    tagged: TaggedLines | None = None,
    elastic: bool = False,
) -> tuple[int, BannerFilter]:
    """Run mpirun, pass its output on, and see that it ends when this process is told to.

    Args:
        command: the argument list.
        env: its environment.
        streams: of the ranks; None: they have those that mpirun gives them.
        reports: what the ranks tell.
        silent: whether mpirun's words come on its stdout.
        stopping: ends it.
        tagged: takes the ranks' lines out of mpirun's output; None: they are not told apart.
        elastic: whether ranks go on when another was killed.

    Returns:
        Its exit code, 128 + the signal's number for a signal, and what its banners said.

    Raises:
        LaunchError: if it does not start.
    """
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
            stdout=subprocess.PIPE if silent or tagged is not None else None,
            stderr=subprocess.STDOUT if silent else subprocess.PIPE,
            # Out of the terminal's group: ^C comes here only, and mpirun is told once. Where it
            # has to read the terminal itself it must stay.
            process_group=None if streams is None and os.isatty(0) else 0,
            preexec_fn=die_with_parent,
        )
        try:
            if streams is not None:
                streams.start_input()
            _pump(process, banners, streams, reports, wake, stopping, tagged, elastic)
        except BrokenPipeError:  # nobody reads the output any more
            stopping.received.insert(0, signal.SIGPIPE)
            stopping.killed = True
            process.terminate()
            process.wait(_PATIENCE)
        for output in filter(None, (process.stdout, process.stderr)):
            output.close()
        if tagged is not None:
            banners.feed(tagged.last())
            tagged.output.flush(at_once=True)
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
    if code and streams is not None:
        end_left_over(f"{VARIABLE}={reports.path}", process.pid)
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
    tagged: TaggedLines | None,
    elastic: bool,
) -> None:
    """Pass output on until mpirun has ended; end it when it is time.

    Open MPI's mpirun may hang when several ranks on several machines abort, or end, at once.
    """
    output = process.stderr or process.stdout
    assert output is not None
    errors = output.fileno()
    forwarded = () if tagged is None or process.stdout is None else (process.stdout.fileno(),)
    with selectors.DefaultSelector() as selector:
        telling = () if reports.reader is None else (reports.reader,)
        for fd in (wake, errors, *telling, *forwarded, *(streams.readers if streams is not None else ())):
            selector.register(fd, selectors.EVENT_READ)
        while True:
            ended = process.poll() is not None
            ready = [key.fd for key, _ in selector.select(0 if ended else 0.05)]
            for fd in ready:
                if fd == wake:
                    os.read(wake, 512)
                elif fd == errors:
                    data = os.read(errors, 65536)
                    own = data if tagged is None else tagged.feed(2, data)
                    banners.feed(own if telling else reports.strip(own))
                    if not data:
                        selector.unregister(errors)
                elif tagged is not None and fd in forwarded:
                    data = os.read(fd, 65536)
                    write_all(1, tagged.feed(1, data))
                    if not data:
                        selector.unregister(fd)
                elif fd in telling:
                    reports.strip(os.read(fd, 65536))
                elif streams is not None:
                    streams.pump(fd)
            if streams is not None:
                streams.flush(at_once=ended and not ready)
            if tagged is not None:
                tagged.output.flush()
            if ended and not ready:
                return
            over = "rank" in banners.failure or reports.failed(elastic) or reports.all_stopped
            stopping.act(process, over)


def _write_stderr(data: bytes) -> None:
    """Write bytes to stderr at once."""
    if data:
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()


def die_with_parent() -> None:
    """Have the kernel end mpirun when the launcher is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
