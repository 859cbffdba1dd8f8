"""The Python code of pages in docs/ runs, block after block."""

import importlib.util
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import dist_ms as ms

DOCS = Path(__file__).parents[3] / "docs"


def run(page):
    """The names that the blocks of a page leave behind."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    names = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
    return names


def loaded(path):
    """A module of a file outside of packages."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def as_it_was(tmp_path, monkeypatch):
    """An empty folder for the files of a page, and the contexts of before behind it."""
    monkeypatch.chdir(tmp_path)
    yield
    ms.reset_auto_parallel_context()
    ms.reset_ps_context()


@pytest.mark.parametrize("name", ["from_pytorch", "from_horovod"])
def test_migration(name):
    losses = run(DOCS / f"{name}.md")["losses"]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name", ["from_mindspore", "performance"])
def test_page(name):
    run(DOCS / f"{name}.md")


def test_home():
    run(DOCS / "index.md")


def test_the_home_page_s_figures_stand_where_they_were_measured():
    rows = re.findall(r"\(\[\w+\]\((\w+\.md)\)\) \| ([\d.]+) \|", (DOCS / "index.md").read_text())
    assert len(rows) == 6
    for page, figure in rows:
        assert re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.]\d)", (DOCS / page).read_text()), (page, figure)


@pytest.mark.parametrize(
    "name",
    sorted(page.stem for page in (DOCS / "tutorials").glob("*.md")),
)
def test_tutorial(name):
    run(DOCS / "tutorials" / f"{name}.md")


def test_contributing():
    page = DOCS.parent / "CONTRIBUTING.md"
    run(page)
    text = page.read_text()
    paths = {
        found
        for found in re.findall(r"[\w./_-]+", text)
        if re.match(r"(dist_ms|tests|docs|_ext|\.ci|examples)/", found)
    }
    assert len(paths) > 20
    assert [path for path in paths if not (DOCS.parent / path.rstrip(".")).exists()] == []
    targets = re.findall(r"^([\w-]+):", (DOCS.parent / "Makefile").read_text(), re.MULTILINE)
    assert {*re.findall(r"(?:    |`)make ([\w-]+)", text)} - {*targets} == set()


def test_the_version_stands_in_two_places():
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
    assert project["version"] == ms.__version__


def test_the_gallery_has_every_example():
    page = (DOCS / "gallery.md").read_text()
    for example in [*(DOCS.parent / "examples").glob("*.py"), *(DOCS.parent / "examples").glob("*.ipynb")]:
        assert f"[{example.name}](../examples/{example.name})" in page


@pytest.mark.parametrize("name", ["shards", "step", "buckets"])
def test_the_script_draws_what_the_pages_show(name):
    drawings = loaded(DOCS / "pictures/drawings.py")
    getattr(drawings, name)().write(Path("drawn.svg"))
    assert Path("drawn.svg").read_text() == (DOCS / f"pictures/{name}.svg").read_text()
    assert f"pictures/{name}.svg" in (DOCS / "tutorials/data_parallel.md").read_text()


@pytest.mark.parametrize(("name", "pairs"), [("from_pytorch", 2), ("from_horovod", 1)])
def test_another_framework_s_code_stands_beside_ours(name, pairs):
    hook = loaded(DOCS / "site/pages.py")
    page = SimpleNamespace(file=SimpleNamespace(src_uri=f"{name}.md"))
    made = hook.on_page_markdown((DOCS / f"{name}.md").read_text(), page)
    found = re.findall(
        r'<div class="beside" markdown>\n<div markdown>\n\n(.*?)</div>\n<div markdown>(.*?)</div>', made, re.S
    )
    assert len(found) == pairs
    assert all("```python" in theirs and "\nHere" in ours and "dist_ms" not in theirs for theirs, ours in found)


def test_formulas_of_docstrings_become_mathml():
    for package in ("griffe", "latex2mathml"):  # of the extra `docs`
        pytest.importorskip(package)
    formulas = loaded(DOCS / "site/formulas.py")
    made = formulas.with_mathml(ms.nn.CosineDecayLR.__doc__)
    assert made.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') == 1
    assert "math::" not in made and "\n    Source: Loshchilov" in made
    made = formulas.with_mathml(ms.nn.ExponentialDecayLR.__doc__)
    assert made.count("<span><math ") == 2 and ":math:" not in made
