"""Write docs/api-coverage.md: every public name of MindSpore, and whether dist_ms has it.

    .venv/bin/python docs/api_coverage.py --mindspore OTHER_VENV/bin/python

The names and signatures of an installed MindSpore are read in its own interpreter; nothing
else of it is used.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import inspect
import json
import subprocess
from pathlib import Path
from typing import Any

MODULES = (
    ("", "top level"),
    ("nn", "nn"),
    ("ops", "ops"),
    ("mint", "mint"),
    ("mint.nn", "mint.nn"),
    ("mint.nn.functional", "mint.nn.functional"),
    ("mint.optim", "mint.optim"),
    ("mint.linalg", "mint.linalg"),
    ("mint.special", "mint.special"),
    ("numpy", "numpy"),
    ("train", "train"),
    ("amp", "amp"),
    ("common.initializer", "common.initializer"),
    ("communication", "communication"),
    ("experimental.optim", "experimental.optim"),
    ("dataset", "dataset"),
    ("parallel", "parallel"),
    ("profiler", "profiler"),
    ("rewrite", "rewrite"),
    ("runtime", "runtime"),
    ("hal", "hal"),
    ("scipy.linalg", "scipy.linalg"),
    ("scipy.optimize", "scipy.optimize"),
)

# Why a name is absent, by the first rule whose word it contains.
REASONS = (
    (
        ("RegOp", "_register", "vm_impl", "CustomPass", "_op_infer", "_op_wrapper"),
        "registers with MindSpore's compilers",
    ),
    (
        ("environ_", "env_get", "make_", "UpdateState", "Switch", "Reusing", "iter_converter", "hyper_"),
        "a compiler's own",
    ),
    (("scalar_", "tuple_", "list_", "dict_", "bool_", "string_", "augassign_", "is_sequence"), "a compiler's own"),
    (("Ascend", "NPU", "ACL", "MemPool", "Stream", "Event", "hal"), "an accelerator's"),
    (("Pipeline", "shard", "Layout", "strategy", "obfuscate", "mindir", "MindIR"), "model parallelism or MindIR"),
    (("ToMR", "MindRecord", "FileReader", "FileWriter", "Dataset"), "MindSpore's data formats"),
    (("Symbol", "rewrite", "profiler", "Profiler", "Summary"), "MindSpore's tools"),
)

LISTING = """
import importlib, inspect, json, sys, warnings
warnings.simplefilter("ignore")
found = {}
for name in json.loads(sys.argv[1]):
    try:
        module = importlib.import_module("mindspore" + ("." + name if name else ""))
    except ImportError:
        continue
    names = getattr(module, "__all__", None) or dir(module)
    entries = {}
    for item in sorted(set(names)):
        value = getattr(module, item, None)
        if item.startswith("_") or value is None or inspect.ismodule(value):
            continue
        try:
            entries[item] = [p.name for p in inspect.signature(value).parameters.values() if p.kind in (0, 1, 3)]
        except (TypeError, ValueError):
            entries[item] = None
    found[name] = entries
print("LISTING" + json.dumps(found))
"""


def mindspore_names(python: str) -> dict[str, dict[str, list[str] | None]]:
    """Ask an interpreter that has MindSpore for its public names and their parameters."""
    command = [python, "-c", LISTING, json.dumps([m for m, _ in MODULES])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tempfile.gettempdir())
    return json.loads(done.stdout.split("LISTING", 1)[1])


def parameters(value: Any) -> list[str] | None:
    """The names of a callable's parameters, None when it does not tell."""
    try:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        keyword = inspect.Parameter.KEYWORD_ONLY
        found = inspect.signature(value).parameters.values()
        return [p.name for p in found if p.kind in kinds or p.kind == keyword]
    except (TypeError, ValueError):
        return None


def verdict(name: str, wanted: list[str] | None, module: Any) -> tuple[str, str]:
    """Return (same | differs | absent, how or why)."""
    value = getattr(module, name, None) if module is not None else None
    if value is None:
        why = next((reason for words, reason in REASONS if any(w in name for w in words)), "not built yet")
        return "absent", why
    ours = parameters(value)
    if wanted is None or ours is None:
        return "same", ""
    missing = [p for p in wanted if p not in ours and p not in ("args", "kwargs")]
    return ("differs", "parameters not taken by name: " + ", ".join(missing)) if missing else ("same", "")


def main() -> None:
    """Compare and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mindspore", required=True, help="a Python that has MindSpore 2.10")
    parser.add_argument("--out", default=Path(__file__).with_name("api-coverage.md"), type=Path)
    options = parser.parse_args()
    listing = mindspore_names(options.mindspore)
    summary, tables = [], []
    for path, title in MODULES:
        try:
            module = importlib.import_module("dist_ms" + ("." + path if path else ""))
        except ImportError:
            module = None
        rows = [(n, *verdict(n, wanted, module)) for n, wanted in listing.get(path, {}).items()]
        count = collections.Counter(kind for _, kind, _ in rows)
        summary.append(f"| {title} | {len(rows)} | {count['same']} | {count['differs']} | {count['absent']} |")
        body = "\n".join(f"| `{n}` | {kind} | {text} |" for n, kind, text in rows if kind != "same")
        tables.append(
            f"## {title}\n\nNot in this table: the same by name and parameters.\n\n"
            f"| name | | |\n|---|---|---|\n{body}\n"
        )
    page = (
        "# Coverage of MindSpore 2.10's public names\n\nMade by `docs/api_coverage.py`; do not edit. "
        '"Same" means that the name exists and takes the same parameters; behaviour is what the tests compare.\n\n'
        "| module | names | same | differs | absent |\n|---|---|---|---|---|\n" + "\n".join(summary) + "\n\n"
    )
    options.out.write_text(page + "\n".join(tables))
    print("\n".join(summary))


if __name__ == "__main__":
    main()
