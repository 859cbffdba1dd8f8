"""Notice Python code that looks at the values of tensors while a network is recorded."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from dist_ms.common.tensor import Tensor

__all__ = ["looks_noticed"]

_LOOKS = {
    "__bool__": "`if`, `while`, `and`, `or`, `not` or `assert`",
    "__int__": "`int`",
    "__float__": "`float`",
    "__index__": "an index or a range",
    "item": "`item`",
    "tolist": "`tolist`",
}


@contextlib.contextmanager
def looks_noticed(depends: Callable[[Tensor], bool], line: Callable[[Any], str]) -> Iterator[None]:
    """A region in which a warning tells of each line that looks at a value that depends on the inputs.

    Python's own hook for profilers tells which functions run, so it costs nothing elsewhere.

    Args:
        depends: whether a tensor follows from the inputs.
        line: the user's line of a frame.
    """
    codes = {getattr(Tensor, name).__code__: how for name, how in _LOOKS.items()}
    told: set[str] = set()

    def called(frame: Any, event: str, argument: Any) -> None:
        how = codes.get(frame.f_code) if event == "call" else None
        if how is None:
            return
        x = frame.f_locals[frame.f_code.co_varnames[0]]
        if isinstance(x, Tensor) and depends(x):
            told.add(f"{line(frame)} ({how})")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(before)
        if told:
            warnings.warn(
                "Python code looked at values that depend on the network's inputs, at "
                + ", and at ".join(sorted(told))
                + ". The file does what these values made of the example, whatever its inputs hold: use operations "
                "such as `ops.where` if that is not meant.",
                stacklevel=2,
            )
