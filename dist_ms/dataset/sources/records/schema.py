"""Schema: the columns of TFRecord files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string, check_type, complaint
from dist_ms.common.dtype import Type, to_numpy

__all__ = ["Schema"]

_NUMBERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
_TYPES = (*_NUMBERS, "string", "bytes")


class Schema:
    """The columns of a dataset: their names, types and shapes.

    Args:
        schema_file: a JSON file with "columns", and perhaps "datasetType" and "numRows".

    Raises:
        ValueError: if there is no such file.
        RuntimeError: if it holds no schema.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> schema = ds.Schema()
        >>> schema.add_column("label", "int64", [])
        >>> import json
        >>> json.loads(schema.to_json())
        {'columns': [{'name': 'label', 'rank': 0, 'shape': [], 'type': 'int64'}]}
    """

    def __init__(self, schema_file: str | None = None) -> None:
        self.columns: list[dict] = []
        self.dataset_type: str | None = None
        self.num_rows: int | None = None
        if schema_file:
            check_string(schema_file, "schema_file", "Schema")
            if not os.path.isfile(schema_file):
                raise ValueError(f"For 'Schema', the file {schema_file} does not exist.")
            with open(schema_file, encoding="utf-8") as file:
                try:
                    content = json.load(file)
                except ValueError as error:
                    raise RuntimeError(f"For 'Schema', {schema_file} is no JSON: {error}.") from None
            self.from_json(content)

    def add_column(self, name: str, de_type: Any, shape: list[int] | None = None) -> None:
        """Add a column.

        Args:
            name: its name.
            de_type: its type: a dtype of dist_ms, or its name; "string" for text.
            shape: its shape, where one -1 stands for any length; any length of one dimension by default.

        Raises:
            TypeError: if the type is unknown.
        """
        check_string(name, "name", "add_column")
        if isinstance(de_type, Type):
            de_type = "string" if str(de_type).lower() == "string" else to_numpy(de_type).name
        if not isinstance(de_type, str) or de_type not in _TYPES:
            raise TypeError(complaint("de_type", "add_column", f"one of {list(_TYPES)}", repr(de_type)))
        column: dict[str, Any] = {"name": name, "rank": 1}
        if shape is not None:
            check_type(shape, "shape", "add_column", list)
            column |= {"rank": len(shape), "shape": [int(n) for n in shape]}
        self.columns.append(column | {"type": de_type})

    def parse_columns(self, columns: Mapping[str, dict] | Sequence[dict]) -> None:
        """Set the columns.

        Args:
            columns: for each a dict with "name", "type" and perhaps "shape" and "rank"; or a dict of them by name.

        Raises:
            RuntimeError: if a name or type is missing, or there is no column.
        """
        entries = columns
        if isinstance(columns, Mapping):
            entries = [{"name": name, **columns[name]} for name in sorted(columns)]
        if not entries:
            raise RuntimeError(complaint("columns", "parse_columns", "one or more columns", columns))
        self.columns = []
        for entry in entries:
            for key in ("type", "name"):
                if key not in entry:
                    raise RuntimeError(f"For 'parse_columns', a column's {key!r} is missing in {entry!r}.")
            shape = entry.get("shape", [-1] * entry["rank"] if entry.get("rank", 0) > 1 else [])
            self.add_column(entry["name"], entry["type"], list(shape))
            self.columns[-1]["open"] = "shape" not in entry

    def from_json(self, json_obj: dict) -> None:
        """Take over what a schema's JSON holds.

        Raises:
            RuntimeError: if the columns are missing, or something is unknown.
        """
        check_type(json_obj, "json_obj", "from_json", dict)
        unknown = json_obj.keys() - {"columns", "datasetType", "numRows"}
        if unknown:
            raise RuntimeError(f"For 'from_json', {sorted(unknown)[0]!r} is unknown in a schema.")
        if "columns" not in json_obj:
            raise RuntimeError("For 'from_json', 'columns' is missing in the schema.")
        self.parse_columns(json_obj["columns"])
        self.dataset_type, self.num_rows = json_obj.get("datasetType"), json_obj.get("numRows")

    def to_json(self) -> str:
        """The schema as JSON."""
        columns = [{k: v for k, v in sorted(column.items()) if k != "open"} for column in self.columns]
        content: dict[str, Any] = {"columns": columns}
        if self.dataset_type:
            content["datasetType"] = self.dataset_type
        if self.num_rows:
            content["numRows"] = self.num_rows
        return json.dumps(content, indent=2)

    def __str__(self) -> str:
        return self.to_json()

    @staticmethod
    def get_num_rows(schema: Schema | str) -> int:
        """How many rows a schema, or the file of one, names; 0 for none."""
        return (schema if isinstance(schema, Schema) else Schema(schema)).num_rows or 0


def shaped(values: Any, column: dict, place: str) -> np.ndarray:
    """Values of a feature as a column has them.

    Raises:
        RuntimeError: if they do not fit its shape.
    """
    kind = column["type"]
    if isinstance(values, list):  # of bytes
        if kind in _NUMBERS:
            array = np.frombuffer(b"".join(values), np.uint8).astype(kind, copy=False)
        elif kind == "bytes":
            array = np.array(values)
        else:
            array = np.array([value.decode() for value in values])
    else:
        array = values.astype(kind, copy=False)
    if "shape" not in column or column.get("open"):
        return array
    try:
        return array.reshape(column["shape"])
    except ValueError:
        raise RuntimeError(
            f"For 'TFRecordDataset', {place}: column {column['name']!r} has {array.size} values, which do not fit the "
            f"shape {column['shape']} of the schema."
        ) from None
