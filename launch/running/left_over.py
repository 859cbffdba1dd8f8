"""What is left where mpirun was killed: ranks, which would compute for nobody beside the next attempt, and files."""

from __future__ import annotations

import glob
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

_SEGMENT = re.compile(r"/dev/shm/(?:sm_segment|osc_sm)\.\S+")
_OF_JOB = re.compile(r"/dev/shm/sm_segment\.\S+\.(?=\d+$)")  # and the rank


def end_left_over(setting: str, mpirun: int) -> int:
    """Kill this user's processes of this machine that have a setting, and remove what Open MPI left of them.

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
    wanted, count, files = setting.encode(), 0, set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) != os.getpid() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                files.update(_SEGMENT.findall((folder / "maps").read_text()))
                os.kill(int(folder.name), signal.SIGKILL)
                count += 1
        except OSError:
            continue  # another user's, or it has just ended
    # A rank that ended before, without taking its file away, is told by the names of those that were still there.
    for job in filter(None, map(_OF_JOB.match, set(files))):
        files.update(map(str, Path("/dev/shm").glob(f"{glob.escape(Path(job[0]).name)}*")))
    for file in files:
        Path(file).unlink(missing_ok=True)
    if not Path(f"/proc/{mpirun}").exists():
        shutil.rmtree(Path(tempfile.gettempdir(), f"ompi.{mpirun}"), ignore_errors=True)
    return count
