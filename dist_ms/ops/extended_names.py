"""How the modules that MindSpore sorts its functions into find a function by its name there.

`<name>_ext` and `<name>_view` are operations in PyTorch's form, `<name>_` those that change a tensor in
place, the others are those of `ops`.
"""

from __future__ import annotations

import importlib
from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor


def in_other_form(name: str) -> Any:
    """What `ops.<name>_ext` (PyTorch's form) or `ops.<name>_` (in place) means, or None."""
    if name.startswith("_"):
        return None
    if name.endswith("_ext"):
        plain = name.removesuffix("_ext")
        return getattr(importlib.import_module("dist_ms.ops.extended"), plain, None) or getattr(ops, plain, None)
    return getattr(Tensor, name, None) if name.endswith("_") else None


def by_name(name: str) -> Any:
    """The function of a name, in PyTorch's form if the name ends so.

    Raises:
        AttributeError: if there is none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.function.array_func.chunk_view is ms.mint.chunk
        True
    """
    plain = name.removesuffix("_view").removesuffix("_ext")
    if plain != name and not name.startswith("_"):
        extended = importlib.import_module("dist_ms.ops.extended")
        if hasattr(extended, plain):
            return getattr(extended, plain)
        if hasattr(ops, plain):
            return getattr(ops, plain)
    elif name.endswith("_") and not name.startswith("_") and hasattr(Tensor, name):
        return getattr(Tensor, name)
    elif not name.startswith("_") and hasattr(ops, name):
        return getattr(ops, name)
    raise AttributeError(f"module 'dist_ms.ops' has no function {name!r}")


def overloaded(name: str) -> Any:
    """The function of a name, in PyTorch's form where there is one.

    Raises:
        AttributeError: if there is none.
    """
    if not name.startswith("_"):
        extended = importlib.import_module("dist_ms.ops.extended")
        if hasattr(extended, name):
            return getattr(extended, name)
    return by_name(name)
