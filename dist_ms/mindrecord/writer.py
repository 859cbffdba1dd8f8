"""FileWriter: rows into MindRecord files."""

from __future__ import annotations

import os

from dist_ms import log
from dist_ms.mindrecord import encryption
from dist_ms.mindrecord.exceptions import (
    MRMAddSchemaError,
    MRMDefineIndexError,
    MRMGetMetaError,
    MRMInvalidHeaderSizeError,
    MRMInvalidPageSizeError,
    MRMOpenForAppendError,
    ParamTypeError,
    ParamValueError,
)
from dist_ms.mindrecord.header import (
    HEADER_BYTES,
    MAX_HEADER_BYTES,
    MAX_PAGE_BYTES,
    MIN_HEADER_BYTES,
    MIN_PAGE_BYTES,
    PAGE_BYTES,
    Header,
    read_header,
)
from dist_ms.mindrecord.index import SUFFIX, write_index
from dist_ms.mindrecord.names import check_filename
from dist_ms.mindrecord.schema import Schema, check_schema
from dist_ms.mindrecord.shard_file import ShardFile

__all__ = ["FileWriter"]

_MOST_SHARDS = 1000


class FileWriter:
    """Writes rows into MindRecord files, each with an index file next to it.

    A file keeps its name for ever: it and its index name each other. Rows given at once are dealt to the files in
    stretches; what is left over goes to one file more each, in turn.

    Args:
        file_name: the file; of several, numbers follow the name.
        shard_num: how many files, from 1 to 1000.
        overwrite: replace files that exist.

    Raises:
        ParamValueError: if an argument is wrong.

    Examples:
        >>> import tempfile
        >>> from dist_ms.mindrecord import FileReader, FileWriter
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = FileWriter(folder.name + "/rows.mindrecord", overwrite=True)
        >>> writer.add_schema({"label": {"type": "int32"}, "name": {"type": "string"}})
        >>> writer.write_raw_data([{"label": 3, "name": "c"}, {"label": 5, "name": "e"}])
        >>> writer.commit()
        >>> reader = FileReader(folder.name + "/rows.mindrecord")
        >>> list(reader.get_next())
        [{'label': 3, 'name': 'c'}, {'label': 5, 'name': 'e'}]
        >>> folder.cleanup()
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False) -> None:
        check_filename(file_name)
        if isinstance(shard_num, bool) or not isinstance(shard_num, int) or not 1 <= shard_num <= _MOST_SHARDS:
            raise ParamValueError(f"'shard_num' must be an int from 1 to {_MOST_SHARDS}, but got {shard_num!r}.")
        if not isinstance(overwrite, bool):
            raise ParamValueError(f"'overwrite' must be a bool, but got {overwrite!r}.")
        if shard_num > 1 and encryption.enabled():
            raise RuntimeError("For 'FileWriter', 'shard_num' must be 1 while a key is set.")
        digits = len(str(shard_num - 1))
        names = [file_name] if shard_num == 1 else [f"{file_name}{k:0{digits}}" for k in range(shard_num)]
        self._paths, self._overwrite = names, overwrite
        self._schema: Schema | None = None
        self._index_fields: list[str] = []
        self._header_bytes, self._page_bytes = HEADER_BYTES, PAGE_BYTES
        self._files: list[ShardFile] | None = None
        self._parallel: bool | None = None
        self._committed = self._appends = False
        self._next = 0

    @classmethod
    def of_paths(cls, paths: list[str], overwrite: bool) -> FileWriter:
        """Return a writer of files that are named one by one."""
        for path in paths:
            check_filename(path)
        made = cls(paths[0], 1, overwrite)
        if len(paths) > 1 and encryption.enabled():
            raise RuntimeError("For 'FileWriter', there must be one file while a key is set.")
        made._paths = list(paths)
        return made

    def described(self) -> tuple[Schema, list[str]]:
        """The schema and the index fields.

        Raises:
            MRMGetMetaError: if there is no schema yet.
        """
        if self._schema is None:
            raise MRMGetMetaError
        return self._schema, self._index_fields

    @classmethod
    def open_for_append(cls, file_name: str) -> FileWriter:
        """Go on writing to files that were completed before.

        Args:
            file_name: one of the files written together.

        Raises:
            ParamValueError: if it is no file's name.
            MRMOpenForAppendError: if it is missing, or its index.
            RuntimeError: if it is no MindRecord file.

        Examples:
            >>> import tempfile
            >>> from dist_ms.mindrecord import FileReader, FileWriter
            >>> folder = tempfile.TemporaryDirectory()
            >>> path = folder.name + "/rows.mindrecord"
            >>> writer = FileWriter(path)
            >>> writer.add_schema({"label": {"type": "int32"}})
            >>> writer.write_raw_data([{"label": 3}])
            >>> writer.commit()
            >>> writer = FileWriter.open_for_append(path)
            >>> writer.write_raw_data([{"label": 5}])
            >>> writer.commit()
            >>> FileReader(path).len()
            2
            >>> folder.cleanup()
        """
        check_filename(file_name)
        for path in (file_name, file_name + SUFFIX):
            if not os.path.isfile(path):
                raise MRMOpenForAppendError(f"{path} does not exist.")
        for path in (file_name, file_name + SUFFIX):
            encryption.decrypt_in_place(path)
        instance = cls(file_name)
        instance.init_append(file_name, read_header(file_name))
        return instance

    def init_append(self, file_name: str, header: Header) -> None:
        """Take over the files that a head names."""
        folder = os.path.dirname(file_name)
        self._paths = [os.path.join(folder, name) for name in header.names]
        self._schema, self._index_fields = header.schema, header.index_fields
        self._header_bytes, self._page_bytes = header.header_bytes, header.page_bytes
        self._files = [ShardFile(path, read_header(path), new=False) for path in self._paths]
        self._appends = True

    def add_schema(self, content: dict, desc: str | None = None) -> None:
        """Say which fields the rows have.

        Args:
            content: for each field a dict with its "type" (int32, int64, float32, float64, string or bytes) and, for
                arrays of numbers, its "shape", where one -1 stands for any length.
            desc: a description.

        Raises:
            MRMInvalidSchemaError: if it is wrong.
            MRMAddSchemaError: if there is one already.
        """
        if self._schema is not None:
            raise MRMAddSchemaError("The fields were given already.")
        self._schema = Schema(check_schema(content), desc or "")

    def add_index(self, index_fields: list[str]) -> None:
        """Choose the fields that the index file holds; without it, all numbers and text.

        Raises:
            ParamTypeError: if it is no list of names.
            MRMDefineIndexError: if a field is bytes or an array, or is not in the schema.
            MRMGetMetaError: if there is no schema yet.
        """
        if not index_fields or not isinstance(index_fields, list):
            raise ParamTypeError("index_fields", "list")
        if self._schema is None:
            raise MRMGetMetaError
        for name in index_fields:
            if not isinstance(name, str):
                raise ParamTypeError("index field", "str")
            if name in self._schema.blob_fields:
                raise MRMDefineIndexError(f"Field {name!r} is no number and no text.")
            if name not in self._schema.fields or name in self._index_fields:
                raise RuntimeError(f"For 'add_index', {name!r} is not in the schema, or an index already.")
            self._index_fields.append(name)

    def write_raw_data(self, raw_data: list[dict], parallel_writer: bool = False) -> None:
        """Write rows; those that do not fit the schema are left out, with a warning.

        Args:
            raw_data: the rows.
            parallel_writer: put all of them into one file, the next call's into the next file, and so on.

        Raises:
            ParamTypeError: if they are no list of dicts.
            RuntimeError: if no row fits the schema, or the files are completed already.
        """
        if not isinstance(parallel_writer, bool):
            raise TypeError(f"For 'write_raw_data', 'parallel_writer' must be a bool, but got {parallel_writer!r}.")
        if self._parallel not in (None, parallel_writer):
            raise RuntimeError("For 'write_raw_data', 'parallel_writer' must be the same in all calls.")
        if not isinstance(raw_data, list):
            raise ParamTypeError("raw_data", "list")
        if not all(isinstance(row, dict) for row in raw_data):
            raise ParamTypeError("raw_data item", "dict")
        if self._committed and not self._appends:
            raise RuntimeError("For 'write_raw_data', the files are completed: open them with open_for_append.")
        self._parallel = parallel_writer
        files, schema = self._opened(), self._schema
        assert schema is not None
        fitting = []
        for place, row in enumerate(raw_data):
            fault = schema.fault(row)
            if fault is None:
                fitting.append(row)
            else:
                log.warning("For 'write_raw_data', row %d of %d is left out: %s.", place, len(raw_data), fault)
        if not fitting:
            raise RuntimeError("For 'write_raw_data', no row fits the schema; the warnings say why.")
        if parallel_writer:
            files[self._next].write(fitting)
            self._next = (self._next + 1) % len(files)
            return
        whole, rest = divmod(len(fitting), len(files))
        longer = {(self._next + k) % len(files) for k in range(rest)}
        self._next = (self._next + rest) % len(files)
        start = 0
        for k, file in enumerate(files):
            end = start + whole + (k in longer)
            file.write(fitting[start:end])
            start = end

    def _opened(self) -> list[ShardFile]:
        """The files, made if there are none yet."""
        if self._files is None:
            if self._schema is None:
                raise MRMGetMetaError
            for path in self._paths:
                self._make_room(path)
            fields = self._index_fields or list(self._schema.raw_fields)
            names = [os.path.basename(path) for path in self._paths]
            self._files = []
            for k, path in enumerate(self._paths):
                where = ([names[k]], 0) if self._parallel else (names, k)
                sizes = {"header_bytes": self._header_bytes, "page_bytes": self._page_bytes}
                self._files.append(ShardFile(path, Header(self._schema, fields, *where, **sizes), new=True))
        return self._files

    def _make_room(self, path: str) -> None:
        for existing in (path, path + SUFFIX):
            if os.path.exists(existing):
                if not self._overwrite:
                    raise RuntimeError(f"For 'FileWriter', {existing} exists: remove it, or set 'overwrite' to True.")
                os.remove(existing)

    def check_all_worker_status(self) -> None:
        """Nothing to check: rows are written when they are given."""

    def check_worker_status(self, index: int) -> None:
        """Nothing to check: rows are written when they are given."""

    def set_header_size(self, header_size: int) -> None:
        """Set the size of the head, where the pages are listed: 16 MB, or from 16 KB to 128 MB.

        Raises:
            MRMInvalidHeaderSizeError: if it is out of range, or no multiple of 4.
        """
        if not MIN_HEADER_BYTES <= header_size <= MAX_HEADER_BYTES or header_size % 4:
            raise MRMInvalidHeaderSizeError(f"It must be from 16 KB to 128 MB, but got {header_size}.")
        self._header_bytes = header_size

    def set_page_size(self, page_size: int) -> None:
        """Set the size of a page, at least that of the greatest row: 32 MB, or from 32 KB to 256 MB.

        Raises:
            MRMInvalidPageSizeError: if it is out of range, or no multiple of 4.
        """
        if not MIN_PAGE_BYTES <= page_size <= MAX_PAGE_BYTES or page_size % 4:
            raise MRMInvalidPageSizeError(f"It must be from 32 KB to 256 MB, but got {page_size}.")
        self._page_bytes = page_size

    def commit(self, index: bool = True) -> None:
        """Complete the files, and write their index files.

        Args:
            index: leave the index files to whoever asks for them, if False.

        Raises:
            MRMCommitError: if the head is too small for the list of pages.
        """
        for file in self._opened():
            file.commit()
        for path in self._paths:
            if index:
                write_index(path)
            for made in (path, path + SUFFIX) if index else (path,):
                os.chmod(made, 0o600)
                if encryption.enabled():
                    encryption.encrypt(made)
        self._committed = True
        self._files = None if not self._appends else self._files
