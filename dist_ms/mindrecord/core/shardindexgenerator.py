"""ShardIndexGenerator: the index files of MindRecord files."""

from __future__ import annotations

import os

from dist_ms.mindrecord.exceptions import MRMGenerateIndexError
from dist_ms.mindrecord.header import read_header
from dist_ms.mindrecord.index import SUFFIX, write_index
from dist_ms.mindrecord.names import check_filename
from dist_ms.mindrecord.status import SUCCESS, MSRStatus

__all__ = ["ShardIndexGenerator"]


class ShardIndexGenerator:
    """Writes the index files of files that were written together.

    Args:
        path: one of the files.
        append: whether there may be index files already, which are written anew.
    """

    def __init__(self, path: str, append: bool = False) -> None:
        check_filename(path)
        self._path, self._append = path, append
        self._paths: list[str] = []

    def build(self) -> MSRStatus:
        """Read which files there are.

        Raises:
            MRMGenerateIndexError: if an index file is there and may not be.
            RuntimeError: if the file is missing or damaged.
        """
        folder = os.path.dirname(self._path)
        self._paths = [os.path.join(folder, name) for name in read_header(self._path).names]
        existing = [path + SUFFIX for path in self._paths if os.path.exists(path + SUFFIX)]
        if existing and not self._append:
            raise MRMGenerateIndexError(f"{existing[0]} exists: remove it, or set 'append' to True.")
        return SUCCESS

    def write_to_db(self) -> MSRStatus:
        """Write the index files.

        Raises:
            MRMGenerateIndexError: before `build`.
        """
        if not self._paths:
            raise MRMGenerateIndexError("'build' must be called first.")
        for path in self._paths:
            write_index(path)
        return SUCCESS
