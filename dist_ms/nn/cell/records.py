"""What a Cell records of itself: its time of making, its precision, and what MindSpore's compiler keeps of it."""

from __future__ import annotations

import gc
import time
from enum import IntEnum
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from dist_ms.common import dtype as mstype

T_destination = TypeVar("T_destination", bound=dict[str, Any])


class MixedPrecisionType(IntEnum):
    """The type in which a cell's operations run."""

    NOTSET = 0
    FP16 = 1
    FP32 = 2
    BF16 = 3


_BY_NAME = {
    str(mstype.float16): MixedPrecisionType.FP16,
    str(mstype.float32): MixedPrecisionType.FP32,
    str(mstype.bfloat16): MixedPrecisionType.BF16,
}


class _LivingCells:
    """The number of cells that are in memory, counted when it is asked for."""

    def __get__(self, cell: Any, owner: type) -> int:
        return sum(issubclass(type(thing), CellRecords) for thing in gc.get_objects())


class CellRecords:
    """The part of Cell that scripts read, and that changes no result."""

    T_destination = T_destination
    total_instance_count = _LivingCells()
    # By cell, what it was compiled to: nothing, as cells run as Python.
    global_cells: ClassVar[WeakKeyDictionary] = WeakKeyDictionary()

    def _cell_note_time(self) -> None:
        self.__dict__["_cell_create_time"] = time.time_ns()

    @property
    def create_time(self) -> int:
        """When the cell was made, in nanoseconds since 1970."""
        return self.__dict__["_cell_create_time"]

    @property
    def phase_cache(self) -> dict[str, str]:
        """The compiled graphs by phase: none, as cells run as Python."""
        return self.__dict__.setdefault("_cell_phase_cache", {})

    @property
    def compile_cache(self) -> set[str]:
        """The names of compiled graphs: none, as cells run as Python."""
        return self.__dict__.setdefault("_cell_compile_cache", set())

    @property
    def exist_names(self) -> set[str]:
        """Names of parameters that a compiler met in the cell: none."""
        return self.__dict__.setdefault("_cell_exist_names", set())

    @property
    def exist_objs(self) -> set[int]:
        """Parameters that a compiler met in the cell: none."""
        return self.__dict__.setdefault("_cell_exist_objs", set())

    @property
    def enable_backward_hook(self) -> bool:
        """Of the class only: a cell has no such attribute, as in MindSpore."""
        raise AttributeError(f"The '{type(self).__name__}' object has no attribute 'enable_backward_hook'.")

    def get_mixed_precision_type(self) -> MixedPrecisionType:
        """The type that `to_float` or `set_mixed_precision_type` chose last.

        Examples:
            >>> import dist_ms as ms
            >>> ms.nn.ReLU().to_float(ms.float16).get_mixed_precision_type().name
            'FP16'
        """
        state = self.__dict__
        chosen = getattr(self, "_cell_float_type", None)
        noted = state.get("_cell_precision_noted")
        if noted is not None and noted[0] is chosen:
            return noted[1]
        return _BY_NAME.get(str(chosen), MixedPrecisionType.NOTSET)

    def set_mixed_precision_type(self, arg0: MixedPrecisionType) -> None:
        """Set what `get_mixed_precision_type` returns, until the next `to_float`; as in MindSpore, results stay.

        Args:
            arg0: a member of MixedPrecisionType.

        Raises:
            TypeError: for anything else.

        Examples:
            >>> import dist_ms as ms
            >>> cell = ms.nn.ReLU()
            >>> cell.set_mixed_precision_type(type(cell.get_mixed_precision_type()).BF16)
            >>> cell.get_mixed_precision_type().name
            'BF16'
        """
        if not isinstance(arg0, MixedPrecisionType):
            raise TypeError(
                f"For 'set_mixed_precision_type', 'arg0' must be a MixedPrecisionType, but got {type(arg0).__name__}."
            )
        self.__dict__["_cell_precision_noted"] = (getattr(self, "_cell_float_type", None), arg0)
