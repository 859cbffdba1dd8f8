"""TFRecordToMR: TensorFlow's files of records into MindRecord files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.mindrecord.converters.rows import write
from dist_ms.mindrecord.names import check_filename
from dist_ms.mindrecord.tfrecord import RecordFile, features
from dist_ms.mindrecord.writer import FileWriter

__all__ = ["TFRecordToMR"]

_FIELDS = {
    "string": "string",
    **dict.fromkeys(("bool", "int8", "int16", "int32", "uint8", "uint16"), "int32"),
    **dict.fromkeys(("int64", "uint32", "uint64"), "int64"),
    **dict.fromkeys(("float16", "float32"), "float32"),
    "float64": "float64",
}


class TFRecordToMR:
    """A TFRecord file into a MindRecord file. TensorFlow is not needed to read it.

    Args:
        source: the TFRecord file.
        destination: the file to write.
        feature_dict: for each feature its `tf.io.FixedLenFeature`, or another object with `shape`, [] or [n], and
            `dtype`, TensorFlow's or its name.
        bytes_fields: the features of text that are bytes.

    Raises:
        ValueError: if an argument is wrong.

    Examples:
        >>> from types import SimpleNamespace
        >>> from dist_ms.mindrecord import TFRecordToMR
        >>> features = {"label": SimpleNamespace(shape=[], dtype="int64")}
        >>> TFRecordToMR("rows.tfrecord", "rows.mindrecord", features).transform()  # doctest: +SKIP
    """

    def __init__(
        self, source: str, destination: str, feature_dict: dict[str, Any], bytes_fields: list[str] | None = None
    ) -> None:
        for name, value in (("source", source), ("destination", destination)):
            if not isinstance(value, str):
                raise ValueError(f"For 'TFRecordToMR', '{name}' must be a str, but got {value!r}.")
            check_filename(value, name)
        if not isinstance(feature_dict, dict) or not feature_dict:
            raise ValueError(
                f"For 'TFRecordToMR', 'feature_dict' must be a dict of features, but got {feature_dict!r}."
            )
        if bytes_fields is not None and not isinstance(bytes_fields, list):
            raise ValueError(f"For 'TFRecordToMR', 'bytes_fields' must be a list of str, but got {bytes_fields!r}.")
        self.source, self.destination, self.feature_dict = source, destination, feature_dict
        self.mindrecord_schema: dict[str, dict] = {}
        for name, feature in feature_dict.items():
            self.mindrecord_schema[_field_name(name)] = _field(name, feature, name in (bytes_fields or ()))
        for name in bytes_fields or ():
            if name not in feature_dict or _kind(feature_dict[name]) != "string":
                wanted = "names of features of type string"
                raise ValueError(f"For 'TFRecordToMR', 'bytes_fields' must be {wanted}, but got {name!r}.")

    def tfrecord_iterator(self) -> Iterator[dict]:
        """The file's examples as rows.

        Raises:
            ValueError: if an example does not fit `feature_dict`.
        """
        file = RecordFile(self.source)
        for number in range(len(file)):
            place = f"{self.source}, record {number}"
            found = features(file.record(number), place)
            yield {_field_name(name): self._value(name, found, place) for name in self.feature_dict}

    def _value(self, name: str, found: dict, place: str) -> Any:
        values = found.get(name)
        feature, field = self.feature_dict[name], self.mindrecord_schema[_field_name(name)]
        if values is None:
            default = getattr(feature, "default_value", None)
            if default is None:
                raise ValueError(f"For 'TFRecordToMR', {place} has no feature {name!r}.")
            values = [default.encode()] if isinstance(default, str) else np.atleast_1d(default)
        wanted = feature.shape[0] if "shape" in field else 1
        if len(values) != wanted or isinstance(values, list) != (field["type"] in ("string", "bytes")):
            raise ValueError(
                f"For 'TFRecordToMR', {place}: feature {name!r} must have {wanted} values of {_kind(feature)}, but has "
                f"{len(values)}."
            )
        if "shape" in field:
            return np.asarray(values, field["type"])
        if isinstance(values, list):
            return values[0] if field["type"] == "bytes" else values[0].decode()
        return int(values[0]) if field["type"].startswith("int") else float(values[0])

    def run(self) -> None:
        """Write the file; `transform` does the same."""
        writer = FileWriter(self.destination)
        write(writer, self.mindrecord_schema, "TFRecord to MindRecord", None, self.tfrecord_iterator(), in_turn=True)

    def transform(self) -> None:
        """Write the file.

        Raises:
            ValueError: if an example does not fit `feature_dict`.
            RuntimeError: if the file is damaged.
        """
        self.run()


def _field_name(name: str) -> str:
    """A feature's name as a field has it."""
    return re.sub(r"[^0-9a-zA-Z_]", "_", name)


def _kind(feature: Any) -> str:
    """The name of a feature's type."""
    kind = feature.dtype
    return kind if isinstance(kind, str) else getattr(kind, "name", None) or np.dtype(kind).name


def _field(name: str, feature: Any, is_bytes: bool) -> dict:
    """The field of a feature.

    Raises:
        ValueError: if there is none for it.
    """
    if not hasattr(feature, "shape") or not hasattr(feature, "dtype"):
        raise ValueError(f"For 'TFRecordToMR', 'feature_dict' must hold FixedLenFeature, but got {feature!r}.")
    kind = _FIELDS.get(_kind(feature))
    shape = list(feature.shape)
    if kind is None or (shape and (kind == "string" or len(shape) != 1 or not isinstance(shape[0], int))):
        raise ValueError(
            f"For 'TFRecordToMR', feature {name!r} must be a number, text or a list of numbers, but its shape is "
            f"{shape} and its type {_kind(feature)}."
        )
    if shape:
        return {"type": kind, "shape": shape}
    return {"type": "bytes" if is_bytes else kind}
