"""Which operation a node of MINDIR is: MindSpore's primitives by name, with settings from attributes or inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from dist_ms import ops
from dist_ms.mindir.messages import FUNCTION
from dist_ms.mindir.values import TYPES
from dist_ms.ops.picking.indexing import SetItem
from dist_ms.ops.primitive import Primitive

__all__ = ["VIEWS", "WRITING", "Unknown", "operation"]

# The families of `ops` whose operations compute and do nothing else: no files, no Python code, no messages.
_FAMILIES = frozenset(
    "activations convolutions creating elementwise images layers linear_algebra losses picking pooling_windows "
    "reducing shaping signals special_functions".split()
)
_TO_PARAMETERS = ("Assign", "Inplace", "Scatter")  # beginnings of names: these write to parameters
_HARMLESS = frozenset({"ScatterNd", "StopGradient"})

# Settings that are numbers in a file and names in `ops`.
_NAMES = {
    "data_format": {0: "NCHW", 1: "NHWC", 14: "NCDHW"},
    "pad_mode": {0: "PAD", 1: "SAME", 2: "VALID"},
    "reduction": {0: "sum", 1: "mean", 2: "none"},
    "interpolation_mode": {0: "bilinear", 1: "nearest"},
    "padding_mode": {0: "zeros", 1: "border", 2: "reflection"},
}
_TYPED = frozenset({"output_type", "dtype", "argmax_type", "out_type"})
_ARGMAX = {3: 34, 4: 35, "int32": 34, "int64": 35}  # as pooling tells types
_WINDOWS = frozenset({"kernel_size", "ksize", "strides", "stride", "dilation", "pads"})  # begin with batch and channels


# What MindSpore writes over its first input (`x += y`), and the operation whose result that is.
WRITING = {
    f"Inplace{kind}": kind for kind in "AddExt SubExt SubScalar Mul Muls Div Divs ClampScalar ClampTensor".split()
}
WRITING |= {f"Inplace{kind}": kind for kind in "MaskedFillScalar ReLU Sigmoid SiLU Tanh Exp Log Floor Sign".split()}
WRITING |= {"InplaceAddsExt": "AddScalar", "InplaceMaskedFillTensor": "MaskedFill"}
# What may be a look at the memory of its first input.
VIEWS = frozenset(
    "Reshape View Flatten FlattenExt Transpose TransposeExtView ExpandDims ExpandDimsView Squeeze StridedSlice Slice "
    "SliceExt Split SplitTensor Chunk Unstack UnstackExtView SelectExtView BroadcastTo Narrow Diagonal Identity".split()
)


class Unknown(Exception):
    """An operation that is not available; its name."""


def _dtype(number: Any) -> Any:
    return None if number is None else TYPES()[number]


def _reduced(name: str) -> Callable[..., Any]:
    def compute(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        given = x if dtype is None else x.astype(_dtype(dtype))
        axes = () if dim is None else dim
        return getattr(ops, name)(keep_dims=keepdim)(given, axes)

    return compute


def _gelu(x: Any, approximate: int = 0) -> Any:
    return ops.gelu(x, approximate="tanh" if approximate else "none")


def _sliced(x: Any, value: Any, begin: tuple, end: tuple, strides: tuple) -> Any:
    return SetItem(tuple([slice(*ends) for ends in zip(begin, end, strides)]))(x, value)


# MindSpore's operations that `ops` has in other forms; all settings are inputs.
_FORMS: dict[str, Callable[..., Any]] = {
    "AddExt": lambda x, y, alpha: x + y * alpha,
    "AddScalar": lambda x, y, alpha: x + y * alpha,
    "ArgMaxExt": lambda x, dim, keepdim: ops.argmax(x, dim, keepdim),
    "BatchMatMulExt": lambda x, y: ops.bmm(x, y),
    "Cast": lambda x, dtype: x.astype(_dtype(dtype)),
    "ClampScalar": lambda x, low, high: ops.clamp(x, low, high),
    "ClampTensor": lambda x, low, high: ops.clamp(x, low, high),
    "Divs": lambda x, y: x / y,
    "EqScalar": lambda x, y: x == y,
    "FlattenExt": lambda x, start, end: ops.flatten(x, start_dim=start, end_dim=end),
    "FloorDivScalar": lambda x, y: x // y,
    "GeLU": lambda x: ops.GeLU()(x),
    "GeluExt": _gelu,
    "GreaterEqualScalar": lambda x, y: x >= y,
    "GreaterScalar": lambda x, y: x > y,
    "GroupNorm": lambda x, groups, weight, bias, eps: (ops.group_norm(x, groups, weight, bias, eps), None, None),
    "LeakyReLUExt": lambda x, slope: ops.leaky_relu(x, slope),
    "LessEqualScalar": lambda x, y: x <= y,
    "LessScalar": lambda x, y: x < y,
    "LogSoftmaxExt": lambda x, dim, dtype: ops.log_softmax(x if dtype is None else x.astype(_dtype(dtype)), dim),
    "MaskedFillScalar": lambda x, mask, value: ops.masked_fill(x, mask, value),
    "MatMulExt": lambda x, y: ops.matmul(x, y),
    "MeanExt": _reduced("ReduceMean"),
    "MishExt": lambda x: ops.mish(x),
    "Muls": lambda x, y: x * y,
    "NeScalar": lambda x, y: x != y,
    "PowTensorScalar": lambda x, y: ops.pow(x, y),
    "ProdExt": _reduced("ReduceProd"),
    "Round": lambda x, decimals=0: ops.round(x, decimals=decimals),
    "RemainderTensorScalar": lambda x, y: x % y,
    "SeLUExt": lambda x: ops.selu(x),
    "StackExt": lambda parts, dim: ops.stack(parts, dim),
    "SubExt": lambda x, y, alpha: x - y * alpha,
    "SubScalar": lambda x, y, alpha: x - y * alpha,
    "SumExt": _reduced("ReduceSum"),
    "TensorCopySlices": _sliced,
}


def _class_of(kind: str) -> type[Primitive]:
    """The Primitive of this name.

    Raises:
        Unknown: if there is none that only computes.
    """
    found = getattr(ops, kind, None) if kind.isidentifier() and kind[0] != "_" else None
    if not inspect.isclass(found) or not issubclass(found, Primitive) or found.__name__.startswith("Primitive"):
        raise Unknown(kind)
    family = found.__module__.split(".")
    if kind not in _HARMLESS and (
        family[:2] != ["dist_ms", "ops"] or family[2] not in _FAMILIES or kind.startswith(_TO_PARAMETERS)
    ):
        raise Unknown(kind)
    return found


def _setting(kind: str, name: str, value: Any) -> Any:
    """A setting of a file as `ops` takes it."""
    if kind == "TensorScatterElements" and name == "reduction":
        return {0: "none", 1: "add"}.get(value, value)
    if name in _TYPED:
        number = _ARGMAX.get(value, value) if name == "argmax_type" else value
        return TYPES().get(number, number)
    if name in _NAMES and isinstance(value, int):
        return _NAMES[name].get(value, value)
    if name in _WINDOWS and isinstance(value, tuple) and len(value) in (4, 5) and value[:2] == (1, 1):
        return value[2:]
    if name == "output_padding" and isinstance(value, tuple):
        return value[2:]
    return value


def operation(kind: str, form: int, attributes: dict[str, Any], inputs: Sequence[Any]) -> tuple[Any, int]:
    """What computes a node, and how many of its inputs it takes: the rest are settings.

    Args:
        kind: the primitive's name.
        form: whether its settings are inputs or attributes.
        attributes: the primitive's.
        inputs: those of the node that are constants; others are Ellipsis.

    Raises:
        Unknown: if there is no such operation here.
        ValueError: if a setting is computed by the graph.
    """
    if kind in WRITING:
        compute, count = operation(WRITING[kind], form, attributes, inputs)
        return lambda x, *rest: compute(x, *rest).astype(x.dtype), count
    if kind in _FORMS:
        return _FORMS[kind], len(inputs)
    made = _class_of(kind)
    names = [name for name in list(inspect.signature(made.__init__).parameters)[1:] if name not in ("name", "kwargs")]
    if form == FUNCTION:
        count = len(inputs) - len(names)
        given = dict(zip(names, inputs[count:]))
        if count < 1 or any(v is ... for v in given.values()):
            raise ValueError(f"the settings {', '.join(names)} of {kind} must be constants")
    else:
        count = len(inputs)
        given = {n: attributes["format" if n == "data_format" else n] for n in names if _named(n, attributes)}
    settings = {n: _setting(kind, n, v) for n, v in given.items()}
    if form != FUNCTION and kind.startswith("Conv") and "pad_mode" in settings:
        settings["pad_mode"] = str(settings["pad_mode"]).lower()
    return made(**settings), count


def _named(name: str, attributes: dict[str, Any]) -> bool:
    """Whether the attributes tell a setting."""
    return name != "pad_list" and ("format" if name == "data_format" else name) in attributes
