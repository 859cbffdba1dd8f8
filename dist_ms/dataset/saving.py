"""Writing a pipeline's rows to files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string, complaint
from dist_ms.dataset.dataset import Dataset, Row
from dist_ms.dataset.execution.results import results
from dist_ms.mindrecord import FileWriter

_TYPES = {
    "float64": "float64", "float32": "float32", "int64": "int64", "int32": "int32",
    "int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "bool": "int32",
    "uint32": "int64", "uint64": "int64",
    "float16": "float32",
}  # fmt: skip
_AT_ONCE = 256  # rows that are written together


def save_rows(dataset: Dataset, file_name: str, num_files: int, file_type: str) -> None:
    """Write the rows of an epoch into MindRecord files (see `Dataset.save`)."""
    check_string(file_name, "file_name", "save")
    if isinstance(num_files, bool) or not isinstance(num_files, int) or not 1 <= num_files <= 1000:
        raise ValueError(complaint("num_files", "save", "an int from 1 to 1000", num_files))
    if file_type != "mindrecord":
        raise ValueError(complaint("file_type", "save", "'mindrecord'", repr(file_type)))
    digits = len(str(num_files - 1))
    names = [file_name] if num_files == 1 else [f"{file_name}{k:0{digits}}" for k in range(num_files)]
    for name in names:
        if os.path.exists(name):
            raise RuntimeError(f"For 'save', the file {name!r} must not exist yet: remove it, or choose another name.")
    writer = FileWriter(file_name, num_files)
    waiting: list[dict] = []
    schema: dict[str, dict] = {}
    for row in results(dataset, dataset.keys(0)):
        if not schema:
            schema = _schema(dataset.columns, row)
            writer.add_schema(schema, "rows of a pipeline")
        waiting.append({name: _value(name, v, schema[name]) for name, v in zip(dataset.columns, row)})
        if len(waiting) == _AT_ONCE:
            writer.write_raw_data(waiting)
            waiting = []
    if waiting:
        writer.write_raw_data(waiting)
    if not schema:
        raise RuntimeError("For 'save', the pipeline must have rows, but it has none.")
    writer.commit()


def _schema(columns: list[str], row: Row) -> dict[str, dict]:
    """The fields of a file for a row's columns."""
    fields: dict[str, dict[str, Any]] = {}
    for name, value in zip(columns, row):
        if isinstance(value, dict):
            raise TypeError(complaint(name, "save", "a column of numbers, text or bytes", "dicts"))
        if value.dtype.kind in "US" and value.ndim == 0:
            fields[name] = {"type": "string" if value.dtype.kind == "U" else "bytes"}
        elif value.dtype.name in _TYPES:
            fields[name] = {"type": _TYPES[value.dtype.name]}
            if value.ndim:
                # A file's first axis may have any length; the others are the first row's.
                fields[name]["shape"] = [-1, *value.shape[1:]]
        else:
            wanted = "of numbers up to 64 bits, text or bytes"
            raise TypeError(complaint(name, "save", wanted, f"{value.dtype} {value.shape}"))
    return fields


def _value(name: str, value: np.ndarray, field: dict) -> Any:
    """A row's entry as the writer takes it."""
    if value.dtype == np.uint64 and value.size and int(value.max()) >= 2**63:
        raise ValueError(complaint(name, "save", "below 2**63, as files have signed numbers", int(value.max())))
    if field["type"] == "string":
        return str(value)
    if field["type"] == "bytes":
        return bytes(value)
    if "shape" in field:
        return value.astype(field["type"], copy=False)
    return value.astype(field["type"]).item()
