"""Write docs/api-coverage.md: every public name of MindSpore, and whether dist_ms has it.

    .venv/bin/python docs/api_coverage.py --mindspore OTHER_VENV/bin/python

The names and signatures of an installed MindSpore are read in its own interpreter; nothing
else of it is used.

A name is refused where dist_ms has it and using it can only raise: the function, or what makes or calls
an object of the class, is annotated to return `NoReturn`.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import inspect
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from dist_ms import compat, ops

# The classes whose methods and attributes are listed, too.
CLASSES = ("Tensor", "Parameter", "nn.Cell", "nn.Optimizer", "train.Model", "dataset.Dataset")
STATES = ("same", "differs", "refused", "absent")

# Why a name is absent, by the first rule one of whose words the name, or its path and name, contains.
REASONS = (
    (
        ("rewrite.node.", "rewrite.parsers."),
        "an inner part of MindSpore's rewriting; rewrite.SymbolTree is the door",
    ),
    (("dataset.engine.obs.",), "downloads from Huawei's object storage"),
    (("profiler.platform.",), "the inside of MindSpore's profiler; profiler.profile is the door"),
    (
        ("create_ir_tree", "Dataset.parse", "parse_tree", "pre_parse", "post_parse", "pre_process"),
        "builds the graph of MindSpore's compiled pipeline, which a pipeline in Python has not",
    ),
    (("copy_batch_size", "iterator_bootstrap"), "the inside of MindSpore's compiled pipeline"),
    (("infer_predict_layout", "infer_train_layout"), "cuts operators over ranks"),
    (
        (
            "CustomPassType",
            "_op_infer",
            "_op_wrapper",
            "register_custom_",
            "CustomOpBuilder",
            "MsDispatchMode",
            "_register",
        ),
        "extends MindSpore's compilers",
    ),
    (("create_time", "global_cells"), "would have every cell note when and with what arguments it was made"),
    (("environ_", "env_get", "make_", "Switch", "iter_converter"), "a compiler's own"),
)

# What raises on a CPU in MindSpore 2.10, too: a call of each with plausible arguments was tried.
RAISE_THERE = frozenset(
    "NPUAllocFloatStatus NPUClearFloatStatus NPUGetFloatStatus moe_distribute_dispatch stress_detect device_count "
    "pin_memory set_device_address".split()
)

LISTING = """
import importlib, inspect, json, pkgutil, sys, warnings
warnings.simplefilter("ignore")
import mindspore

def parameters(value):
    try:
        return [p.name for p in inspect.signature(value).parameters.values() if p.kind in (0, 1, 3)]
    except (TypeError, ValueError):
        return None

def public(item, value):
    return not (item.startswith("_") or value is None or inspect.ismodule(value))

# Of a module without __all__, what it defines or has from below; where it is no package it is internal.
modules = {"": (mindspore, mindspore.__all__ if hasattr(mindspore, "__all__") else dir(mindspore))}
for info in pkgutil.walk_packages(mindspore.__path__, "mindspore.", onerror=lambda name: None):
    path = info.name.split(".", 1)[1]
    if any(part.startswith("_") for part in path.split(".")):
        continue
    try:
        module = importlib.import_module(info.name)
    except BaseException:
        continue
    names = getattr(module, "__all__", None)
    if names is None and info.ispkg:
        below = info.name + "."
        names = [n for n in dir(module) if str(getattr(getattr(module, n), "__module__", "")).startswith(below)]
    modules[path] = (module, names or [])
found = {}
for path in sorted(modules, key=lambda m: (m.count(".") + bool(m), m)):
    module, names = modules[path]
    entries = {}
    for item in sorted({n for n in names if isinstance(n, str)}):
        value = getattr(module, item, None)
        if public(item, value):
            entries[item] = (id(value), parameters(value))
    if entries:
        found[path] = entries
for path in json.loads(sys.argv[1]):
    value = mindspore
    for part in path.split("."):
        value = getattr(value, part)
    members = {n: getattr(value, n, None) for n in dir(value)}
    found[path] = {n: (id(v), parameters(v)) for n, v in sorted(members.items()) if not n.startswith("_")}
print("LISTING" + json.dumps(found))
"""


def mindspore_names(python: str) -> dict[str, dict[str, tuple[int, list[str] | None]]]:
    """Ask an interpreter that has MindSpore for its public names, with the number and parameters of each object."""
    command = [python, "-c", LISTING, json.dumps(CLASSES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tempfile.gettempdir())
    return json.loads(done.stdout.split("LISTING", 1)[1])


def parameters(value: Any) -> list[str] | None:
    """The names of a callable's parameters; None when it does not tell, or takes any keyword."""
    if hasattr(value, "delegated"):  # a method of Tensor that calls a function with all it is given
        value = getattr(ops, value.delegated)
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind == inspect.Parameter.VAR_KEYWORD for p in found):
        return None
    return [p.name for p in found if p.kind != inspect.Parameter.VAR_POSITIONAL]


def refuses(value: Any) -> bool:
    """Whether a function, or a class's objects when made or called, can only raise."""
    if inspect.isclass(value):
        return any(refuses(getattr(value, name, None)) for name in ("__new__", "__init__", "__call__"))
    return getattr(value, "__annotations__", {}).get("return") in (NoReturn, "NoReturn")


def lookup(path: str) -> Any:
    """The module or class that scripts get under one of MindSpore's paths from dist_ms, None if there is none."""
    if path in CLASSES:
        above, _, name = path.rpartition(".")
        return getattr(lookup(above), name, None)
    try:
        return importlib.import_module("mindspore" + ("." + path if path else ""))
    except ImportError:
        return None


def why_absent(name: str, path: str = "") -> str:
    """The reason of the first rule that a name of a module fits."""
    whole = f"{path}.{name}"
    return next((reason for words, reason in REASONS if any(w in whole for w in words)), "not built yet")


def why_refused(name: str, value: Any) -> str:
    """The first line of what its docstring says, and whether it raises in MindSpore on a CPU."""
    line = (inspect.getdoc(value) or "using it raises an error").partition("\n")[0].removeprefix("Not available: ")
    return line + (" MindSpore raises an error on a CPU, too." if name in RAISE_THERE else "")


def verdict(name: str, wanted: list[str] | None, owner: Any, path: str = "") -> tuple[str, str]:
    """Return (same | differs | refused | absent, how or why)."""
    if owner is None or not hasattr(owner, name):
        return "absent", why_absent(name, path)
    value = getattr(owner, name)
    if refuses(value):
        return "refused", why_refused(name, value)
    ours = parameters(value)
    if wanted is None or ours is None:
        return "same", ""
    missing = [p for p in wanted if p not in ours and p not in ("self", "args", "kwargs")]
    return ("differs", "parameters not taken by name: " + ", ".join(missing)) if missing else ("same", "")


def compare(found: dict[str, dict[str, tuple[int, list[str] | None]]]) -> tuple[list[str], list[str]]:
    """Return the rows of the summary and the tables of what is not the same.

    One object under several paths counts once, but where dist_ms differs from path to path; what dist_ms has one object
    for does not matter, so the counts are MindSpore's.
    """
    summary, tables = [], []
    listed: set[tuple[str, int, str, str]] = set()
    for path, names in found.items():
        title = f"methods of {path}" if path in CLASSES else path or "top level"
        owner = lookup(path)
        rows = []
        for name, (number, wanted) in names.items():
            state, text = verdict(name, wanted, owner, path)
            key = (name, number, state, text)
            if path in CLASSES or key not in listed:
                rows.append((name, state, text))
            listed.add(key)
        if not rows:
            continue
        count = collections.Counter(state for _, state, _ in rows)
        summary.append(f"| {title} | {len(rows)} | " + " | ".join(str(count[state]) for state in STATES) + " |")
        body = "\n".join(f"| `{n}` | {state} | {text} |" for n, state, text in rows if state != "same")
        if owner is None:
            whys = "; ".join(dict.fromkeys(why for _, _, why in rows))
            tables.append(f"## {title}\n\nNot there ({whys}): " + ", ".join(f"`{n}`" for n, _, _ in rows) + ".\n")
        elif body:
            tables.append(f"## {title}\n\n| name | | |\n|---|---|---|\n{body}\n")
    return summary, tables


def share_missing(summary: list[str]) -> str:
    """Say how many of all names are absent or refused."""
    counts = [[int(cell) for cell in row.split("|")[2:7]] for row in summary]
    names, _, _, refused, absent = map(sum, zip(*counts, strict=True))
    return f"Of {names:,} names, {absent} are absent and {refused} refused: {100 * (absent + refused) / names:.1f} %."


def main() -> None:
    """Compare and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mindspore", required=True, help="a Python that has MindSpore 2.10")
    parser.add_argument("--out", default=Path(__file__).with_name("api-coverage.md"), type=Path)
    options = parser.parse_args()
    compat.install()
    summary, tables = compare(mindspore_names(options.mindspore))
    page = (
        "# Coverage of MindSpore 2.10's public names\n\nMade by `docs/api_coverage.py`; do not edit. "
        '"Same" means that the name exists and takes the same parameters; behaviour is what the tests compare.\n'
        '"Refused" names can be imported, and using them raises an error that says why. A name that several modules\n'
        "have is counted in the shortest of them, if dist_ms does the same under all their paths. The tables below\n"
        f"leave out what is the same. {share_missing(summary)}\n\n"
        "| module | names | " + " | ".join(STATES) + " |\n|---" + "|---" * 5 + "|\n" + "\n".join(summary) + "\n\n"
    )
    options.out.write_text(page + "\n".join(tables))
    print("\n".join(summary), share_missing(summary), sep="\n")


if __name__ == "__main__":
    main()
