"""FileReader: the rows of MindRecord files in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dist_ms import log
from dist_ms.mindrecord.exceptions import ParamTypeError, ParamValueError
from dist_ms.mindrecord.names import check_filename
from dist_ms.mindrecord.shards import Shards

__all__ = ["FileReader"]


def check_consumers(num_consumer: Any) -> int:
    """Check a number of readers.

    Raises:
        ParamValueError: if it is not positive.
    """
    if isinstance(num_consumer, bool) or not isinstance(num_consumer, int) or num_consumer < 1:
        raise ParamValueError(f"'num_consumer' must be a positive int, but got {num_consumer!r}.")
    return num_consumer


def check_names(file_name: Any) -> Any:
    """Check a file's name or a list of them.

    Raises:
        ParamValueError: if there is none, or it is no name.
    """
    if file_name == []:
        raise ParamValueError("'file_name' must be the path of a file, or a list of such, but got [].")
    for name in file_name if isinstance(file_name, list) else [file_name]:
        check_filename(name)
    return file_name


class FileReader:
    """Reads MindRecord files.

    Args:
        file_name: one of the files that were written together, or a list of files.
        num_consumer: accepted; one thread reads.
        columns: the fields to read; all by default.
        operator: accepted, as MindSpore does.

    Raises:
        ParamValueError: if an argument is wrong.
        RuntimeError: if a file is missing or damaged.

    Examples:
        >>> import tempfile
        >>> from dist_ms.mindrecord import FileReader, FileWriter
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = FileWriter(folder.name + "/rows.mindrecord")
        >>> writer.add_schema({"label": {"type": "int32"}, "image": {"type": "bytes"}})
        >>> writer.write_raw_data([{"label": 3, "image": b"abc"}])
        >>> writer.commit()
        >>> for row in FileReader(folder.name + "/rows.mindrecord", columns=["image"]).get_next():
        ...     print(row)
        {'image': b'abc'}
        >>> folder.cleanup()
    """

    def __init__(
        self, file_name: str | list[str], num_consumer: int = 4, columns: list[str] | None = None, operator: Any = None
    ) -> None:
        check_names(file_name)
        check_consumers(num_consumer)
        if operator is not None:
            log.warning("For 'FileReader', 'operator' has no effect.")
        if columns and not isinstance(columns, list):
            raise ParamTypeError("columns", "list")
        self._shards = Shards(file_name)
        schema = self._shards.schema
        self._names = [*schema.raw_fields, *schema.blob_fields]
        if columns:
            unknown = [name for name in columns if name not in schema.fields]
            if unknown:
                raise RuntimeError(
                    f"For 'FileReader', 'columns' must be among {list(schema.fields)}, but got {unknown[0]!r}."
                )
            self._names = [name for name in self._names if name in columns]

    def get_next(self) -> Iterator[dict]:
        """The rows, one after the other, each a dict.

        Raises:
            RuntimeError: if a row is damaged.
        """
        for row in range(len(self._shards)):
            yield self._shards.values(row, self._names)

    def close(self) -> None:
        """Close the files."""
        self._shards.close()

    def schema(self) -> dict:
        """The fields of the files."""
        return self._shards.schema.fields

    def len(self) -> int:
        """How many rows there are."""
        return len(self._shards)
