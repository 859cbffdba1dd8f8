"""Replace a file in one step, so that a crash leaves the old file or the new one, whole."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Iterator
from typing import BinaryIO

READ_ONLY = 0o400  # the mode of a finished checkpoint

_count = itertools.count()


@contextlib.contextmanager
def replacing(path: str, mode: int = READ_ONLY) -> Iterator[BinaryIO]:
    """Give a file to write aside; when the block ends well, it takes the place of `path`.

    The new file is flushed to the disk before the rename and the folder after it. An
    existing `path`, read-only or not, stays as it is until then; if it is a symbolic link,
    the file it points to is replaced.

    Args:
        path: the file to create or replace.
        mode: permission bits of the finished file.

    Raises:
        IsADirectoryError: if `path` is a folder.
        FileNotFoundError: if its folder is missing.
        OSError: if the folder is not writable, or the disk is full.

    Examples:
        >>> import os, tempfile
        >>> from dist_ms.common.atomic_file import replacing
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with replacing(folder + "/a.bin") as file:
        ...         _ = file.write(b"whole")
        ...     os.listdir(folder)
        ['a.bin']
    """
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise IsADirectoryError(f"The checkpoint file name must not name a folder, but {path} is one.")
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"The folder {folder} of the checkpoint file {name} must exist: make it first.")
    _remove_leftovers(folder, name)
    aside = os.path.join(folder, f"{_aside_prefix(name)}{os.getpid()}.{next(_count)}.tmp")
    try:
        with open(aside, "xb", opener=_open_private) as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        with _opened(folder) as descriptor:  # whoever sees the file may rename the folder at once
            os.replace(aside, target)
            _sync(descriptor)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)
        raise


def _open_private(path: str, flags: int) -> int:
    """Open a new file that only its owner can see into."""
    return os.open(path, flags, 0o600)


def _aside_prefix(name: str) -> str:
    """The start of the temporary names this machine uses for a file."""
    return f".{name[:120]}.{os.uname().nodename[:60]}."


def _remove_leftovers(folder: str, name: str) -> None:
    """Delete what killed processes of this machine left beside a file."""
    prefix = _aside_prefix(name)
    with contextlib.suppress(OSError):
        for entry in os.listdir(folder):
            pid = entry.removeprefix(prefix).split(".")[0]
            if entry.startswith(prefix) and entry.endswith(".tmp") and pid.isdecimal() and not _alive(int(pid)):
                os.unlink(os.path.join(folder, entry))


def _alive(pid: int) -> bool:
    """Whether a process with this number exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def sync_folder(folder: str) -> None:
    """Make the rename itself survive a power cut."""
    with _opened(folder) as descriptor:
        _sync(descriptor)


@contextlib.contextmanager
def _opened(folder: str) -> Iterator[int]:
    """Give a folder's descriptor, which stays that folder's whatever it is called."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    """See that a folder's entries are on the disk."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems without such a call
            raise
