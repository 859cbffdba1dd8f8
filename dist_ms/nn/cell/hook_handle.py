"""HookHandle: what registering a hook returns."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any

_keys = itertools.count()


class HookHandle:
    """Removes one hook from the table it was put into.

    Args:
        table: the table; None for a handle without a hook.
        hook: what is stored there.
        first: put it before the others.

    Examples:
        >>> from dist_ms import nn
        >>> net = nn.ReLU()
        >>> handle = net.register_forward_hook(lambda cell, args, output: output * 0)
        >>> handle.remove()
        >>> handle.remove()
    """

    def __init__(self, table: OrderedDict | None = None, hook: Any = None, first: bool = False) -> None:
        self._table = OrderedDict() if table is None else table
        self._key = next(_keys)
        self._table[self._key] = hook
        if first:
            self._table.move_to_end(self._key, last=False)

    def remove(self) -> None:
        """Remove the hook; calling it again does nothing."""
        self._table.pop(self._key, None)
