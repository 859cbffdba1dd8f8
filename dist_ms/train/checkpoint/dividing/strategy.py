"""Strategy files of MindSpore's parallel compiler: how the devices of a job divide each parameter."""

from __future__ import annotations

import dataclasses
import functools
import math
import os
from typing import Any

_LARGEST_FILE = 1 << 28
_MOST_DEVICES = 1 << 20


@dataclasses.dataclass(frozen=True)
class Division:
    """How devices divide one parameter.

    Attributes:
        devices: the devices as an array of this shape; the last index changes fastest from rank to rank.
        axes: for each dimension of the parameter the axis of `devices` that divides it, counted from the last;
            -1: none.
        step, size: the first dimension is divided once more, among `size` ranks that are `step` apart.
    """

    devices: tuple[int, ...]
    axes: tuple[int, ...]
    step: int = 0
    size: int = 1

    @property
    def ranks(self) -> int:
        """How many devices there are."""
        return math.prod(self.devices)

    def _parts(self, dimensions: int) -> tuple[int, ...]:
        parts = [1] * dimensions
        for d, axis in enumerate(self.axes[:dimensions]):
            parts[d] = self.devices[-1 - axis] if axis >= 0 else 1
        if self.size > 1 and dimensions:
            parts[0] *= self.size
        return tuple(parts)

    def whole(self, part: tuple[int, ...]) -> tuple[int, ...]:
        """The parameter's shape, from that of a rank's part."""
        return tuple(n * parts for n, parts in zip(part, self._parts(len(part)), strict=True))

    def place(self, rank: int, whole: tuple[int, ...]) -> tuple[slice, ...]:
        """Which part of the parameter a rank has.

        Raises:
            ValueError: if a dimension cannot be divided so.
        """
        found = []
        for d, (n, parts) in enumerate(zip(whole, self._parts(len(whole)), strict=True)):
            axis, number = self.axes[d] if d < len(self.axes) else -1, 0
            if axis >= 0:
                number = rank // math.prod(self.devices[len(self.devices) - axis :]) % self.devices[-1 - axis]
            if d == 0 and self.size > 1:
                number = number * self.size + rank // self.step % self.size
            if n % parts:
                raise ValueError(f"its dimension {d} of length {n} cannot be divided into {parts} equal parts")
            found.append(slice(number * (n // parts), (number + 1) * (n // parts)))
        return tuple(found)


class Strategy(dict[str, Division]):
    """How the devices of a stage divide each parameter, by its name.

    Attributes:
        stage: of the pipeline.
    """

    stage = 0


def read_strategy(path: Any, name: str, owner: str) -> Strategy | None:
    """Return the divisions by the parameters' names that a strategy file states; None for None: nothing is divided.

    Raises:
        TypeError: if `path` is neither a str nor None.
        ValueError: if there is no such file, it is none of strategies, or states what is not supported.
    """
    if path is None:
        return None
    if not isinstance(path, str):
        raise TypeError(f"For '{owner}', '{name}' must be a str or None, but got {type(path).__name__}.")
    if not os.path.isfile(path):
        raise ValueError(f"For '{owner}', '{name}' must be an existing strategy file, but got '{path}'.")
    if os.path.getsize(path) > _LARGEST_FILE:
        raise ValueError(f"For '{owner}', '{name}' must have at most {_LARGEST_FILE} bytes: {path}.")
    from google.protobuf.message import DecodeError

    message = _message_class()()
    try:
        with open(path, "rb") as file:
            message.ParseFromString(file.read())
        stages = {item.parallel_strategys.stage for item in message.parallel_strategy_item}
        if len(stages) > 1:
            raise ValueError("it has several stages of a pipeline, which dist_ms does not put together")
        found = Strategy({item.param_name: _division(item) for item in message.parallel_layout_item})
        found.stage = max(stages, default=0)
        if not found or len({division.ranks for division in found.values()}) != 1:
            raise ValueError("it does not state one number of devices for all parameters")
    except (DecodeError, UnicodeDecodeError) as error:
        raise ValueError(
            f"For '{owner}', '{name}' must be a strategy file in protobuf's form, but {path} is none: {error}."
        ) from None
    except ValueError as error:
        raise ValueError(f"For '{owner}', '{name}' cannot be used: {path}: {error}.") from None
    return found


def _division(item: Any) -> Division:
    name, layout = item.param_name, item.parallel_layouts
    devices = tuple(layout.dev_matrix[0].dim) if layout.dev_matrix else ()
    axes = tuple(layout.tensor_map[0].dim) if layout.tensor_map else ()
    if not devices or not 0 < math.prod(devices) <= _MOST_DEVICES:
        raise ValueError(f"'{name}' has no array of devices")
    if any(not -1 <= axis < len(devices) for axis in axes):
        raise ValueError(f"'{name}' is divided along axes {axes} of {len(devices)}")
    if layout.field > 0 or any(len(d.dim) for d in [*layout.param_split_shape, *layout.indices_offset]):
        raise ValueError(f"'{name}' is divided into unequal parts")
    size, step = layout.opt_weight_shard_size, layout.opt_weight_shard_step
    if size > 1 and (step < 1 or size * step > math.prod(devices)):
        raise ValueError(f"'{name}' is divided among {size} ranks {step} apart, of {math.prod(devices)}")
    return Division(devices, axes, step, max(size, 1))


# Messages as {name: [(field's name, number, type, repeated)]}, of the fields that are read.
_MESSAGES: dict[str, list[tuple[str, int, str, bool]]] = {
    "Unsigned": [("dim", 1, "UINT32", True)],
    "Signed": [("dim", 1, "INT32", True)],
    "Long": [("dim", 1, "INT64", True)],
    "Stage": [("stage", 1, "UINT32", False)],
    "Strategy": [("parallel_strategys", 2, "Stage", False)],
    "Layouts": [
        ("dev_matrix", 1, "Unsigned", True),
        ("tensor_map", 2, "Signed", True),
        ("param_split_shape", 3, "Long", True),
        ("indices_offset", 4, "Long", True),
        ("field", 5, "INT32", False),
        ("opt_weight_shard_step", 6, "INT32", False),
        ("opt_weight_shard_size", 7, "INT32", False),
    ],
    "Layout": [("param_name", 1, "STRING", False), ("parallel_layouts", 2, "Layouts", False)],
    "Map": [("parallel_strategy_item", 2, "Strategy", True), ("parallel_layout_item", 3, "Layout", True)],
}


@functools.cache
def _message_class() -> Any:
    """The message class, from the format's field numbers, in a descriptor pool of its own."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="dist_ms/strategy.proto", package="strategy", syntax="proto2")
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for name, number, kind, repeated in fields:
            added = described.field.add(name=name, number=number)
            added.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
            added.type = field.TYPE_MESSAGE if kind in _MESSAGES else getattr(field, f"TYPE_{kind}")
            if kind in _MESSAGES:
                added.type_name = f".strategy.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("strategy.Map"))
