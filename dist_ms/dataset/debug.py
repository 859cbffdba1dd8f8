"""What looks at rows between the operations of `map` in debug mode."""

from __future__ import annotations

from typing import Any

__all__ = ["DebugHook", "PrintDataHook", "PrintMetaDataHook"]


class DebugHook:
    """Base class: define `compute`, which is called with what goes into and comes out of each operation of `map`.

    Args:
        prev_op_name: the operation before; set before each call.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> class Tell(ds.debug.DebugHook):
        ...     def compute(self, *values):
        ...         print("before" if self.is_first else "after", self.prev_op_name, float(values[0]))
        >>> ds.config.set_debug_mode(True, [Tell()])
        >>> data = ds.NumpySlicesDataset([-1.0], shuffle=False).map(abs)
        >>> _ = list(data.create_tuple_iterator(output_numpy=True))
        before abs -1.0
        after abs 1.0
        >>> ds.config.set_debug_mode(False)
    """

    def __init__(self, prev_op_name: str | None = None) -> None:
        self.prev_op_name = prev_op_name
        self.is_first = False

    def compute(self, *values: Any) -> Any:
        """Look at the columns that `map` works on."""
        raise NotImplementedError(f"For '{type(self).__name__}', 'compute' is not defined.")

    def set_previous_op_name(self, prev_op_name: str) -> None:
        """Say which operation is meant by the next call."""
        self.prev_op_name = prev_op_name

    def set_is_first(self, is_first: bool) -> None:
        """Say whether the next call is with what goes into it."""
        self.is_first = is_first

    def _head(self) -> str:
        what = "INPUT" if self.is_first else "OUTPUT"
        return f"[Dataset debugger] Print the [{what}] of the operation [{self.prev_op_name}]."


class PrintMetaDataHook(DebugHook):
    """Prints types and shapes.

    Examples:
        >>> from dist_ms.dataset.debug import PrintMetaDataHook
        >>> import numpy as np
        >>> PrintMetaDataHook("abs").compute(np.ones((2, 3)))
        [Dataset debugger] Print the [OUTPUT] of the operation [abs].
        Column 0. The dtype is [float64]. The shape is [(2, 3)].
    """

    def compute(self, *values: Any) -> None:
        """Print each column's type and shape, if it is an array."""
        print(self._head())
        for i, value in enumerate(values):
            about = f" The dtype is [{value.dtype}]. The shape is [{value.shape}]." if hasattr(value, "dtype") else ""
            print(f"Column {i}.{about}")


class PrintDataHook(DebugHook):
    """Prints values.

    Examples:
        >>> from dist_ms.dataset.debug import PrintDataHook
        >>> PrintDataHook("abs").compute(3)
        [Dataset debugger] Print the [OUTPUT] of the operation [abs].
        Column 0. The data is [3].
    """

    def compute(self, *values: Any) -> None:
        """Print each column's value."""
        print(self._head())
        for i, value in enumerate(values):
            print(f"Column {i}. The data is [{value}].")


def called(hooks: list, values: tuple, operation: Any, is_first: bool) -> None:
    """Call hooks with what goes into an operation or comes out of it."""
    for hook in hooks:
        if isinstance(hook, DebugHook):
            hook.set_previous_op_name(getattr(operation, "__name__", type(operation).__name__))
            hook.set_is_first(is_first)
        getattr(hook, "compute", hook)(*values)
