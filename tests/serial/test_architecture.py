"""The floors hold: who may import whom, where MPI and compiled code are, which files read the plan's flags."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from dist_ms.common.late_names import names_in

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dist_ms"

# Which dist_ms packages each floor may import (its own always).
FLOORS = {
    # Ranks of one machine reduce in shared memory, by kernels that know arrays and flags only.
    "communication": {"_ext"},
    "launch": {"_ext.openmp", "common.by_value"},  # a container's quota of CPUs; a function goes to the ranks
    "_ext": set(),
    # The gate of operations is compiled, and so is what it reads of a tensor; initializers draw by kernels.
    "common": {"_ext.tape", "_ext.initial_numbers", "_ext.draws"},
    "autograd": {"common", "_ext.tape"},
    "ops": {"common", "autograd", "_ext"},
    "parallel": {"common", "communication", "_ext"},
    "collectives": {"common", "ops", "communication"},
    "nn": {"common", "autograd", "ops", "_ext", "communication", "parallel", "collectives"},
    "dataset": {"common", "communication", "_ext", "mindrecord"},
    "train": {
        *("common", "autograd", "ops", "_ext", "communication", "parallel", "nn", "dataset", "amp", "elastic"),
        *("interruption", "onnx", "mindir", "boost", "profiler"),
    },
    "exporting": {"common", "autograd", "parallel"},
    "onnx": {"common", "exporting"},
    "mindir": {"common", "ops", "nn", "exporting"},
    "amp": {"common", "autograd", "ops", "_ext", "nn", "boost"},
    # Weights of checkpoints are read.
    "boost": {"common", "autograd", "ops", "communication", "parallel", "nn", "train.serialization"},
    "numpy": {"common", "ops"},
    "mint": {"common", "ops", "communication", "collectives", "nn", "experimental"},
    "mindrecord": {"common", "log", "_ext.checksums", "_ext.narrow_integers"},
    "runtime": {"common", "_ext"},
    "scipy": {"common", "autograd", "ops"},
    # A run is traced over all ranks, with its memory.
    "profiler": {"common", "ops", "nn", "communication", "_ext.memory", "_ext.threads"},
    "rewrite": {"common", "ops", "nn"},
    "compat": {"common", "communication", "autograd", "ops", "nn", "launch.msrun"},
    "experimental": {"common", "autograd", "nn"},
    "graph": {"common"},
}
# MindSpore's doors to functions that live a floor above; nn's is to metrics, which load when used.
DOORS = {"communication/comm_func.py", "ops/communication.py", "nn/__init__.py", "parallel/nn.py"}
PLAN_FLAGS = ("layerwise_parallel", "is_param_ps", "sliced")
# Besides the plan: where a flag is stored, set or asked for by MindSpore's own API.
FLAG_READERS = {
    "common/parameter/flags.py",
    "common/parameter/parameter.py",
    "common/tensor/slices.py",
    "parallel/plan.py",
}
CROWD = 20  # source files of a folder, at one level
SOURCES = {".py", ".pyx", ".pxd", ".pxi", ".h", ".c"}


def sources():
    for folder, name in ((PACKAGE, ""), (ROOT / "launch", "launch"), (ROOT / "_ext", "_ext")):
        for path in sorted(folder.rglob("*.py")):
            relative = path.relative_to(folder).as_posix()
            yield path, f"{name}/{relative}" if name else relative


def imported(path, for_types=True):
    """Modules that a file imports, also inside functions; relative imports are not used in the project.

    Without `for_types` those are left out that only type checkers see.
    """
    if path.suffix != ".py":
        yield from re.findall(r"^\s*(?:from|import|cimport)\s+([\w.]+)", path.read_text(), re.MULTILINE)
        return
    tree = ast.parse(path.read_text())
    if not for_types:
        tree.body = [n for n in tree.body if not (isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test))]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                yield item.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            for item in node.names:
                yield f"{node.module}.{item.name}"


def test_each_floor_imports_only_what_lies_below():
    wrong = []
    seen = set()
    idle = {(floor, name) for floor, names in FLOORS.items() for name in names}
    for path, relative in sources():
        floor = relative.split("/")[0]
        if floor not in FLOORS or relative in DOORS:
            continue
        seen.add(floor)
        for module in imported(path):
            if not module.startswith("dist_ms."):
                continue
            below = module[len("dist_ms.") :]
            allowed = {floor, *FLOORS[floor]}
            if not any(below == a or below.startswith(a + ".") or a.startswith(below + ".") for a in allowed):
                wrong.append(f"{relative}: {module}")
            idle -= {(floor, name) for name in FLOORS[floor] if below == name or below.startswith(name + ".")}
    assert seen == set(FLOORS)
    assert not idle, "The table lets a floor import what it does not."
    assert seen == {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} | {"launch", "_ext"}
    assert not wrong, "\n".join(wrong)


def test_kernels_import_nothing_of_dist_ms_but_each_other():
    files = [path for path in (ROOT / "_ext").rglob("*") if path.suffix in {".pyx", ".pxd", ".pxi"}]
    wrong = {p.name: m for p in files for m in imported(p) if m.split(".")[0] == "dist_ms" and "_ext" not in m}
    assert files and not wrong


def test_mpi4py_stands_behind_one_door():
    users = {relative for path, relative in sources() if any(m.split(".")[0] == "mpi4py" for m in imported(path))}
    assert users == {"communication/mpi.py"}


def test_only_the_plan_reads_its_flags():
    wrong = []
    for path, relative in sources():
        if relative in FLAG_READERS or relative.startswith("launch/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in PLAN_FLAGS and isinstance(node.ctx, ast.Load):
                wrong.append(f"{relative}:{node.lineno} reads {node.attr}")
    # Cell.parameters_broadcast_dict is MindSpore's API; optimizer states inherit their parameter's flag.
    allowed = {"nn/cell/cell.py", "nn/optim/optimizer.py"}
    wrong = [w for w in wrong if w.split(":")[0] not in allowed]
    assert not wrong, "\n".join(wrong)


def test_files_are_small():
    kernels = (path for path in (ROOT / "_ext").rglob("*") if path.suffix in {".pyx", ".pxd", ".pxi", ".h"})
    paths = [*(path for path, _ in sources()), *kernels]
    assert len(paths) > 800
    assert not {path: n for path in paths if (n := len(path.read_text().splitlines())) > 500}


def folders(root):
    """The folders that have files of their own or hold such folders, but for what is built."""
    for path in sorted(root.iterdir()):
        built = path.name == "__pycache__" or path.name.startswith(".")
        if path.is_dir() and not built and any(p.suffix not in {".so", ".pyc"} for p in path.rglob("*") if p.is_file()):
            yield path


def test_folders_are_small():
    waiting = [ROOT / "_ext", PACKAGE, ROOT / "launch", ROOT / "tests"]
    crowded = {}
    while waiting:
        folder = waiting.pop()
        waiting += folders(folder)
        # What Cython makes is not counted.
        n = sum(
            p.suffix in SOURCES and not (p.suffix == ".c" and p.with_suffix(".pyx").exists()) for p in folder.iterdir()
        )
        if n > CROWD:
            crowded[folder.relative_to(ROOT).as_posix()] = n
    assert not crowded


def test_folders_to_which_files_are_added_have_room():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"a file in `(dist_ms/[\w/]+)`", text)
    full = [folder for folder in named if len([*(ROOT / folder).glob("*.py")]) >= CROWD]
    assert len(named) >= 3
    assert not full, "One more file, as CONTRIBUTING.md asks for, would be too many."


def test_the_design_shows_the_folders_that_exist():
    tree = re.search(r"```\n(_ext/.*?)```", (ROOT / "docs/design.md").read_text(), re.DOTALL)[1]
    shown, roots, top, package = [], [], "", ""
    for line in tree.splitlines():
        indent = len(line) - len(line.lstrip())
        names = re.findall(r"(?<![\w/.])(\w+)/(?![\w/])", line)
        if indent == 0:
            top, package = names[0], ""
            roots.append(top)
        elif indent == 2 and top != "_ext":
            package = f"{names[0]}/"
            shown.append(f"{top}/{names[0]}")
        else:
            shown += [f"{top}/{package}{name}" for name in names]
    there = []
    for root in roots:
        for folder in folders(ROOT / root):
            there.append(folder.relative_to(ROOT).as_posix())
            if root in ("dist_ms", "tests"):
                there += [below.relative_to(ROOT).as_posix() for below in folders(folder)]
    assert sorted(shown) == sorted(there)
    assert len(shown) > 100


@pytest.mark.parametrize("page", ["docs/design.md", "CONTRIBUTING.md"])
def test_pages_name_files_and_folders_that_exist(page):
    """A path stands whole, from `dist_ms` or from the root; a bare name is of a folder that its paragraph names."""
    wrong, seen = [], 0
    for paragraph in re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL).split("\n\n"):
        rooms = [PACKAGE, ROOT]
        for name in re.findall(r"`([\w./]+)`", paragraph):
            bare = re.fullmatch(r"\w+\.(py|pyx|pxi|pxd|h|c)", name)
            if bare is None and not re.fullmatch(r"[\w.]+/[\w./]*", name):
                continue
            seen += 1
            found = [room / name for room in reversed(rooms) if (room / name).exists()]
            if not found:
                wrong.append(name)
            elif bare is None:
                rooms.append(found[0] if found[0].is_dir() else found[0].parent)
    assert seen > 10
    assert not wrong


def test_names_say_what_a_file_is_about():
    vague = re.compile(r"(^|_)(utils?|helpers?|manager|impl|misc)(_|\.py$)")
    assert [r for _, r in sources() if vague.search(Path(r).name)] == []


@pytest.mark.parametrize(
    "module",
    "mpi4py matplotlib rich google.protobuf cryptography sklearn dist_ms._ext.dnnl safetensors scipy numpy.random "
    "hashlib tempfile json dist_ms.ops.convolutions dist_ms.ops.layers.layer_norm dist_ms.autograd.grad".split(),
)
def test_importing_dist_ms_does_not_load(module):
    code = f"import sys, dist_ms; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Of the standard library functions import what is seldom needed and takes long to load.
LATE_STANDARD = {"difflib", "hashlib", "importlib.metadata"}
LOADED = """
import importlib, os, sys
import dist_ms
for line in sys.stdin:
    file, *wanted = line.split()
    if os.fork() == 0:
        importlib.import_module(file)
        for module, name in (w.split(":") for w in wanted):
            if module in sys.modules and (not name or name in vars(sys.modules[module])):
                print(file, module, name, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, file
"""


def test_functions_import_only_what_their_file_does_not_load():
    """All else stands at the top: an import inside a function keeps something from loading."""
    wanted = {module_name(relative): set(inside_functions(path)) for path, relative in sources()}
    standard = {m for found in wanted.values() for m, _ in found if m.split(".")[0] in sys.stdlib_module_names}
    assert standard == LATE_STANDARD
    lines = [
        f"{file} {' '.join(f'{m}:{name}' for m, name in sorted(found) if m not in standard)}\n"
        for file, found in wanted.items()
        if found
    ]
    assert len(lines) > 40
    found = subprocess.run(
        [sys.executable, "-c", LOADED], input="".join(lines), text=True, capture_output=True, check=True
    )
    assert found.stdout == ""


def inside_functions(path):
    """(module, name) of what a file's functions import; the name is "" where a module is."""
    functions = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef))
    for node in (n for function in functions for n in ast.walk(function)):
        if isinstance(node, ast.Import):
            yield from ((item.name, "") for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, item.name) for item in node.names)


def test_no_files_import_each_other_in_a_circle():
    assert circles(import_graph()) == []


def import_graph():
    """The files that each file imports, in functions too, but for type checkers; a package's names are their files'.

    Files of `ops` write gradients in terms of `ops` itself, which has them all by the time one is computed.
    """
    files = {module_name(relative): path for path, relative in sources() if path.name != "__init__.py"}
    return {
        name: {o for m in imported(path, for_types=False) if (o := owner(m, files)) in files and o != name}
        for name, path in files.items()
    }


def module_name(relative):
    return ("dist_ms." + relative.removesuffix(".py").replace("/", ".")).removesuffix(".__init__")


def owner(name, files):
    """The file of what is imported as `name`, a file or a name of one; what a package shows is its files'."""
    module, _, last = name.rpartition(".")
    found = shown().get(module, {}).get(last)
    if name in files or not module:
        return name
    return owner(found, files) if found not in (None, name) else module


@cache
def shown():
    """The names that each package shows of its files."""
    packages = {module_name(r): path for path, r in sources() if path.name == "__init__.py"}
    found = {}
    for package, path in packages.items():
        names = found[package] = {}
        for node in ast.walk(ast.parse(path.read_text())):
            for item in node.names if isinstance(node, ast.ImportFrom) else ():
                if item.name == "*":
                    file = PACKAGE.parent / (node.module.replace(".", "/") + ".py")
                    names |= {name: f"{node.module}.{name}" for name in (names_in(file) if file.exists() else ())}
                else:
                    names[item.asname or item.name] = f"{node.module}.{item.name}"
    return found


def circles(graph):
    """The strongly connected parts of a graph that have several nodes."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(set(part))

    for node in graph:
        if node not in order:
            visit(node)
    return found


def test_the_search_for_circles_finds_one():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]


def test_checks_take_the_value_its_name_and_its_owner_in_this_order():
    wrong = []
    for path, relative in sources():
        # `compat` has MindSpore's own signatures.
        if relative.startswith("compat/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                names = [a.arg for a in node.args.args if a.arg not in ("self", "cls")]
                named = "owner" in names and {"name", "argument"} & {*names} and node.name != "__set_name__"
                if named and " ".join(names).find("name owner") < 0:
                    wrong.append(f"{relative}:{node.lineno} {node.name}({', '.join(names)})")
    assert not wrong, "\n".join(wrong)
