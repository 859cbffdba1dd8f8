"""`mindspore._extends.cell_attr_register`: a cell's constructor that records its arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def cell_attr_register(fn: Callable | None = None, attrs: list[str] | str | None = None) -> Callable:
    """Decorate a Cell's `__init__` so that `cell_init_args` tells what it was called with.

    Args:
        fn: the `__init__` function; without it a decorator is returned.
        attrs: names of attributes to record instead of all arguments.

    Raises:
        ValueError: if `attrs` is neither a string nor a list of strings.

    Examples:
        >>> from dist_ms import nn
        >>> from dist_ms.compat.recorded_arguments import cell_attr_register
        >>> class Scale(nn.Cell):
        ...     @cell_attr_register
        ...     def __init__(self, factor):
        ...         super().__init__()
        >>> Scale(3).cell_init_args
        "Scale{'factor': 3}"
    """
    names = [attrs] if isinstance(attrs, str) else attrs
    if names is not None and not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
        raise ValueError(f"For 'cell_attr_register', 'attrs' must be a string or a list of strings, but got {attrs!r}.")

    def decorate(init: Callable) -> Callable:
        @functools.wraps(init)
        def recording(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            if names is None:
                given = dict(list(inspect.signature(init).bind(self, *args, **kwargs).arguments.items())[1:])
            else:
                given = {n: getattr(self, n) for n in names if hasattr(self, n)}
            self.cell_init_args = f"{type(self).__name__}{given}"

        return recording

    return decorate if fn is None else decorate(fn)
