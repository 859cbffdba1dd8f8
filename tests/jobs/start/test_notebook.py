"""The notebook: what it keeps was executed, and it executes."""

import json
import re
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[3] / "examples/digits.ipynb"


def texts(cells):
    """What code cells printed and returned as text."""
    outputs = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
    return "".join("".join(output.get("text") or output["data"]["text/plain"]) for output in outputs)


def looked_at(cells):
    text = texts(cells)
    assert len(re.findall(r"dist-ms: .* steps on 2 ranks", text)) == 1
    streams = {output.get("name") for cell in cells for output in cell.get("outputs", ())} - {None}
    assert streams == {"stdout"}  # what is on stderr looks like a fault
    assert "trained weights of both ranks equal" in text
    assert len(re.findall(r"epoch \d/3 .* samples/s", text)) == 6
    *_, own, on_ranks, loaded = (float(found) for found in re.findall(r"accuracy ([\d.]+)(?:%| )", text))
    assert own >= 0.9
    assert min(on_ranks, loaded) >= 90
    pictures = sum("image/png" in output.get("data", ()) for cell in cells for output in cell.get("outputs", ()))
    assert pictures == 4


def test_what_it_keeps_was_executed():
    book = json.loads(NOTEBOOK.read_text())
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert str(Path.home()) not in NOTEBOOK.read_text()
    looked_at(book["cells"])


def test_it_executes(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.read(NOTEBOOK, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    looked_at(book.cells)
    assert (tmp_path / "digits.ckpt").stat().st_size > 500_000
