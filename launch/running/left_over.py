"""What is left where mpirun was killed: ranks, which would compute for nobody beside the next attempt, and files."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_SEGMENT = re.compile(r"/dev/shm/(?:sm_segment|osc_sm)\.\S+")
_MEMORY = Path("/dev/shm")
_WORD = 0xFFFFFFFF
_PATIENCE = 5.0  # seconds for those that were killed to be gone


def end_left_over(setting: str, mpirun: int) -> int:
    """Kill this user's processes of this machine that have a setting, and remove what Open MPI left of them.

    They are gone afterwards: a process that was killed may hold its memory for a moment.

    Args:
        setting: "NAME=value", of one job only.
        mpirun: the number that mpirun had.

    Returns:
        How many processes there were.

    Examples:
        >>> from dist_ms.launch.running.left_over import end_left_over
        >>> end_left_over("DIST_MS_REPORT=/proc/0/fd/none", 0)
        0
    """
    wanted, killed, files = setting.encode(), set(), set()
    end = time.monotonic() + _PATIENCE
    while (found := list(_having(wanted))) and time.monotonic() < end:
        for folder in found:
            try:
                files.update(_SEGMENT.findall((folder / "maps").read_text()))
                os.kill(int(folder.name), signal.SIGKILL)
                killed.add(folder.name)
            except OSError:
                continue  # it has just ended
        time.sleep(0.005)
    # A rank that ended before, without taking its file away, maps it no more.
    for file in files.union(map(str, segments(mpirun))):
        Path(file).unlink(missing_ok=True)
    if not Path(f"/proc/{mpirun}").exists():
        shutil.rmtree(Path(tempfile.gettempdir(), f"ompi.{mpirun}"), ignore_errors=True)
    return len(killed)


def _having(setting: bytes) -> Iterator[Path]:
    """The folders of /proc of this user's other processes that have a setting; none of one that has ended."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) != os.getpid() and setting in (folder / "environ").read_bytes().split(b"\0"):
                yield folder
        except OSError:
            continue  # another user's, or it has just ended


def segments(mpirun: int) -> Iterator[Path]:
    """Find the files of Open MPI 5 in which the ranks of a job on this machine have their messages.

    A name ends in the job and the rank. A job's number is a hash of what its mpirun calls itself.

    Args:
        mpirun: the number that mpirun has, or had.
    """
    host = platform.node()
    for name in {host, host.partition(".")[0]}:
        family = _folded(f"prterun-{name}-{mpirun}")
        yield from _MEMORY.glob(f"sm_segment.*.{os.geteuid()}.{family:x}[0-9a-f][0-9a-f][0-9a-f][0-9a-f].*")


def _folded(text: str) -> int:
    """Jenkins' one-at-a-time hash of a text, its halves folded to 16 bits.

    Source: Jenkins: Algorithm Alley, Dr. Dobb's Journal, 1997.
    """
    found = 0
    for byte in text.encode():
        found += byte
        found += found << 10
        found = (found ^ (found & _WORD) >> 6) & _WORD
    found = (found + (found << 3)) & _WORD
    found ^= found >> 11
    found = (found + (found << 15)) & _WORD
    return found >> 16 ^ found & 0xFFFF
