"""What a MindRecord file says of its rows: the fields, their types and shapes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dist_ms.mindrecord.exceptions import MRMInvalidSchemaError, MRMUnsupportedSchemaError
from dist_ms.mindrecord.narrow_integers import narrowed, widened

NUMBERS = ("int32", "int64", "float32", "float64")
# The types of a field that a value of a Python or NumPy type may have.
_FIELDS_OF = {
    "int": ("int32", "int64"),
    "float": ("float32", "float64"),
    "str": ("string",),
    "bytes": ("bytes",),
    **{name: (name,) for name in NUMBERS},
}
_LENGTH_BYTES = 8


def check_schema(content: Any) -> dict:
    """Check what a user says of the fields.

    Raises:
        MRMInvalidSchemaError: if a name, type or shape is wrong.
    """
    if not content or not isinstance(content, dict):
        raise MRMInvalidSchemaError(f"'content' must be a dict of one or more fields, but got {content!r}.")
    for name, field in content.items():
        if not isinstance(name, str) or not re.fullmatch(r"[a-zA-Z_][0-9a-zA-Z_]*", name):
            wanted = "consist of 0-9, a-z, A-Z and _, and begin with no digit"
            raise MRMInvalidSchemaError(f"A field's name must {wanted}, but got {name!r}.")
        if not isinstance(field, dict) or "type" not in field or field.keys() - {"type", "shape"}:
            raise MRMInvalidSchemaError(f"Field {name!r} must be a dict with 'type' and perhaps 'shape': {field!r}.")
        types = NUMBERS if "shape" in field else (*NUMBERS, "string", "bytes")
        if field["type"] not in types:
            raise MRMInvalidSchemaError(
                f"Field {name!r}: 'type' must be one of {list(types)}, but got {field['type']!r}."
            )
        if "shape" in field and not isinstance(field["shape"], list):
            raise MRMInvalidSchemaError(f"Field {name!r}: 'shape' must be a list, but got {field['shape']!r}.")
    return content


class Schema:
    """The fields of a file.

    Args:
        fields: a name's type and, of an array, shape.
        description: what the user calls it.

    Attributes:
        blob_fields: bytes and arrays, in the order in which a row's blob has them.
        raw_fields: numbers and text.
    """

    def __init__(self, fields: Mapping[str, dict], description: str = "") -> None:
        self.fields = {name: dict(fields[name]) for name in sorted(fields)}
        self.description = description
        self.blob_fields = [n for n, f in self.fields.items() if f["type"] == "bytes" or "shape" in f]
        self.raw_fields = [n for n in self.fields if n not in self.blob_fields]

    @property
    def meta(self) -> dict:
        """The header's entry."""
        return {"blob_fields": self.blob_fields, "desc": self.description, "schema": self.fields}

    def fault(self, row: Mapping[str, Any]) -> str | None:
        """Why a row does not fit; None if it does."""
        for name, field in self.fields.items():
            if name not in row:
                return f"it has no field {name!r}"
            value = row[name]
            if isinstance(value, np.ndarray):
                wrong = self._array_fault(value, field)
            elif "shape" in field:
                wrong = f"it must be an array, but is a {type(value).__name__}"
            else:
                fits = field["type"] in _FIELDS_OF.get(type(value).__name__, ())
                wrong = None if fits else f"a {type(value).__name__} is no {field['type']}"
                if fits and field["type"] in ("int32", "int64"):
                    limits = np.iinfo(field["type"])
                    wrong = None if limits.min <= value <= limits.max else f"{value} is no {field['type']}"
            if wrong:
                return f"field {name!r}: {wrong}"
        return None

    @staticmethod
    def _array_fault(value: np.ndarray, field: dict) -> str | None:
        if "shape" not in field:
            return f"an array is no {field['type']}"
        if value.dtype != field["type"]:
            return f"an array of {value.dtype} is none of {field['type']}"
        try:
            value.reshape(field["shape"])
        except ValueError:
            return f"an array of shape {value.shape} does not fit {field['shape']}"
        return None

    def blob(self, row: Mapping[str, Any]) -> bytes:
        """A row's bytes and arrays as they are stored."""
        parts = [self.stored(row[name]) for name in self.blob_fields]
        if len(parts) == 1:
            return parts[0]
        return b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in parts)

    def stored(self, value: Any) -> bytes:
        """Bytes or an array as they are stored."""
        if not isinstance(value, np.ndarray):
            return value
        return narrowed(value) if value.dtype.kind == "i" else value.tobytes()

    def raw(self, row: Mapping[str, Any]) -> dict:
        """A row's numbers and text, as Python's."""
        return {n: row[n].item() if isinstance(row[n], np.generic) else row[n] for n in self.raw_fields}

    def parts(self, blob: bytes, names: Sequence[str]) -> dict[str, memoryview]:
        """The stored bytes of some of the blob's fields.

        Raises:
            ValueError: if the lengths in the blob contradict its length.
        """
        view = memoryview(blob)
        if len(self.blob_fields) == 1:
            return dict.fromkeys(names, view)
        found, at = {}, 0
        for name in self.blob_fields:
            start = at + _LENGTH_BYTES
            at = start + int.from_bytes(view[at:start], "big")
            if at > len(view):
                raise ValueError(f"field {name!r} ends at byte {at} of {len(view)}")
            if name in names:
                found[name] = view[start:at]
        return found

    def array(self, name: str, stored: memoryview) -> np.ndarray:
        """The array that a field's bytes hold.

        Raises:
            MRMUnsupportedSchemaError: if they do not fit the field's shape.
            ValueError: if they hold no array.
        """
        field = self.fields[name]
        if field["type"].startswith("int"):
            flat = widened(stored, field["type"])
        else:
            flat = np.frombuffer(stored, field["type"])
        if len(flat) == 0 and -1 in field["shape"]:
            return flat.reshape([0 if n == -1 else n for n in field["shape"]])
        try:
            return flat.reshape(field["shape"])
        except ValueError:
            raise MRMUnsupportedSchemaError(
                f"Field {name!r} has {len(flat)} values, which do not fit the shape {field['shape']}."
            ) from None
