"""Constants that scripts import: limits of numbers, and MindSpore's words for an operation's types and formats."""

from __future__ import annotations

import enum

UINT8_MAX, UINT32_MAX, UINT64_MAX = 255, 4294967295, 18446744073709551615
INT32_MIN, INT32_MAX = -2147483648, 2147483647
INT64_MIN, INT64_MAX = -9223372036854775808, 9223372036854775807
FLOAT_MIN_INTEGER, FLOAT_MAX_INTEGER = -16777216, 16777216
DOUBLE_MIN_INTEGER, DOUBLE_MAX_INTEGER = -9007199254740992, 9007199254740992
POS_INT_MIN, UINT8_MIN, UINT32_MIN, UINT64_MIN = 1, 0, 0, 0

_TYPES = {
    "None": "",
    "BOOL": "bool",
    "BF16": "bfloat16",
    "C64": "complex64",
    "C128": "complex128",
    **{f"{letter}{n}": f"{word}{n}" for letter, word in (("I", "int"), ("U", "uint")) for n in (8, 16, 32, 64)},
    **{f"F{n}": f"float{n}" for n in (16, 32, 64)},
}
_FORMATS = {"None": "", "Default": "DefaultFormat", "5HD": "NC1HWC0", "FracZ": "FRACTAL_Z", "FracNZ": "FRACTAL_NZ"}


class Implementation(enum.IntEnum):
    """Which of MindSpore's two implementations a transform has; here there is one."""

    C = 0
    PY = 1


class _Pairs(type):
    def __getattr__(cls, name: str) -> tuple[str, str]:
        kind, _, form = name.partition("_")
        if kind not in _TYPES or not form:
            raise AttributeError(
                f"'DataType' has no attribute {name!r}: it must be a type and a format, as F32_Default."
            )
        return _TYPES[kind], _FORMATS.get(form, form)


class DataType(metaclass=_Pairs):
    """Pairs of a type and a format, as MindSpore registers kernels with; nothing here reads them.

    Examples:
        >>> from dist_ms.compat.inner.number_limits import DataType
        >>> DataType.F16_Default
        ('float16', 'DefaultFormat')
    """
