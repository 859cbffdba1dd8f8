"""What MindSpore's compilers for Ascend, AICPU and AKG are told of an operation: kept, as nothing compiles it here.

`vm_impl_registry` holds Python functions by the name of the operation that they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

__all__ = [
    "AiCPURegOp",
    "AkgAscendRegOp",
    "AkgGpuRegOp",
    "CpuRegOp",
    "TBERegOp",
    "get_vm_impl_fn",
    "op_info_register",
    "vm_impl_registry",
]


class RegOp:
    """Describes an operation, one call after another; `get_op_info` gives the description.

    Args:
        op_name: what it is called.

    Raises:
        ValueError: if `op_name` is no str; in `get_op_info`, if it is empty; in `dtype_format`, for another number of
            types than inputs and outputs.
        TypeError: if an argument of a call has the wrong type.

    Examples:
        >>> from dist_ms.ops import CpuRegOp, DataType
        >>> info = CpuRegOp("Abs").input(0, "x").output(0, "y").dtype_format(DataType.F32_None, DataType.F32_None)
        >>> info.get_op_info()["inputs"]
        [{'index': 0, 'name': 'x'}]
    """

    _kind: ClassVar[dict[str, Any]] = {}
    _of_input: tuple[tuple[str, str, type], ...] = (("param_type", "paramType", str),)
    _of_output = _of_input
    _of_attribute: tuple[tuple[str, str, type], ...] = (("value_type", "type", str), ("value", "value", str))

    def __init__(self, op_name: str = "") -> None:
        if not isinstance(op_name, str):
            raise ValueError(f"For '{type(self).__name__}', 'op_name' must be a str, but got {type(op_name).__name__}.")
        self._info: dict[str, Any] = {"op_name": op_name, "inputs": [], "outputs": [], "attr": []}
        self._info.update(fusion_type="", dtype_format=[], **self._kind)

    def _typed(self, value: Any, name: str, kind: type) -> Any:
        if not isinstance(value, kind):
            wanted, found = kind.__name__, type(value).__name__
            raise TypeError(f"For '{type(self).__name__}', '{name}' must be of type {wanted}, but got {found}.")
        return value

    def _described(self, words: tuple, places: tuple, given: tuple, more: dict) -> dict[str, Any]:
        """An entry of what is given: names, keys and types of `words`, whose values are `given` or in `more`."""
        entry: dict[str, Any] = {}
        rest = dict(zip((name for name, _, _ in (*places, *words)), given))
        if len(given) > len(rest) or rest.keys() & more.keys():
            raise TypeError(f"For '{type(self).__name__}', there are too many arguments: {given}, {more}.")
        rest |= more
        for name, key, kind in (*places, *words):
            value = rest.pop(name, None)
            if value is not None:
                entry[key] = self._typed(value, name, kind)
        return entry | {key: value for key, value in rest.items() if value is not None}

    def input(self, *given: Any, **more: Any) -> RegOp:
        """Describe an input: its index, name and what else the platform knows."""
        self._info["inputs"].append(self._described(self._of_input, _PLACE, given, more))
        return self

    def output(self, *given: Any, **more: Any) -> RegOp:
        """Describe an output, likewise."""
        self._info["outputs"].append(self._described(self._of_output, _PLACE, given, more))
        return self

    def attr(self, *given: Any, **more: Any) -> RegOp:
        """Describe an attribute: its name and what else the platform knows."""
        self._info["attr"].append(self._described(self._of_attribute, (("name", "name", str),), given, more))
        return self

    def dtype_format(self, *args: tuple) -> RegOp:
        """Allow a combination: one of `DataType` for every input and output."""
        count = len(self._info["inputs"]) + len(self._info["outputs"])
        if len(args) != count:
            raise ValueError(
                f"For '{type(self).__name__}', 'dtype_format' must get one type for each input and output, {count}, "
                f"but got {len(args)}."
            )
        self._info["dtype_format"].append(args)
        return self

    def fusion_type(self, fusion_type: str) -> RegOp:
        """Keep the kind of fusion."""
        self._info["fusion_type"] = self._typed(fusion_type, "fusion_type", str)
        return self

    def get_op_info(self) -> dict[str, Any]:
        """The description."""
        if not self._info["op_name"]:
            raise ValueError(f"For '{type(self).__name__}', 'op_name' must not be empty, but got ''.")
        return self._info


_PLACE = (("index", "index", int), ("name", "name", str))


class CpuRegOp(RegOp):
    """Describes an operation of a CPU; see `RegOp`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.CpuRegOp("Abs").get_op_info()["imply_type"]
        'CPU'
    """

    _kind: ClassVar[dict[str, Any]] = {"imply_type": "CPU"}


class AiCPURegOp(CpuRegOp):
    """Describes an operation of Ascend's CPUs; see `RegOp`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.AiCPURegOp("Abs").attr("axis", "int").get_op_info()["attr"]
        [{'name': 'axis', 'type': 'int'}]
    """

    _kind: ClassVar[dict[str, Any]] = {"imply_type": "AiCPU"}


class AkgGpuRegOp(RegOp):
    """Describes an operation that AKG compiles for GPUs; see `RegOp`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.AkgGpuRegOp("Abs").get_op_info()["processor"]
        'CUDA'
    """

    _kind: ClassVar[dict[str, Any]] = {"imply_type": "AKG", "processor": "CUDA"}
    _of_input = _of_output = ()
    _of_attribute = (("param_type", "paramType", str), ("value_type", "type", str))


class AkgAscendRegOp(AkgGpuRegOp):
    """Describes an operation that AKG compiles for Ascend; see `RegOp`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.AkgAscendRegOp("Abs").get_op_info()["processor"]
        'AiCore'
    """

    _kind: ClassVar[dict[str, Any]] = {"imply_type": "AKG", "processor": "AiCore"}


class TBERegOp(RegOp):
    """Describes an operation that Ascend's tensor engine compiles; see `RegOp`. Calls after its options set them.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.TBERegOp("Abs").kernel_name("abs").compute_cost(4).get_op_info()["compute_cost"]
        4
    """

    _kind: ClassVar[dict[str, Any]] = {
        "imply_type": "TBE", "async_flag": False, "binfile": "", "compute_cost": 10, "kernel": "",
        "partial_flag": False, "reshape_type": "", "dynamicRankSupport": False, "dynamicShapeSupport": False,
        "dynamicCompileStatic": False, "needCheckSupport": False, "dynamicFormat": False, "op_pattern": "",
    }  # fmt: skip
    _of_input = (
        ("need_compile", "needCompile", bool),
        ("param_type", "paramType", str),
        ("shape", "shape", str),
        ("value_depend", "valueDepend", str),
    )
    _of_output = (("need_compile", "need_compile", bool), ("param_type", "paramType", str), ("shape", "shape", str))
    _of_attribute = (
        ("param_type", "paramType", str),
        ("value_type", "type", str),
        ("value", "value", str),
        ("default_value", "defaultValue", str),
    )

    def __init__(self, op_name: str = "") -> None:
        super().__init__(op_name)
        self._info.update(real_input_index=[], input_to_attr_index=[], unknown_shape_formats=[])

    def _set(self, key: str, name: str, value: Any, kind: type) -> TBERegOp:
        self._info[key] = self._typed(value, name, kind)
        return self

    def async_flag(self, async_flag: bool = False) -> TBERegOp:
        """Set whether it runs asynchronously."""
        return self._set("async_flag", "async_flag", async_flag, bool)

    def binfile_name(self, binfile_name: str) -> TBERegOp:
        """Set the file of its code."""
        return self._set("binfile", "binfile_name", binfile_name, str)

    def compute_cost(self, compute_cost: int = 10) -> TBERegOp:
        """Set its cost for tiling."""
        return self._set("compute_cost", "compute_cost", compute_cost, int)

    def kernel_name(self, kernel_name: str) -> TBERegOp:
        """Set the kernel's name."""
        return self._set("kernel", "kernel_name", kernel_name, str)

    def partial_flag(self, partial_flag: bool = True) -> TBERegOp:
        """Set whether parts of it are computed."""
        return self._set("partial_flag", "partial_flag", partial_flag, bool)

    def reshape_type(self, reshape_type: str) -> TBERegOp:
        """Set how shapes are widened."""
        return self._set("reshape_type", "reshape_type", reshape_type, str)

    def op_pattern(self, pattern: str | None = None) -> TBERegOp:
        """Set the kind of operation."""
        return self if pattern is None else self._set("op_pattern", "pattern", pattern, str)

    def is_dynamic_format(self, is_dynamic_format: bool = False) -> TBERegOp:
        """Set whether formats are chosen late."""
        return self._set("dynamicFormat", "is_dynamic_format", is_dynamic_format, bool)

    def need_check_supported(self, need_check_supported: bool = False) -> TBERegOp:
        """Set whether support is asked for."""
        return self._set("needCheckSupport", "need_check_supported", need_check_supported, bool)

    def dynamic_shape(self, dynamic_shape: bool = False) -> TBERegOp:
        """Set whether shapes may be unknown."""
        return self._set("dynamicShapeSupport", "dynamic_shape", dynamic_shape, bool)

    def dynamic_rank_support(self, dynamic_rank_support: bool) -> TBERegOp:
        """Set whether numbers of dimensions may be unknown."""
        return self._set("dynamicRankSupport", "dynamic_rank_support", dynamic_rank_support, bool)

    def dynamic_compile_static(self, dynamic_compile_static: bool = False) -> TBERegOp:
        """Set whether one code serves static shapes, too."""
        return self._set("dynamicCompileStatic", "dynamic_compile_static", dynamic_compile_static, bool)

    def real_input_index(self, real_input_index: list) -> TBERegOp:
        """Set the order of the inputs."""
        return self._set("real_input_index", "real_input_index", real_input_index, list)

    def input_to_attr_index(self, input_to_attr_index: list) -> TBERegOp:
        """Set which inputs are attributes."""
        return self._set("input_to_attr_index", "input_to_attr_index", input_to_attr_index, list)

    def unknown_shape_formats(self, unknown_shape_formats: list) -> TBERegOp:
        """Add formats for unknown shapes."""
        self._info["unknown_shape_formats"].append(self._typed(unknown_shape_formats, "unknown_shape_formats", list))
        return self


def op_info_register(op_info: dict | str) -> Callable[[Callable], Callable]:
    """Keep a description with a function, as its `reg_info`; on a CPU nothing is compiled of it.

    Args:
        op_info: what `get_op_info` gives, or that as JSON.

    Returns:
        A decorator; the function stays the same.

    Raises:
        TypeError: by the decorator, if `op_info` is neither a dict nor a str.

    Examples:
        >>> from dist_ms.ops import CpuRegOp, op_info_register
        >>> @op_info_register(CpuRegOp("double").get_op_info())
        ... def double(x):
        ...     return x + x
        >>> double(2), double.reg_info["op_name"]
        (4, 'double')
    """

    def keep(function: Callable) -> Callable:
        if not isinstance(op_info, (dict, str)):
            found = type(op_info).__name__
            raise TypeError(f"For 'op_info_register', 'op_info' must be a dict or a str, but got {found}.")
        function.reg_info = op_info
        return function

    return keep


class VmImplRegistry(dict):
    """Makers of functions by the operation, or its name, that they stand for."""

    def register(self, prim: Any) -> Callable[[Callable], Callable]:
        """Return a decorator that enters a maker.

        Args:
            prim: a class of operations or a name.
        """

        def enter(maker: Callable) -> Callable:
            self[prim.__name__ if isinstance(prim, type) else prim] = maker
            return maker

        return enter


vm_impl_registry = VmImplRegistry()


def get_vm_impl_fn(prim: Any) -> Callable | None:
    """Return what the entered maker makes of an operation; None if there is none.

    Args:
        prim: an operation or a name.

    Examples:
        >>> from dist_ms.ops import get_vm_impl_fn, vm_impl_registry
        >>> @vm_impl_registry.register("Kind")
        ... def make(operation):
        ...     return type
        >>> get_vm_impl_fn("Kind")(1.0)
        <class 'float'>
    """
    maker = vm_impl_registry.get(prim if isinstance(prim, str) else getattr(prim, "name", type(prim).__name__))
    return None if maker is None else maker(prim)
