"""What a graph compiler has operations for, and is Python's own here: types of values, `+=`, branches of a list."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from dist_ms import ops
from dist_ms.autograd.recompute import recompute
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_callable, check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor, SparseTensor
from dist_ms.common.type_classes import Kind, Number, TensorType, Type
from dist_ms.ops.primitive import Primitive

__all__ = [
    "DtypeToEnum",
    "PyFunc",
    "Reusing",
    "SliceGetItem",
    "TensorToTuple",
    "UpdateState",
    "augassign_add",
    "augassign_div",
    "augassign_floordiv",
    "augassign_mod",
    "augassign_mul",
    "augassign_sub",
    "hastype",
    "hyper_add",
    "is_sequence_shape_unknown",
    "is_sequence_value_unknown",
    "is_tensor_bool_cond",
    "make_row_tensor_inner",
    "make_sparse_tensor",
    "recompute_block",
    "row_tensor_add",
    "switch_layer",
    "tail",
    "tensor_operator_registry",
    "typeof",
]

augassign_add, augassign_sub, augassign_mul = operator.add, operator.sub, operator.mul
augassign_div, augassign_floordiv, augassign_mod = operator.truediv, operator.floordiv, operator.mod

# MindSpore's numbers of the types.
_NUMBERS = {
    "Bool": 30,
    **{f"Int{bits}": 32 + place for place, bits in enumerate((8, 16, 32, 64))},
    **{f"UInt{bits}": 37 + place for place, bits in enumerate((8, 16, 32, 64))},
    **{f"Float{bits}": 42 + place for place, bits in enumerate((16, 32, 64))},
    "BFloat16": 45,
    "Complex64": 51,
    "Complex128": 52,
}


def typeof(x: Any) -> Type:
    """The type that a graph has for a value: of a Tensor with its element type, of a Python float float32.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.typeof(ms.Tensor([1.0])), ms.ops.typeof(1)
        (mindspore.tensor[float32], mindspore.int64)
    """
    return mstype.float32 if isinstance(x, float) else mstype.get_py_obj_dtype(x)


def hastype(x: Any, t: Type) -> bool:
    """Whether a value is of a type, or of one of a family of types.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.hastype(ms.Tensor([1.0]), ms.tensor_type), ms.ops.hastype(1, ms.float32)
        (True, False)
    """
    found = typeof(x)
    if isinstance(t, TensorType) and t.element_type() is None:
        return isinstance(found, TensorType)
    if isinstance(t, Kind) and isinstance(found, Number):
        return mstype._issubclass_(found, t)
    return found == t


def tail(x: Sequence) -> Sequence:
    """A tuple or list without its first element.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.tail((1, 2, 3))
        (2, 3)
    """
    if not isinstance(x, (tuple, list)):
        raise TypeError(complaint("x", "tail", "a tuple or list", type(x).__name__))
    return x[1:]


def hyper_add(left: Any, right: Any) -> Any:
    """Sums of the elements of nested tuples and lists, as tuples.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.hyper_add([1, (2, 3)], [4, (5, 6)])
        (5, (7, 9))
    """
    if isinstance(left, (tuple, list)):
        if not isinstance(right, (tuple, list)) or len(left) != len(right):
            raise TypeError(complaint("right", "hyper_add", f"a tuple or list of {len(left)} elements", right))
        return tuple(hyper_add(a, b) for a, b in zip(left, right))
    return left + right


def is_tensor_bool_cond(cond: Tensor) -> bool:
    """Whether a tensor can be the condition of an `if`: True, where it has one element and no or one dimension.

    Raises:
        TypeError: if it is no Tensor.
        ValueError: if it has another shape.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.is_tensor_bool_cond(ms.Tensor([1.0]))
        True
    """
    check_type(cond, "cond", "is_tensor_bool_cond", Tensor)
    if cond.shape not in ((), (1,)):
        raise ValueError(complaint("cond", "is_tensor_bool_cond", "of shape () or (1,)", cond.shape))
    return True


def is_sequence_shape_unknown(x: Sequence) -> bool:
    """Whether the length of a tuple or list is unknown: never, where nothing is compiled."""
    check_type(x, "x", "is_sequence_shape_unknown", (tuple, list))
    return False


def is_sequence_value_unknown(x: Sequence) -> bool:
    """Whether the values of a tuple or list are unknown: never, where nothing is compiled."""
    check_type(x, "x", "is_sequence_value_unknown", (tuple, list))
    return False


def make_row_tensor_inner(indices: Tensor, values: Tensor, dense_shape: tuple) -> RowTensor:
    """A RowTensor of rows and their numbers.

    Examples:
        >>> import dist_ms as ms
        >>> rows = ms.ops.make_row_tensor_inner(ms.Tensor([0]), ms.Tensor([[1.0, 2.0]]), (3, 2))
        >>> print(ms.ops.row_tensor_add(rows, ms.ops.ones((3, 2)))[0])
        [2. 3.]
    """
    return RowTensor(indices, values, dense_shape)


def make_sparse_tensor(indices: Tensor, values: Tensor, dense_shape: tuple) -> SparseTensor:
    """A SparseTensor of elements and their places."""
    return SparseTensor(indices, values, dense_shape)


def row_tensor_add(x1: RowTensor, x2: Tensor) -> Tensor:
    """The sum of rows and a tensor."""
    check_type(x1, "x1", "row_tensor_add", RowTensor)
    return ops.tensor_scatter_add(x2, ops.expand_dims(x1.indices, -1), x1.values)


def switch_layer(index: Any, layers: Sequence[Callable]) -> Callable:
    """The function or Cell at a place in a tuple or list.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.switch_layer(1, [ms.nn.ReLU(), ms.nn.Sigmoid()])(ms.Tensor(0.0)))
        0.5
    """
    return layers[int(index)]


def recompute_block(block: Callable) -> Callable:
    """A Cell whose values are not kept for its gradient but computed again; see `ms.recompute`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.grad(ms.ops.recompute_block(ms.nn.ReLU()))(ms.Tensor(2.0)))
        1.0
    """
    check_callable(block, "block", "recompute_block")
    return lambda *args, **kwargs: recompute(block, *args, **kwargs)


class SliceGetItem(Primitive):
    """A part of a slice: "start", "stop" or "step".

    Examples:
        >>> from dist_ms import ops
        >>> ops.SliceGetItem(slice(1, 2, 3), "stop")
        2
    """

    def __new__(cls, *args: Any) -> Any:
        """Called with a slice and a name as MindSpore's operation is, it has the value at once."""
        return cls()(*args) if args else super().__new__(cls)

    def __call__(self, x: slice, name: str) -> Any:
        if name not in ("start", "stop", "step"):
            raise AttributeError(complaint("name", "SliceGetItem", "'start', 'stop' or 'step'", repr(name)))
        return getattr(x, name)


class TensorToTuple(Primitive):
    """The elements of a tensor of one dimension as a tuple of numbers.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.TensorToTuple()(ms.Tensor([1, 2]))
        (1, 2)
    """

    def __call__(self, x: Tensor) -> tuple:
        if check_type(x, "x", self.name, Tensor).ndim > 1:
            raise ValueError(complaint("x", self.name, "of at most 1 dimension", f"shape {x.shape}"))
        return tuple(x.asnumpy().reshape(-1).tolist())


class Reusing(Primitive):
    """Returns its argument: a mark for a compiler."""

    def __call__(self, x: Any) -> Any:
        return x


class UpdateState(Primitive):
    """Returns its first argument: the order that a compiler needs it for is that of the calls."""

    def __call__(self, monad: Any, *attached: Any) -> Any:
        return monad


class PyFunc(Primitive):
    """Calls a Python function with tensors.

    Args:
        fn: the function; returns a Tensor, an array, or a tuple of them.
        in_types, in_shapes: of the tensors that are passed; as many as there are.
        out_types: of what is returned; as many as there are.
        out_shapes: their shapes.
        stateful: accepted; it is called each time.

    Returns:
        A tuple of Tensors, one per `out_types`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there are other numbers of them.

    Examples:
        >>> import dist_ms as ms
        >>> add = ms.ops.PyFunc(lambda a, b: a + b, [ms.float32] * 2, [(1,)] * 2, [ms.float32], [(1,)])
        >>> print(add(ms.Tensor([1.0]), ms.Tensor([2.0]))[0])
        [3.]
    """

    def __init__(
        self,
        fn: Callable,
        in_types: Sequence,
        in_shapes: Sequence,
        out_types: Sequence,
        out_shapes: Sequence,
        stateful: bool = True,
    ) -> None:
        self.fn = check_callable(fn, "fn", self.name)
        for name, types, shapes in (("in_shapes", in_types, in_shapes), ("out_shapes", out_types, out_shapes)):
            if len(types) != len(shapes):
                raise ValueError(complaint(name, self.name, f"{len(types)} shapes", shapes))
        self.in_types, self.out_types, self.stateful = list(in_types), list(out_types), stateful

    def __call__(self, *args: Any) -> tuple[Tensor, ...]:
        if len(args) != len(self.in_types):
            raise ValueError(complaint("args", self.name, f"{len(self.in_types)} tensors", len(args)))
        found = self.fn(*args)
        results = found if isinstance(found, (tuple, list)) else () if found is None else (found,)
        if len(results) != len(self.out_types):
            raise ValueError(complaint("fn", self.name, f"to return {len(self.out_types)} tensors", len(results)))
        return tuple(ops.cast(r if isinstance(r, Tensor) else Tensor(r), t) for r, t in zip(results, self.out_types))


class DtypeToEnum(Primitive):
    """The number that MindSpore has for a type.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.DtypeToEnum()("Cast", "dtype", ms.float32)
        43
    """

    def __call__(self, op_name: str, arg_name: str, dtype: Any) -> int:
        if not isinstance(dtype, Number) or str(dtype) not in _NUMBERS:
            raise TypeError(complaint(arg_name, op_name, "a dtype", dtype))
        return _NUMBERS[str(dtype)]


class _Registry:
    """Tensor's methods and the functions of ops, by name; what is registered comes first."""

    def __init__(self) -> None:
        self._added: dict[str, Any] = {}

    def register(self, name: str, function: Callable) -> None:
        """Name a function."""
        self._added[name] = function

    def get(self, name: str) -> Any:
        """The function of a name.

        Raises:
            AttributeError: if there is none.

        Examples:
            >>> from dist_ms import ops
            >>> ops.tensor_operator_registry.get("abs") is ops.abs
            True
        """
        return self._added[name] if name in self._added else getattr(ops, name)


tensor_operator_registry = _Registry()
