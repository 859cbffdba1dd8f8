"""The code of docs/from_pytorch.md runs, block after block."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "from_pytorch.md"


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 4
    names = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["losses"][-1] < names["losses"][0]
