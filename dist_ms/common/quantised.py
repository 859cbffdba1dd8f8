"""QuantDtype: widths of integers in quantised networks, which are numbers here and no element types."""

from __future__ import annotations

import enum

from dist_ms.common.refusing import refused

__all__ = ["QuantDtype", "hifloat8", "qint4x2"]

_UNSIGNED = 100  # MindSpore's number of UINT1

_MEMBERS = {f"INT{bits}": bits - 1 for bits in range(1, 17)} | {
    f"UINT{bits}": _UNSIGNED + bits - 1 for bits in range(1, 17)
}


class _Widths(enum.Enum):
    """What both kinds of members have."""

    def __str__(self) -> str:
        return self.name

    def value(self) -> int:  # type: ignore[override]  # a method in MindSpore
        """The number of the type.

        Examples:
            >>> import dist_ms as ms
            >>> ms.QuantDtype.INT8.value(), ms.QuantDtype.UINT8.value()
            (7, 107)
        """
        return self._value_


QuantDtype = _Widths("QuantDtype", _MEMBERS, module=__name__)  # type: ignore[call-arg]

_NO_NUMBERS = (
    "has no numbers of this type, which Ascend devices alone have",
    "Use float8_e4m3fn, float8_e5m2 or int8.",
)

hifloat8 = refused("hifloat8", *_NO_NUMBERS)
qint4x2 = refused("qint4x2", *_NO_NUMBERS)
