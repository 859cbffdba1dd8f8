"""Attach to Tensor the methods that are a function with the tensor as its first argument."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor, data

_STUB = os.path.join(os.path.dirname(data.__file__), "attached.pyi")

# Methods whose function has another name.
_OTHER = {
    "scatter_sub": "tensor_scatter_sub",
    "scatter_mul": "tensor_scatter_mul",
    "scatter_div": "tensor_scatter_div",
    "scatter_max": "tensor_scatter_max",
    "scatter_min": "tensor_scatter_min",
    "soft_shrink": "softshrink",
    "numel": "numel",
    "nelement": "numel",
}


def delegate(name: str, function: str) -> Callable:
    """A method that calls the function of `ops` with this name on the tensor; it is looked up when called."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return getattr(ops, function)(self, *args, **kwargs)

    method.__name__, method.__qualname__, method.delegated = name, f"Tensor.{name}", function
    method.__doc__ = f"See `dist_ms.ops.{function}`; the tensor is its first argument."
    return method


def delegated_names() -> list[str]:
    """The methods with the name and the further arguments of a function of `ops`: those of the stub's `Delegated`."""
    with open(_STUB, encoding="utf-8") as text:
        stub = text.read()
    return re.findall(
        r"^    def (\w+)", stub[stub.index("class Delegated") : stub.index("class Attached")], re.MULTILINE
    )


def attach() -> None:
    """Attach the methods."""
    for name, function in [*((name, name) for name in delegated_names()), *_OTHER.items()]:
        setattr(Tensor, name, delegate(name, function))


attach()
