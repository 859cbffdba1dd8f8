"""Ranks that live on where mpirun was killed: they would compute for nobody, beside those of the next attempt."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def end_left_over(setting: str) -> int:
    """Kill this user's processes of this machine whose environment has a setting; return how many there were.

    Args:
        setting: "NAME=value", of one job only.

    Examples:
        >>> from dist_ms.launch.running.left_over import end_left_over
        >>> end_left_over("DIST_MS_REPORT=/proc/0/fd/none")
        0
    """
    wanted, count = setting.encode(), 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) != os.getpid() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
                count += 1
        except OSError:
            continue  # another user's, or it has just ended
    return count
