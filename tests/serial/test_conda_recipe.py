"""conda's recipe asks for what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "examples/cluster/conda/recipe.yaml").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# conda has these from packages of its own: one library, one MPI.
OTHERS = {"onednn-cpu-omp", "openmpi", "_openmp_mutex", "python", "pip"}


def wanted(section):
    """The packages of a section of requirements, with their bounds."""
    listed = re.search(rf"^  {section}:\n((?:    .*\n)+)", RECIPE, re.MULTILINE).group(1)
    rows = re.findall(r"^    - ([\w-]+) ?(.*)$", listed, re.MULTILINE)
    return dict(rows)


def split(requirements):
    """The names and bounds of pyproject.toml's requirements, oneDNN left out."""
    pairs = (re.fullmatch(r"([\w-]+)(.*)", text).groups() for text in requirements)
    return {name: bound for name, bound in pairs if not name.startswith("onednn")}


@pytest.mark.parametrize(
    ("section", "requirements"),
    [("run", PROJECT["project"]["dependencies"]), ("host", PROJECT["build-system"]["requires"])],
)
def test_packages(section, requirements):
    found = wanted(section)
    assert {name: bound for name, bound in found.items() if name not in OTHERS} == split(requirements)
    assert found["python"] == PROJECT["project"]["requires-python"]


def test_one_onednn_and_its_threads():
    release = next(text for text in PROJECT["project"]["dependencies"] if text.startswith("onednn"))
    assert release.endswith("==2023.2.0")  # which is oneDNN 3.2
    assert wanted("host")["onednn-cpu-omp"] == wanted("run")["onednn-cpu-omp"] == "3.2.*"
    assert wanted("run")["_openmp_mutex"].endswith("_gnu")
    assert f">={wanted('run')['openmpi'][2:]}" in PROJECT["project"]["optional-dependencies"]["mpi"][0]


def test_name_version_and_command():
    project = PROJECT["project"]
    assert f'  version: "{project["version"]}"\n' in RECIPE and f"  name: {project['name']}\n" in RECIPE
    assert f"      - dist-ms = {project['scripts']['dist-ms']}\n" in RECIPE
    assert f"  summary: {project['description']}\n" in RECIPE
