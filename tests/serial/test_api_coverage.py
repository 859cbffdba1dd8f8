"""docs/api_coverage.py: which state a name has, by facts on classes and functions."""

import ast
import importlib.util
from pathlib import Path

import pytest

import dist_ms as ms
from dist_ms import compat, dataset, mint, nn, ops, runtime
from dist_ms.dataset import vision

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("api_coverage", ROOT / "docs" / "api_coverage.py")
coverage = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(coverage)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (dataset, "OBSMindDataset"),
        (vision, "DecodeVideo"),
        (nn, "OptTFTWrapper"),
        (nn.Cell, "offload"),
        (ops, "NPUGetFloatStatus"),
        (runtime, "MemPool"),
        (runtime, "use_mem_pool"),
    ],
)
def test_what_can_only_raise_is_refused(owner, name):
    assert coverage.verdict(name, ["a", "b"], owner)[0] == "refused"


def test_the_other_states():
    assert coverage.verdict("Dense", ["in_channels", "out_channels"], nn) == ("same", "")
    assert coverage.verdict("Dense", ["in_channels", "color"], nn) == ("differs", "parameters not taken by name: color")
    assert coverage.verdict("amax", ["self", "axis"], ms.Tensor) == ("same", "")
    assert coverage.verdict("amax", ["color"], ms.Tensor)[0] == "differs"
    assert coverage.verdict("NoSuchName", None, nn)[0] == coverage.verdict("relu", None, None)[0] == "absent"


def test_what_is_not_there_has_its_reason():
    assert "rewrite.SymbolTree" in coverage.verdict("Node", None, None, "rewrite.node")[1]
    assert "over ranks" in coverage.verdict("infer_train_layout", None, None, "parallel")[1]
    assert coverage.why_absent("NoSuchName") == "not built yet"
    assert coverage.verdict("export_split_mindir", None, ms)[1].startswith("dist_ms does not cut operators")
    assert coverage.verdict("pin_memory", None, ms.Tensor)[1].endswith("MindSpore raises an error on a CPU, too.")
    assert not coverage.verdict("export_split_mindir", None, ms)[1].endswith("too.")


def test_an_object_of_several_paths_counts_once_whatever_dist_ms_has_for_it():
    """`nn.Dropout` and `mint.nn.Dropout` are two classes here, MindSpore might have one."""
    compat.install()
    wanted = (1, ["p"])
    listing = {
        "nn": {"Dropout": wanted},
        "mint.nn": {"Dropout": wanted, "ReLU": (2, None)},
        "no.such": {"ReLU": (2, None)},
    }
    summary, tables = coverage.compare(listing)
    assert mint.nn.Dropout is not nn.Dropout
    assert summary == [
        "| nn | 1 | 1 | 0 | 0 | 0 |",
        "| mint.nn | 1 | 1 | 0 | 0 | 0 |",
        "| no.such | 1 | 0 | 0 | 0 | 1 |",  # absent there, so it counts once more
    ]
    assert tables == ["## no.such\n\nNot there (not built yet): `ReLU`.\n"]
    assert coverage.share_missing(summary) == "Of 3 names, 1 are absent and 0 refused: 33.3 %."


def only_raises(function):
    if function.args.args[:1] and function.args.args[0].arg == "self" and function.name not in ("__new__", "__init__"):
        return False  # a method that stands outside of its class, for subclasses to override
    returns = any(isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom)) for n in ast.walk(function))
    return isinstance(function.body[-1], ast.Raise) and not returns


def test_public_functions_and_constructors_that_only_raise_say_so():
    """The annotation `NoReturn` is what the page goes by."""
    found, silent = 0, []
    for path in (ROOT / "dist_ms").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            makers = [m for m in getattr(node, "body", ()) if getattr(m, "name", "") in ("__new__", "__init__")]
            for function in [node] if isinstance(node, ast.FunctionDef) else makers:
                if only_raises(function) and not (node.name.startswith("_") and function is node):
                    found += 1
                    if ast.unparse(function.returns) != "NoReturn":
                        silent.append(f"{path.name}: {node.name}")
    assert found >= 4
    assert not silent


def test_the_page_has_the_small_modules_too():
    page = (ROOT / "docs" / "api-coverage.md").read_text()
    for module in ("dataset.text", "dataset.audio", "nn.probability.bijector", "numpy.fft", "scipy.fft", "parallel.nn"):
        assert f"| {module} | " in page
    assert "| methods of Tensor | " in page
    refused = [line for line in page.splitlines() if "| `OBSMindDataset` |" in line]
    assert refused and all("| refused |" in line for line in refused)
