"""The code of docs/export.md runs, block after block."""

import re
from pathlib import Path

import pytest

from tests.serial.onnx.exported import runtime

PAGE = Path(__file__).parents[3] / "docs" / "export.md"


@pytest.mark.filterwarnings("ignore")  # the tool's own
def test_the_page(tmp_path, monkeypatch):
    assert runtime
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 8
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert (tmp_path / "digits-int8.onnx").stat().st_size < 0.5 * (tmp_path / "digits.onnx").stat().st_size
