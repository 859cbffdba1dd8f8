"""What MindSpore's compilers are told of a user's operation: types, formats, attributes. Here it is kept with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["CustomRegOp", "DataType", "custom_info_register"]

_TYPES = {
    "BF16": "bfloat16",
    "BOOL": "bool",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
_FORMATS = {
    "None": ("",),
    "Default": ("DefaultFormat",),
    "Default_Tuple": ("DefaultFormat", "tuple"),
    "Default_List": ("DefaultFormat", "list"),
    "5HD": ("NC1HWC0",),
    "FracZ": ("FRACTAL_Z",),
    "FracNZ": ("FRACTAL_NZ",),
    "C1HWNCoC0": ("C1HWNCoC0",),
    "NCHW": ("NCHW",),
    "NHWC": ("NHWC",),
    "HWCN": ("HWCN",),
    "NDHWC": ("NDHWC",),
    "ChannelLast": ("ChannelLast",),
}


class DataType:
    """Pairs of a type and a format, named `<type>_<format>`: what an input or output of an operation may be.

    Types are BOOL, I8 to I64, U8 to U64, F16, F32, F64 and BF16; formats None, Default, NCHW, NHWC and more.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.DataType.F32_Default
        ('float32', 'DefaultFormat')
    """

    None_None = ("", "")
    None_Default = ("", "DefaultFormat")


for _short, _type in _TYPES.items():
    for _name, _format in _FORMATS.items():
        setattr(DataType, f"{_short}_{_name}", (_type, *_format))


class CustomRegOp:
    """Describes a user's operation, one call after another; `get_op_info` gives the description.

    Args:
        op_name: what it is called.

    Raises:
        TypeError: if an argument of a call has the wrong type.
        ValueError: if `op_name` is no str, or a number of types is another than that of inputs and outputs.

    Examples:
        >>> from dist_ms.ops import CustomRegOp, DataType
        >>> info = CustomRegOp("double").input(0, "x").output(0, "y")
        >>> info = info.dtype_format(DataType.F32_None, DataType.F32_None).target("CPU").get_op_info()
        >>> info["op_name"], info["inputs"]
        ('double', [{'index': 0, 'name': 'x', 'paramType': 'required'}])
    """

    def __init__(self, op_name: str = "Custom") -> None:
        if not isinstance(op_name, str):
            raise ValueError(f"For 'CustomRegOp', 'op_name' must be a str, but got {type(op_name).__name__}.")
        self._info: dict[str, Any] = {"op_name": op_name, "inputs": [], "outputs": [], "attr": []}
        self._info.update(fusion_type="", dtype_format=[], target="UnKnown")

    def _typed(self, value: Any, name: str, kind: type) -> Any:
        if isinstance(value, bool) or not isinstance(value, kind):
            wanted, found = kind.__name__, type(value).__name__
            raise TypeError(f"For 'CustomRegOp', '{name}' must be of type {wanted}, but got {found}.")
        return value

    def _place(self, where: str, index: Any, name: Any, param_type: str) -> CustomRegOp:
        entry = {"index": self._typed(index, "index", int)}
        if name is not None:
            entry["name"] = self._typed(name, "name", str)
        entry["paramType"] = self._typed(param_type, "param_type", str)
        self._info[where].append(entry)
        return self

    def input(self, index: int | None = None, name: str | None = None, param_type: str = "required") -> CustomRegOp:
        """Describe an input; `param_type` is "required", "dynamic" or "optional"."""
        return self._place("inputs", index, name, param_type)

    def output(self, index: int | None = None, name: str | None = None, param_type: str = "required") -> CustomRegOp:
        """Describe an output; `param_type` is "required", "dynamic" or "optional"."""
        return self._place("outputs", index, name, param_type)

    def dtype_format(self, *args: tuple) -> CustomRegOp:
        """Allow a combination: one of `DataType` for every input and output."""
        count = len(self._info["inputs"]) + len(self._info["outputs"])
        if len(args) != count:
            raise ValueError(
                f"For 'CustomRegOp', 'dtype_format' must get one type for each input and output, {count}, but got "
                f"{len(args)}."
            )
        self._info["dtype_format"].append([list(self._typed(arg, "args", tuple)) for arg in args])
        return self

    def attr(
        self,
        name: str | None = None,
        param_type: str | None = None,
        value_type: str | None = None,
        default_value: Any = None,
        **kwargs: Any,
    ) -> CustomRegOp:
        """Describe an attribute; `value`, by keyword, gives its value."""
        entry = {"name": name, "paramType": param_type, "type": value_type, "defaultValue": default_value, **kwargs}
        self._info["attr"].append({key: value for key, value in entry.items() if value is not None})
        return self

    def target(self, target: str | None = None) -> CustomRegOp:
        """Say which platform the description is for."""
        self._info["target"] = self._typed(target, "target", str)
        return self

    def fusion_type(self, fusion_type: str) -> CustomRegOp:
        """Keep MindSpore's kind of fusion."""
        self._info["fusion_type"] = self._typed(fusion_type, "fusion_type", str)
        return self

    def get_op_info(self) -> dict[str, Any]:
        """The description."""
        return self._info


def custom_info_register(*reg_info: dict | str | tuple) -> Callable[[Callable], Callable]:
    """Keep descriptions with a function, as its `reg_info`, for `Custom`.

    Args:
        reg_info: what `CustomRegOp.get_op_info` gives.

    Returns:
        A decorator; the function stays the same.

    Examples:
        >>> from dist_ms.ops import CustomRegOp, custom_info_register
        >>> @custom_info_register(CustomRegOp("double").target("CPU").get_op_info())
        ... def double(x):
        ...     return x + x
        >>> double(2), double.reg_info[0]["op_name"]
        (4, 'double')
    """

    def keep(function: Callable) -> Callable:
        function.reg_info = reg_info
        return function

    return keep
