"""Saves that go on while training continues: one at a time, in the order they were asked for.

The thread that watches a save is no daemon, so the interpreter does not end before the file
is whole. A failure is logged at once and raised by the next save or load.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dist_ms.train.checkpoint.sealed_file import Seal

if TYPE_CHECKING:
    import subprocess

_log = logging.getLogger(__name__)
_running: _Save | None = None
_turn = threading.RLock()  # load_checkpoint_async waits for saves in a thread of its own


class _Save:
    """One save in the background."""

    def __init__(self, path: str, job: Callable[[], None]) -> None:
        self.path = path
        self._job: Callable[[], None] | None = job
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name=f"save {path}", daemon=False)
        self.thread.start()

    def _run(self) -> None:
        try:
            if self._job is not None:
                self._job()
        except BaseException as error:
            self.error = error
            _log.error("The background save of %s failed: %s", self.path, error)
        finally:
            self._job = None  # it holds the copy of the values


def start(path: str, job: Callable[[], None]) -> None:
    """Run a save in a thread, after the one before it, which bounds the copies held in memory.

    Raises:
        RuntimeError: if the save before failed.
    """
    global _running
    with _turn:
        finish()
        _running = _Save(path, job)


def running() -> bool:
    """Whether a save is going on in the background."""
    save = _running
    return save is not None and save.thread.is_alive()


def finish() -> None:
    """Wait until no save is going on.

    Raises:
        RuntimeError: if it failed.
    """
    global _running
    with _turn:
        save = _running
        if save is None:
            return
        save.thread.join()
        _running = None
    if save.error is not None:
        raise RuntimeError(f"The background save of {save.path} failed: {save.error}") from save.error


def start_process(path: str, pieces: Iterable[bytes | memoryview], seal: Seal) -> None:
    """Write a file in another process, which finishes even if this one is killed.

    The content is copied into anonymous memory that the other process inherits; the key goes
    through its standard input, where no process list shows it.

    Raises:
        RuntimeError: if the save before failed.
        OSError: if the process cannot be started.
    """
    finish()
    with _anonymous_file() as content:
        for piece in pieces:
            content.write(piece)
        content.flush()
        order = json.dumps(
            {
                "path": path,
                "content": content.fileno(),
                "key": seal.key and seal.key.hex(),
                "mode": seal.mode,
                "crc": seal.crc,
            }
        )
        writer = subprocess.Popen(
            [sys.executable, "-m", "dist_ms.train.checkpoint.writer_process"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(content.fileno(),),
            text=True,
            env=_environment(),
            start_new_session=True,
        )
        # A process that ended at once has closed the pipe; _watch tells its reason.
        assert writer.stdin is not None
        with contextlib.suppress(BrokenPipeError), writer.stdin:
            writer.stdin.write(order)
    start(path, lambda: _watch(writer))


def _anonymous_file() -> BinaryIO:
    """A file in memory without a name, or in the temporary folder where the system has none."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("checkpoint"), "wb")
    return tempfile.TemporaryFile()


def _environment() -> dict[str, str]:
    """The environment of the other process, in which this very package is found."""
    package_root = str(Path(__file__).parents[3])
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{package_root}:{path}" if path else package_root}


def _watch(writer: subprocess.Popen) -> None:
    """Wait for the other process and raise what it complains about."""
    with writer:
        complaint = "" if writer.stderr is None else writer.stderr.read().strip()
    if writer.returncode != 0:
        last_line = complaint.splitlines()[-1] if complaint else "no error text"
        raise RuntimeError(f"the writing process ended with status {writer.returncode}: {last_line}")
