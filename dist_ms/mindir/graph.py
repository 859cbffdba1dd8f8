"""A graph of MINDIR while it is made: its nodes, constants and primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying, Wire
from dist_ms.exporting.graph import NamedTensors, Unsupported
from dist_ms.mindir.messages import FUNCTION, PRIMITIVE, message
from dist_ms.mindir.values import attribute, element_type, tensor, type_number

__all__ = ["Graph"]


class Graph(NamedTensors):
    """The nodes of a graph, in order.

    An input of a node is the name of a tensor, a Wire, or a value that becomes a constant; a text is a name.

    Args:
        title: the graph's name.
    """

    form = "MINDIR"

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.model = message("Model", ir_version="1.1", producer_name="dist_ms", model_version="2.10.0")
        self.model.little_endian, self.model.mind_ir_version = True, 3
        self.model.graph.name = title
        self._constants: dict[Any, str] = {}
        self._primitives: dict[bytes, str] = {}

    def own(self, name: str) -> str:
        """A name of this graph, as parameters and results of nodes have one."""
        return f"{self.title}:{name}"

    # ---- values
    def operand(self, x: Any, dtype: Any) -> str:
        """The name of a tensor in this type, or of a plain number as a tensor of it."""
        if isinstance(x, Wire):
            return self.name(x) if x.dtype == dtype else self.cast(self.name(x), dtype)
        return self.constant(np.asarray(_settled(x), dtype))

    def cast(self, name: str, dtype: Any) -> str:
        """A tensor in another type."""
        return self.function("Cast", name, type_number(dtype))

    def constant(self, value: Any) -> str:
        """The name of a constant; equal ones are one."""
        made = attribute(_settled(value), "value")
        key = made.SerializeToString(deterministic=True)
        if key not in self._constants:
            name = f"ValueNode_{len(self._constants)}"
            self._constants[key] = name
            self.model.graph.node.add(output=[name], name=name, op_type="Constant").attribute.append(made)
        return self._constants[key]

    # ---- nodes
    def function(self, kind: str, *inputs: Any) -> str:
        """Add a node whose settings are among its inputs, and return its result's name."""
        return self._node(message("Primitive", op_type=kind, prim_type=FUNCTION), inputs)

    def primitive(self, kind: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node of a primitive with attributes, and return its result's name."""
        made = message("Primitive", op_type=kind, prim_type=PRIMITIVE)
        made.attribute.extend([attribute(_settled(v), k) for k, v in attributes.items()])
        return self._node(made, inputs)

    def item(self, name: str, index: int) -> str:
        """One of the results of a node with several."""
        return self.primitive("TupleGetItem", name, index)

    def tuple(self, inputs: Any) -> str:
        """Several tensors as one value."""
        return self.primitive("MakeTuple", *inputs)

    def _node(self, primitive: Any, inputs: tuple) -> str:
        given = [x if isinstance(x, str) else self.name(x) if isinstance(x, Wire) else self.constant(x) for x in inputs]
        key = primitive.SerializeToString(deterministic=True)
        if key not in self._primitives:
            primitive.name = f"{primitive.op_type}:{len(self._primitives)}"
            primitive.instance_name = ""
            self._primitives[key] = primitive.name
            self.model.primitives.append(primitive)
        number = len(self.model.graph.node)
        name = self.own(f"CNode_{number}:{number}")
        self.model.graph.node.add(
            input=given,
            output=[name],
            name=name,
            op_type=f"REF::{self._primitives[key]}",
            domain=f"Default/{primitive.op_type}-op{number}",
        )
        return name

    # ---- ends
    def parameter(self, name: str, array: np.ndarray) -> None:
        """Add a parameter with its value."""
        made = tensor(array, self.own(name))
        made.ref_key = name
        self.model.graph.parameter.append(made)

    def ends(self, field: str, name: str, shape: Any, dtype: np.dtype) -> None:
        """Add an input or an output."""
        getattr(self.model.graph, field).add(name=name).tensor.append(self.form_of(shape, dtype))

    @staticmethod
    def form_of(shape: Any, dtype: np.dtype) -> Any:
        """A tensor without values."""
        return message("Tensor", dims=shape, data_type=element_type(dtype))


def _settled(value: Any) -> Any:
    """A setting, which may not depend on the inputs."""
    if isinstance(value, Varying) or (isinstance(value, (tuple, list)) and any(isinstance(v, Varying) for v in value)):
        raise Unsupported(f"has a setting that depends on the inputs, {value!r}, and the file takes a fixed one")
    return value
