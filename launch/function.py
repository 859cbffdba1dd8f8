"""`dist_ms.run`: a function on several ranks, from a script, a prompt or a notebook."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

_CALL, _RESULT = "call", "result"


def run(
    fn: Callable[..., Any],
    n: int,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
) -> list[Any]:
    """Call a function on n ranks and return what they return, in rank order.

    The function, what it refers to and its arguments go to the ranks by cloudpickle, so one that was written at a
    prompt works. The ranks' output appears here; ^C is for them.

    Args:
        fn: the function; it calls `init()` as a script does.
        n: how many ranks.
        args: its arguments, the same on all ranks.
        kwargs: its keyword arguments.
        options: of `dist-ms run`: ["--threads", "2"].

    Raises:
        ValueError: if n is no positive int.
        RuntimeError: if a rank failed; its own exception is the cause, where there is one.
        KeyboardInterrupt: if the ranks were stopped by ^C.

    Examples:
        >>> import dist_ms as ms
        >>> ms.run(lambda x: 2 * x, n=1, args=[3])
        [6]
    """
    from dist_ms.common.by_value import dumped_by_value

    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ValueError(f"For 'run', 'n' must be a positive int, but got {n!r}.")
    if not callable(fn):
        raise TypeError(f"For 'run', 'fn' must be callable, but got {fn!r}.")
    with tempfile.TemporaryDirectory(prefix="dist-ms-run-") as folder:
        call = dumped_by_value((fn, tuple(args), dict(kwargs or {})))
        Path(folder, _CALL).write_bytes(pickle.dumps((sys.path, call)))
        closing = ["--summary-on", "stdout"] if _shown_as_faults(sys.stderr) else []
        words = ["run", "-n", str(n), *closing, *options, "-m", "dist_ms.launch.function", folder]
        code = _wait([sys.executable, "-m", "dist_ms.launch", *words])
        ended = {rank: pickle.loads(path.read_bytes()) for rank in range(n) if (path := _path(folder, rank)).exists()}
    for rank, (well, value) in ended.items():
        if not well:
            error = pickle.loads(value)
            raise RuntimeError(f"For 'run', rank {rank} of {n} raised {type(error).__name__}: {error}") from error
    if code in (130, 75):
        raise KeyboardInterrupt
    if code or len(ended) < n:
        raise RuntimeError(f"For 'run', the job of {n} ranks ended with exit code {code}.")
    return [pickle.loads(ended[rank][1]) for rank in range(n)]


def _path(folder: str, rank: int) -> Path:
    return Path(folder, f"{_RESULT}_{rank}")


def _shown_as_faults(stream: Any) -> bool:
    """Return whether what is written to stderr looks like a fault: a notebook shows it on red ground."""
    return type(stream).__module__.partition(".")[0] == "ipykernel"


def _wait(command: list[str]) -> int:
    """Run a command, show its output where this process's Python shows its own, and pass ^C on."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    copying = [
        threading.Thread(target=_copy, args=(source, target))
        for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr))
    ]
    for thread in copying:
        thread.start()
    while True:
        try:
            code = process.wait()
            break
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
    for thread in copying:
        thread.join()
    return code


def _copy(source: Any, target: TextIO) -> None:
    """Copy what comes, as text."""
    with source:
        for line in iter(source.readline, b""):
            target.write(line.decode(errors="replace"))
            target.flush()


def call(folder: str) -> None:
    """Call the function on this rank and keep what it returns or raises.

    Args:
        folder: where the call lies.
    """
    from dist_ms.common.by_value import dumped_by_value

    path, pickled = pickle.loads(Path(folder, _CALL).read_bytes())
    sys.path[:] = path
    rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK") or 0)
    fn, args, kwargs = pickle.loads(pickled)
    try:
        result = True, dumped_by_value(fn(*args, **kwargs))
    except Exception as error:
        try:
            result = False, dumped_by_value(error)
        except Exception:
            result = False, dumped_by_value(RuntimeError(f"{type(error).__name__}: {error}"))
        _keep(folder, rank, result)
        raise
    _keep(folder, rank, result)


def _keep(folder: str, rank: int, result: tuple[bool, bytes]) -> None:
    whole = _path(folder, rank).with_suffix(".part")
    whole.write_bytes(pickle.dumps(result))
    whole.rename(_path(folder, rank))


if __name__ == "__main__":
    call(sys.argv[1])
