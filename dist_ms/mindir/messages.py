"""MINDIR's protobuf messages, as far as networks of layers need them: the names and numbers of their fields."""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["ATTRIBUTE", "FUNCTION", "PRIMITIVE", "is_model", "message", "parsed"]

# Each message's fields: name, number, type, and whether there may be several.
_FIELDS = {
    "Tensor": "dims 1 int64 *, data_type 2 int32, name 7 string, raw_data 9 bytes, "
    "external_data 12 External, ref_key 13 string, compression_type 16 int32",
    "External": "location 1 string, offset 2 int64, length 3 int64",
    "Sequence": "is_dyn_len 1 bool",
    "Attribute": "name 1 string, f 2 float, i 3 int64, d 4 double, s 5 bytes, t 6 Tensor, floats 8 float *, "
    "doubles 9 double *, ints 10 int64 *, strings 11 bytes *, tensors 12 Tensor *, type 16 int32, "
    "values 17 Attribute *, seq_info 18 Sequence",
    "Value": "name 1 string, tensor 2 Tensor *, denotation 4 string, attr_info 5 Attribute",
    "Node": "input 1 string *, output 2 string *, name 3 string, op_type 4 string, attribute 5 Attribute *, "
    "domain 7 string",
    "Graph": "node 1 Node *, name 2 string, parameter 3 Tensor *, input 5 Value *, output 6 Value *, "
    "map_parameter 10 bytes *",
    "Primitive": "name 1 string, op_type 2 string, attribute 3 Attribute *, instance_name 4 string, prim_type 5 int32",
    "Model": "ir_version 1 string, producer_name 2 string, producer_version 3 string, model_version 5 string, "
    "graph 7 Graph, functions 8 Graph *, little_endian 10 bool, primitives 12 Primitive *, mind_ir_version 13 int64, "
    "user_info 14 Model.UserInfoEntry *",
    "Model.UserInfoEntry": "key 1 string, value 2 string",
}

# The kinds of an attribute's value.
ATTRIBUTE = {
    "float": 1,
    "int32": 6,
    "int64": 7,
    "string": 8,
    "bool": 9,
    "double": 11,
    "tensor": 17,
    "tensors": 19,
    "tuple": 20,
    "list": 21,
    "memory": 23,  # what orders reads and writes of memory
    "io": 24,
    "none": 25,
}

PRIMITIVE, FUNCTION = 1, 2  # a primitive's settings are its attributes, or its last inputs


@functools.cache
def _classes() -> dict[str, type]:
    """The message classes, in a descriptor pool of their own, as MindSpore's or ONNX's may be in the same process."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="dist_ms/mindir.proto", package="dist_ms.mindir", syntax="proto2")
    for name, fields in _FIELDS.items():
        # A table of texts is an entry's message within its owner.
        nested = "." in name
        made = (file.message_type[-1].nested_type if nested else file.message_type).add(name=name.rpartition(".")[2])
        made.options.map_entry = nested
        for told in fields.split(", "):
            called, number, kind, *several = told.split()
            entry = made.field.add(name=called, number=int(number))
            entry.label = field.LABEL_REPEATED if several else field.LABEL_OPTIONAL
            if kind in _FIELDS:
                entry.type, entry.type_name = field.TYPE_MESSAGE, f".dist_ms.mindir.{kind}"
            else:
                entry.type = getattr(field, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = {name: pool.FindMessageTypeByName(f"dist_ms.mindir.{name}") for name in _FIELDS}
    return {name: message_factory.GetMessageClass(descriptor) for name, descriptor in found.items()}


def message(name: str, /, **fields: Any) -> Any:
    """A new message of this name."""
    return _classes()[name](**fields)


def is_model(value: Any) -> bool:
    """Whether a value is a model's message."""
    return isinstance(value, _classes()["Model"])


def parsed(content: bytes) -> Any:
    """The model in a file's bytes.

    Raises:
        ValueError: if they are no such message.
    """
    from google.protobuf.message import DecodeError

    model = message("Model")
    try:
        model.ParseFromString(content)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    _check_texts(model)
    return model


def _check_texts(told: Any) -> None:
    """Refuse texts that are not UTF-8, which protobuf gives as bytes.

    Raises:
        ValueError: if there is one.
    """
    for field, value in told.ListFields():
        if field.type == field.TYPE_STRING:
            if isinstance(value, bytes) or (not isinstance(value, str) and any(isinstance(v, bytes) for v in value)):
                raise ValueError(f"its {field.name} is no text")
        elif field.type == field.TYPE_MESSAGE and not field.message_type.GetOptions().map_entry:
            for part in [value] if hasattr(value, "ListFields") else value:
                _check_texts(part)
