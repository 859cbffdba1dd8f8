"""Wrong calls: a right call with one argument changed."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

FLOATS = ("float16", "float32", "float64", "bfloat16")
KINDS = ("float32", "float64", "float16", "int32", "int64", "uint8", "bool", "complex64")


class Array(NamedTuple):
    """A tensor, parameter or NumPy array of an expression."""

    maker: str
    dtype: str
    shape: list[int]
    told: Any

    def __repr__(self) -> str:
        told = repr(self.told).replace("nan", "float('nan')").replace("inf", "float('inf')")
        return f"{self.maker}({self.dtype!r}, {self.shape}, {told})"


class Named:
    """A name of a module in an expression."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __getattr__(self, name: str) -> Named:
        return Named(f"{self.path}.{name}")

    def __call__(self, *args: Any) -> Named:
        return Named(f"{self.path}({', '.join(map(repr, args))})")

    def __repr__(self) -> str:
        return self.path


NAMES = {n: Named(n) for n in ("ms", "np", "nn", "ops", "mint")} | {
    m: (lambda *told, m=m: Array(m, *told)) for m in ("t", "p", "a")
}


def arrays_changed(x: Array) -> Iterator[tuple[str, str]]:
    """Other tensors in a tensor's place."""
    for dtype in KINDS:
        if dtype != x.dtype:
            told = x.told if isinstance(x.told, list) and not str(x.told).count("j") else None
            told = (0, 1) if told is None and dtype not in FLOATS and dtype not in ("bool", "complex64") else told
            if told is None or "n" not in str(told) or dtype in FLOATS:
                yield f"dtype {dtype}", repr(Array(x.maker, dtype, x.shape, told))
    filling = None if x.dtype in FLOATS or x.dtype in ("bool", "complex64") else (0, 1)
    shapes = {"rank + 1": [1, *x.shape], "rank + 2": [1, 1, *x.shape], "empty": [0]}
    if x.shape:
        shapes |= {
            "rank 0": [],
            "rank - 1": x.shape[1:],
            "last + 1": [*x.shape[:-1], x.shape[-1] + 1],
            "first + 1": [x.shape[0] + 1, *x.shape[1:]],
            "no rows": [0, *x.shape[1:]],
        }
    for what, shape in shapes.items():
        if shape != x.shape:
            yield what, repr(Array(x.maker, x.dtype, shape, filling))
    if x.maker != "a":
        yield "array", repr(Array("a", x.dtype.replace("bfloat16", "float32"), x.shape, x.told))
    for what, value in (("int", "1"), ("float", "0.5"), ("bool", "True"), ("list", "[1, 2]"), ("tuple", "(1.0, 2.0)")):
        yield what, value


def sequences_changed(x: list | tuple) -> Iterator[tuple[str, str]]:
    """Other sequences in a tuple's or list's place."""
    kind = type(x)
    if all(isinstance(v, int) for v in x):
        yield "longer", repr(kind([*x, *x[-1:]]))
        yield "shorter", repr(kind(x[:-1]))
        for what, value in (("negative", -3), ("large", 100), ("zero", 0), ("float", 1.5), ("bool", True)):
            yield f"an element {what}", repr(kind([value, *x[1:]]))
        yield "int", "1"
        yield "float", "1.5"
        yield "other sequence", repr(tuple(x) if kind is list else list(x))
        yield "tensor", f"t('int64', [{len(x)}], {list(x)})"
    else:
        yield "shorter", repr(kind(x[:-1]))
        for i, v in enumerate(x[:2]):
            for what, value in changed(v):
                yield f"element {i}: {what}", repr(kind([*x[:i], Named(value), *x[i + 1 :]]))
    yield "empty", repr(kind())
    for what, value in (("a str", "'a'"), ("None", "None"), ("a tensor", "t('float32', [2], [1.0, 2.0])")):
        yield f"an element {what}", repr(kind([Named(value), *x[1:]]))


def changed(x: Any) -> Iterator[tuple[str, str]]:
    """Other values in a value's place: what they are, and the expression."""
    if isinstance(x, Array):
        yield from arrays_changed(x)
    elif isinstance(x, (list, tuple)):
        yield from sequences_changed(x)
    else:
        plain = {
            "int": "2",
            "negative": "-1",
            "far negative": "-100",
            "zero": "0",
            "large": "100",
            "float": "1.5",
            "negative float": "-0.5",
            "bool": "True",
            "tuple": "(1, 2)",
            "list": "[1.0]",
            "tensor": "t('float32', [2], [1.0, 2.0])",
            "int tensor": "t('int32', [], [1])",
            "dtype": "ms.int32",
        }
        for what, value in plain.items():
            if value != repr(x):
                yield what, value
    if not isinstance(x, str):
        yield "str", "'wrong'"
    else:
        yield "other str", repr(x + "?")
        yield "empty str", "''"
    if x is not None:
        yield "None", "None"
    yield "dict", "{}"


def _with(row: dict[str, Any], part: str, call: dict[str, Any], what: str) -> dict[str, Any]:
    return {**row, part: call, "what": what}


def mutants(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All wrong calls of one right call."""
    for part in ("make", "call"):
        call = row[part]
        if call is None:
            continue
        args, kwargs, defaults = call["args"], call["kwargs"], call.get("defaults", {})
        for i, text in enumerate(args):
            for what, value in changed(eval(text, dict(NAMES))):
                if i == 0 and row["path"].startswith("Tensor.") and not value.startswith("t("):
                    continue  # no tensor's method any more
                yield _with(row, part, call | {"args": [*args[:i], value, *args[i + 1 :]]}, f"{part} {i}: {what}")
        for name, text in itertools.chain(kwargs.items(), defaults.items()):
            for what, value in changed(eval(text, dict(NAMES))):
                yield _with(row, part, call | {"kwargs": kwargs | {name: value}}, f"{part} {name}: {what}")
        if args and (part == "make" or not row["path"].startswith("Tensor.") or len(args) > 1):
            yield _with(row, part, call | {"args": args[:-1]}, f"{part}: one less")
        for name in kwargs:
            yield _with(
                row, part, call | {"kwargs": {k: v for k, v in kwargs.items() if k != name}}, f"{part}: no {name}"
            )
        yield _with(row, part, call | {"kwargs": kwargs | {"nonsense": "1"}}, f"{part}: unknown keyword")
        if not kwargs:
            yield _with(row, part, call | {"args": [*args, *list(defaults.values()), "1"]}, f"{part}: one more")


def drawn(rows: list[dict[str, Any]], count: int, seed: int) -> list[dict[str, Any]]:
    """Some wrong calls, of every function about as many, in the functions' order."""
    source = random.Random(seed)
    per_name: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        found = per_name.setdefault(row["path"], {})
        for mutant in mutants(row):
            found[json.dumps([mutant["path"], mutant["make"], mutant["call"]])] = mutant
    queues = {}
    for path in sorted(per_name):
        queues[path] = list(per_name[path].values())
        source.shuffle(queues[path])
    chosen: dict[str, list[dict[str, Any]]] = {path: [] for path in queues}
    while count > 0 and any(queues.values()):
        for path, queue in queues.items():
            if queue and count > 0:
                chosen[path].append(queue.pop())
                count -= 1
    return [row for found in chosen.values() for row in found]
