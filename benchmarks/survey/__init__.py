"""The survey of bench_kernels.py: what dist_ms and PyTorch can both do, as tables, a file per family.

A family has `rows()`, which needs neither of the two: both sides build the same list, and a row
says to either of them what to run (`survey.sides`). So the tables are data, and a case is added by a line.
"""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field

FAMILIES = ("operations", "layers", "convolutions", "pooling", "products")
TYPES = ("float32", "bfloat16")


@dataclass(frozen=True)
class Row:
    """A case.

    Attributes:
        name: what is done to what, unique.
        dtype: the floating type of the inputs.
        kind: the method of a side that makes it: "expression", "layer" or "convolution".
        numbers: what that method takes.
    """

    name: str
    dtype: str
    kind: str
    numbers: dict = field(hash=False)


def rows(families: tuple[str, ...] = FAMILIES, only: str = "", types: tuple[str, ...] = TYPES) -> Iterator[Row]:
    """Yield the rows of some families and types whose names contain `only`."""
    for family in families:
        found = importlib.import_module(f"survey.{family}").rows()
        yield from (row for row in found if only in row.name and row.dtype in types)


def expression(
    family: str, text: str, shapes: dict[str, str], wanted: str = "", own: str = "", types: tuple = TYPES
) -> Iterator[Row]:
    """Yield the rows of an expression: forward, and with the gradients of the inputs in `wanted`.

    Args:
        family: what the names start with.
        text: the expression, in which T is `torch` or `mint`, F their `nn.functional`, and inputs have names.
        shapes: of each input where it comes from, see `survey.inputs`.
        wanted: names of inputs: "x y" for both gradients at once, "x, y" for each alone.
        own: the expression for dist_ms where it is another one; ops and ms are known there.
        types: floating types to run it in.
    """
    for dtype in types:
        numbers = {"text": text, "own": own or text, "inputs": shapes}
        sizes = "" if family == "operations" else " " + " ".join(shapes.values())
        yield Row(f"{family}: {text}{sizes} {dtype}", dtype, "expression", {**numbers, "wanted": []})
        for names in wanted.split(",") if wanted else ():
            name = f"{family}: {text}{sizes} {dtype}, with gradient of {' and '.join(names.split())}"
            yield Row(name, dtype, "expression", {**numbers, "wanted": names.split()})
