"""The checkpoint files of one prefix in a folder: their names, and which to delete."""

from __future__ import annotations

import contextlib
import logging
import os

from dist_ms.common.checks import check_string

_log = logging.getLogger("dist_ms")
_BREAKPOINT = "_breakpoint.ckpt"


def make_folder(owner: str, path: str) -> str:
    """Make a folder if it is missing, for its owner alone, and return its absolute path.

    Args:
        owner: whose argument the path is.
        path: the folder.

    Raises:
        TypeError: if it is no str.
        ValueError: if it is blank.
        OSError: if it cannot be made.
    """
    check_string(path, "directory", owner)
    if not path.strip():
        raise ValueError(f"For '{owner}', the directory must not be blank, but got {path!r}.")
    os.makedirs(path, mode=0o700, exist_ok=True)
    return os.path.abspath(path)


def free_prefix(folder: str, prefix: str, breakpoint: bool = False) -> str:
    """Return a prefix that no file in a folder has: the given one, or that with `_1`, `_2` and so on.

    Args:
        folder: the folder.
        prefix: the wanted prefix.
        breakpoint: look at the files that `exception_save` wrote instead of the others.

    Examples:
        >>> import pathlib, tempfile
        >>> from dist_ms.train.callback.checkpoint_files import free_prefix
        >>> folder = tempfile.mkdtemp()
        >>> free_prefix(folder, "CKP")
        'CKP'
        >>> pathlib.Path(folder, "CKP-1_1.ckpt").touch()
        >>> free_prefix(folder, "CKP")
        'CKP_1'
    """
    highest = 0
    for name in os.listdir(folder):
        if name.endswith(_BREAKPOINT) != breakpoint or os.path.splitext(name)[1] not in (".ckpt", ".safetensors"):
            continue
        rest = name[len(prefix) :]
        if not name.startswith(prefix) or rest[0].isalpha():
            continue
        number, dash, _ = rest.partition("-")
        if dash and not number:
            highest = max(highest, 1)
        elif dash and number[1:].isdigit():
            highest = max(highest, int(number[1:]) + 1)
    return f"{prefix}_{highest}" if highest else prefix


class CheckpointFiles:
    """The files of a prefix.

    Args:
        format: their extension.

    Examples:
        >>> import os, pathlib, tempfile
        >>> from dist_ms.train.callback.checkpoint_files import CheckpointFiles
        >>> folder = tempfile.mkdtemp()
        >>> for step in (1, 2):
        ...     pathlib.Path(folder, f"CKP-1_{step}.ckpt").touch()
        >>> files = CheckpointFiles()
        >>> files.update_ckpoint_filelist(folder, "CKP")
        >>> files.ckpoint_num
        2
    """

    def __init__(self, format: str = "ckpt") -> None:
        self._format = format
        self._ckpoint_filelist: list[str] = []

    @property
    def ckpoint_filelist(self) -> list[str]:
        """The paths found last."""
        return self._ckpoint_filelist

    @property
    def ckpoint_num(self) -> int:
        """How many were found last."""
        return len(self._ckpoint_filelist)

    def update_ckpoint_filelist(self, directory: str, prefix: str) -> None:
        """Look for the files named prefix, "-", and anything without letters.

        Args:
            directory: the folder.
            prefix: the prefix.
        """
        end = f".{self._format}"
        found = (name for name in os.listdir(directory) if name.startswith(f"{prefix}-") and name.endswith(end))
        self._ckpoint_filelist = [
            os.path.join(directory, name)
            for name in found
            if not any(char.isalpha() for char in name[len(prefix) : -len(end)])
        ]

    def remove_ckpoint_file(self, file_name: str) -> None:
        """Delete a file.

        Args:
            file_name: one of the list.
        """
        try:
            os.remove(file_name)
        except OSError as error:
            _log.warning("The older checkpoint %s could not be deleted: %s", file_name, error)
        self._ckpoint_filelist.remove(file_name)

    def remove_oldest_ckpoint_file(self) -> None:
        """Delete the file that was written first."""
        self.remove_ckpoint_file(min(self._ckpoint_filelist, key=_age))

    def keep_newest(self, count: int) -> None:
        """Delete the oldest files until few enough are left.

        Args:
            count: how many to leave.
        """
        while self.ckpoint_num > count:
            self.remove_oldest_ckpoint_file()

    def keep_one_ckpoint_per_minutes(self, minutes: float, cur_time: float) -> None:
        """Delete the files of the last minutes but the oldest of them.

        Args:
            minutes: how many.
            cur_time: now, in seconds since the epoch.
        """
        recent = [name for name in self._ckpoint_filelist if cur_time - _age(name)[0] < 60 * minutes]
        for name in sorted(recent, key=_age)[1:]:
            self.remove_ckpoint_file(name)


def _age(path: str) -> tuple[float, str]:
    """When a file was written, the name deciding between equals; one that is gone counts as oldest."""
    with contextlib.suppress(OSError):
        return os.path.getmtime(path), path
    return 0.0, path
