"""ShardHeader: the schema and the index fields of files to write, or of files that are read."""

from __future__ import annotations

from dist_ms.common.checks import check_type
from dist_ms.mindrecord.exceptions import MRMDefineIndexError, MRMGetMetaError, ParamTypeError
from dist_ms.mindrecord.schema import Schema, check_schema
from dist_ms.mindrecord.status import SUCCESS, MSRStatus

__all__ = ["ShardHeader"]


class ShardHeader:
    """What the head of MindRecord files says of their rows.

    Args:
        header: of files that are read; None to build one.

    Examples:
        >>> from dist_ms.mindrecord.core.shardheader import ShardHeader
        >>> header = ShardHeader()
        >>> header.add_schema(header.build_schema({"label": {"type": "int32"}, "data": {"type": "bytes"}}))
        0
        >>> header.blob_fields
        ['data']
    """

    def __init__(self, header: ShardHeader | None = None) -> None:
        self._schema: Schema | None = None if header is None else header._schema
        self.index_fields: list[str] = [] if header is None else list(header.index_fields)

    @classmethod
    def of(cls, schema: Schema, index_fields: list[str]) -> ShardHeader:
        """Return the header of files with this schema.

        Args:
            schema: theirs.
            index_fields: theirs.
        """
        made = cls()
        made._schema, made.index_fields = schema, list(index_fields)
        return made

    @property
    def header(self) -> ShardHeader:
        """The header itself."""
        return self

    @property
    def described(self) -> Schema:
        """The schema, with its description.

        Raises:
            MRMGetMetaError: if there is none yet.
        """
        if self._schema is None:
            raise MRMGetMetaError
        return self._schema

    @property
    def schema(self) -> dict:
        """The fields."""
        return self.described.fields

    @property
    def blob_fields(self) -> list[str]:
        """The fields of bytes and arrays."""
        return self.described.blob_fields

    def build_schema(self, content: dict, desc: str | None = None) -> Schema:
        """Return a schema.

        Args:
            content: the fields, as for `FileWriter.add_schema`.
            desc: a description.

        Raises:
            MRMInvalidSchemaError: if it is wrong.
        """
        return Schema(check_schema(content), desc or "")

    def add_schema(self, schema: Schema) -> int:
        """Take a schema, and return its number: 0, as files have one.

        Args:
            schema: what `build_schema` returned.
        """
        self._schema = check_type(schema, "schema", "ShardHeader.add_schema", Schema)
        return 0

    def add_index_fields(self, index_fields: list[str]) -> MSRStatus:
        """Choose the fields that the index file holds.

        Args:
            index_fields: names of numbers or text.

        Raises:
            ParamTypeError: if it is no list.
            MRMDefineIndexError: if a field is bytes or an array, or is not in the schema.
        """
        if not isinstance(index_fields, list):
            raise ParamTypeError("index_fields", "list")
        for name in index_fields:
            if name not in self.described.raw_fields:
                raise MRMDefineIndexError(f"Field {name!r} must be a number or text of the schema.")
        self.index_fields += [name for name in index_fields if name not in self.index_fields]
        return SUCCESS
