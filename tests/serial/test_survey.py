"""The survey of benchmarks/bench_kernels.py: its tables, its side of dist_ms, and what it makes of times."""

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
survey = pytest.importorskip("survey")
from survey import comparison, sides  # noqa: E402


def test_rows_have_names_of_their_own():
    names = [row.name for row in survey.rows()]
    assert len(names) == len(set(names))
    for family in survey.FAMILIES:
        assert sum(name.startswith(f"{family}: ") for name in names) >= 70
    operations = {row.numbers["text"] for row in survey.rows(("operations",))}
    assert len(operations) >= 202
    layers = {row.numbers["text"] for row in survey.rows(("layers",))}
    assert len(layers) >= 40


def test_rows_can_be_chosen():
    found = list(survey.rows(("operations", "products"), "T.matmul", ("bfloat16",)))
    assert {row.dtype for row in found} == {"bfloat16"}
    assert all("T.matmul" in row.name for row in found)
    assert {row.name.split(":")[0] for row in found} == {"operations", "products"}


@pytest.mark.parametrize(
    "name",
    (
        "operations: T.exp(x) float32",
        "operations: T.atan2(x, y) float32, with gradient of x and y",
        "layers: nn.BatchNorm1d(512) of 256x512 bfloat16, with gradients",
        "convolutions: (64, 6, 12, 12) to 16, kernel 5, stride 1, padding 0, dilation 1, groups 1 float32",
        "pooling: F.avg_pool2d(x, 7) normal 32x512x7x7 float32, with gradient of x",
        "products: F.linear(x, w, b) normal 32x784 normal 128x784 normal 128 float32, with gradient of w and b",
    ),
)
def test_a_row_of_each_family_runs(name):
    (row,) = [row for row in survey.rows() if row.name == name]
    result = getattr(sides.Ours(1), row.kind)(row.numbers, row.dtype)()
    assert result is not None


def test_summary():
    def figures(name, ours, theirs):
        return comparison.Figures(name, (ours, 2 * ours), (theirs, theirs), "")

    found = [figures("slow", 4.0, 1.0), figures("middling", 4.0, 3.0), figures("fast", 1.0, 8.0)]
    found.append(comparison.Figures("unknown", None, (1.0, 1.0), "ours refused: no"))
    lines = comparison.summary(found).splitlines()
    assert lines[0] == f"3 cases compared: geometric mean {math.cbrt(0.25 * 0.75 * 8):.2f}, 2 below 0.8, 1 below 0.5"
    assert [line.split()[-1] for line in lines[1:3]] == ["slow", "middling"]
    assert lines[3:] == ["1 cases that a side refused:", "  unknown: ours refused: no"]
