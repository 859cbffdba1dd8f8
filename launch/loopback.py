"""Keeping mpirun's sockets on the loopback interface, where all ranks are on this machine."""

from __future__ import annotations

import sysconfig
from collections.abc import Mapping
from pathlib import Path

from dist_ms.launch.mpirun import LaunchError

LIBRARY = Path(__file__).with_name("loopback_bind" + sysconfig.get_config_var("EXT_SUFFIX"))


def on_loopback(environ: Mapping[str, str], library: Path = LIBRARY) -> dict[str, str]:
    """Return mpirun's environment, with the library that has it listen on the loopback interface alone.

    The ranks have LD_PRELOAD as the user has set it. A path with a space or colon cannot be preloaded; then mpirun
    listens where it likes.

    Args:
        environ: what it was to be.
        library: the compiled `loopback_bind.c`.

    Raises:
        LaunchError: if the library is missing.

    Examples:
        >>> from dist_ms.launch.loopback import LIBRARY, on_loopback
        >>> on_loopback({"LD_PRELOAD": "/lib/mine.so"})["LD_PRELOAD"] == f"{LIBRARY}:/lib/mine.so"
        True
    """
    if not library.is_file():
        raise LaunchError(f"{library} is missing, which is compiled with dist_ms; install dist_ms again.")
    if {" ", ":"} & set(str(library)):
        return dict(environ)
    others = environ.get("LD_PRELOAD")
    return {**environ, "LD_PRELOAD": f"{library}:{others}" if others else str(library)}
