"""Record the names of the arguments of MindSpore's public callables.

    MINDSPORE_VENV/bin/python tests/parity/signatures.py > tests/serial/compat/signatures.txt

A line is a callable and its parameters; `=` stands behind those that may be left out. It is compared with by
tests/serial/compat/test_signatures.py.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

MODULES = (
    "",
    "nn",
    "ops",
    "mint",
    "mint.nn",
    "mint.nn.functional",
    "mint.optim",
    "mint.linalg",
    "mint.special",
    "mint.distributed",
    "numpy",
    "scipy.linalg",
    "train",
    "amp",
    "communication",
    "communication.comm_func",
    "parallel",
    "common.initializer",
    "dataset",
    "dataset.transforms",
    "dataset.vision",
    "dataset.audio",
    "dataset.text",
    "mindrecord",
    "experimental.optim",
    "experimental.optim.lr_scheduler",
    "nn.probability.distribution",
    "nn.probability.bijector",
    "boost",
    "runtime",
)
INSIDE = ("__init__", "__call__")
Parameters = list[tuple[str, bool]]


def parameters(function: Callable[..., Any], method: bool) -> Parameters | None:
    """The names of a function's parameters and whether they may be left out; None where nothing tells them."""
    try:
        found = list(inspect.signature(function).parameters.values())[method:]
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        return None
    return [(p.name, p.default is not p.empty) for p in found]


def methods(kind: type) -> Iterator[tuple[str, Callable[..., Any], bool]]:
    """What a class defines itself: name, function, and whether its first parameter is the object."""
    for name, raw in sorted(vars(kind).items()):
        function = getattr(raw, "__func__", raw)
        if (name in INSIDE or not name.startswith("_")) and inspect.isroutine(function) and not inspect.isbuiltin(raw):
            yield name, function, not isinstance(raw, staticmethod)


def recorded(package: str) -> Iterator[str]:
    """The lines of a package, each callable where it is found first."""
    seen = set()
    for path in MODULES:
        module = importlib.import_module(f"{package}.{path}" if path else package)
        for name in sorted(getattr(module, "__all__", None) or dir(module)):
            it = getattr(module, name, None)
            home = getattr(it, "__module__", None) or ""
            if name.startswith("_") or not callable(it) or not home.startswith(package) or id(it) in seen:
                continue
            seen.add(id(it))
            place = f"{path}.{name}" if path else name
            parts = methods(it) if inspect.isclass(it) else [("", it, False)]
            for part, function, method in parts:
                found = parameters(function, method)
                if found is not None:
                    told = ", ".join(n + "=" * optional for n, optional in found)
                    yield f"{place}{'.' * bool(part)}{part}({told})"


if __name__ == "__main__":
    print("\n".join(recorded("mindspore")))
    sys.exit(0)
