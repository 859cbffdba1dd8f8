"""A graph of ONNX while it is made: its nodes, constants, and lengths that are only known when it runs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying, Wire
from dist_ms.exporting.graph import NamedTensors, Unsupported, merged_array
from dist_ms.onnx.library import onnx

__all__ = ["Graph", "element_type"]


def element_type(dtype: np.dtype) -> int:
    """The number of a NumPy type in ONNX."""
    if dtype.name == "bfloat16":
        return onnx.TensorProto.BFLOAT16
    return onnx.helper.np_dtype_to_tensor_dtype(dtype)


class Graph(NamedTensors):
    """The nodes of a graph, in order.

    Attributes:
        nodes: what `onnx.helper.make_node` made.
        initializers: tensors by name.
        symbols: for each dynamic length its values in the runs, and the input and axis that have it.
    """

    form = "ONNX"

    def __init__(self, symbols: Sequence[tuple[tuple[int, ...], Wire, int]] = ()) -> None:
        super().__init__()
        self.nodes: list = []
        self.initializers: dict[str, Any] = {}
        self.symbols = symbols
        self._constants: dict[tuple, str] = {}
        self._lengths: dict[tuple, str] = {}
        self._count = itertools.count()

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node.

        Args:
            kind: the operator's name.
            inputs: names; "" for one that is left out.
            outputs: how many results it has.
            attributes: the operator's; those that are None are left out.

        Returns:
            The result's name, or a tuple of them if there are several.
        """
        number = next(self._count)
        # No parameter has a slash in its name.
        names = [f"/{kind}_{number}" if outputs == 1 else f"/{kind}_{number}_{i}" for i in range(outputs)]
        given = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(onnx.helper.make_node(kind, list(inputs), names, name=f"/{kind}_{number}", **given))
        return names[0] if outputs == 1 else tuple(names)

    def initializer(self, name: str, array: np.ndarray) -> str:
        """Add a tensor that the file holds."""
        self.initializers[name] = tensor_of(array, name)
        return name

    @staticmethod
    def tensor(array: np.ndarray, name: str) -> Any:
        """An array as ONNX holds it."""
        return tensor_of(array, name)

    def constant(self, value: Any, dtype: Any = None) -> str:
        """The name of a constant; equal ones are one."""
        array = np.asarray(value, dtype)
        key = array.shape, array.dtype.str, array.dtype.name, array.tobytes()
        if key not in self._constants:
            self._constants[key] = self.initializer(f"/constant_{len(self._constants)}", array)
        return self._constants[key]

    # ---- tensors
    def varying(self, x: Wire) -> str:
        """A constant that differs from run to run: of one number everywhere, or of numbers equally far apart."""
        if all(np.array_equal(a, np.broadcast_to(a.flat[0], a.shape)) for a in x.arrays if a.size):
            fill = merged_array([np.asarray(a.flat[0]) for a in x.arrays])
            if isinstance(fill, Varying):
                scalar = self.number(Varying([a.item() for a in fill.values]), x.dtype)
            else:
                scalar = self.constant(fill)
            return scalar if x.ndim == 0 else self.node("Expand", scalar, self.lengths(x.shape))
        steps = arithmetic(x.arrays)
        if steps is None:
            return super().varying(x)
        first, step = steps
        count = self.number(Varying([len(a) for a in x.arrays]), x.dtype)
        end = self.node("Add", self.node("Mul", count, self.constant(step)), self.constant(first))
        return self.node("Range", self.constant(first), end, self.constant(step))

    def operand(self, x: Any, dtype: np.dtype) -> str:
        """The name of a tensor in this type, or of a plain number as a scalar of it."""
        if isinstance(x, Wire):
            return self.name(x) if x.dtype == dtype else self.cast(self.name(x), dtype)
        if isinstance(x, Varying):
            return self.number(x, dtype)
        return self.constant(x, dtype)

    def number(self, x: Varying, dtype: np.dtype) -> str:
        """A scalar that depends on a length."""
        shapeless = self.node("Squeeze", self.length(x), self.constant([0], np.int64))
        return self.cast(shapeless, dtype)

    def cast(self, name: str, dtype: Any) -> str:
        """A tensor in another type."""
        return self.node("Cast", name, to=element_type(np.dtype(dtype)))

    # ---- lengths
    def lengths(self, values: Sequence[Any]) -> str:
        """A 1-D int64 tensor of these numbers, some of which may be Varying."""
        if not any(isinstance(v, Varying) for v in values):
            return self.constant(values, np.int64)
        parts = [self.length(v) if isinstance(v, Varying) else self.constant([v], np.int64) for v in values]
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=0)

    def length(self, x: Varying) -> str:
        """A tensor of one int64: a number that depends on the lengths of the inputs.

        Raises:
            Unsupported: if it follows from none in a way that is known.
        """
        if all(isinstance(v, float) and v.is_integer() for v in x.values):
            x = Varying([int(v) for v in x.values])
        if x.values not in self._lengths:
            self._lengths[x.values] = self._length(x)
        return self._lengths[x.values]

    def _length(self, x: Varying) -> str:
        if not all(isinstance(v, (int, np.integer)) for v in x.values):
            raise Unsupported(f"has {x!r} in its settings, which a file cannot hold")
        for wire in reversed(self.wires):
            for axis in range(wire.ndim):
                if all(a.shape[axis] == v for a, v in zip(wire.arrays, x.values)):
                    return self.node("Shape", wire.name, start=axis, end=axis + 1)
        return self._computed(x)

    def _computed(self, x: Varying) -> str:
        """A number factor * (product of some lengths) + offset."""
        for count in range(1, len(self.symbols) + 1):
            for chosen in itertools.combinations(self.symbols, count):
                products = [int(np.prod(lengths)) for lengths in zip(*[s[0] for s in chosen])]
                run = products[1] - products[0]
                if run == 0 or (x.values[1] - x.values[0]) % run:
                    continue
                factor = (x.values[1] - x.values[0]) // run
                offset = x.values[0] - factor * products[0]
                if all(factor * p + offset == v for p, v in zip(products, x.values)):
                    out = ""
                    for values, _, _ in chosen:
                        name = self.length(Varying(values))
                        out = self.node("Mul", out, name) if out else name
                    if factor != 1:
                        out = self.node("Mul", out, self.constant([factor], np.int64))
                    return self.node("Add", out, self.constant([offset], np.int64)) if offset else out
        raise Unsupported(f"has {x!r} in its settings, which follows from the lengths of the inputs in no known way")


def arithmetic(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
    """The first number and the step of integers that are equally far apart, the same in all runs."""
    longest = max(arrays, key=len) if all(a.ndim == 1 for a in arrays) else np.zeros(0)
    if len(longest) < 2 or longest.dtype.kind not in "iu":
        return None
    expected = longest[0] + np.arange(len(longest), dtype=longest.dtype) * (longest[1] - longest[0])
    if not all(np.array_equal(a, expected[: len(a)]) for a in arrays):
        return None
    return longest[0], longest[1] - longest[0]


def tensor_of(array: np.ndarray, name: str) -> Any:
    """An array as ONNX holds it."""
    tensor = onnx.TensorProto()
    tensor.name = name
    tensor.data_type = element_type(array.dtype)
    tensor.dims.extend(array.shape)
    tensor.raw_data = np.ascontiguousarray(array).tobytes()
    return tensor
