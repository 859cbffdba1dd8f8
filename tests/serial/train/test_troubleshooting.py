"""The messages that docs/troubleshooting.md quotes are those of the source."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = ("dist_ms/communication", "dist_ms/parallel", "dist_ms/nn/wrap", "dist_ms/train", "dist_ms/dataset", "launch")


def texts(file):
    """The texts of a file; `...` stands for what an f-string fills in."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.JoinedStr):
            parts = [str(v.value) if isinstance(v, ast.Constant) else "..." for v in node.values]
            yield " ".join("".join(parts).split())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())


def test_quoted_messages():
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    quoted = re.findall(r"```text\n(.*?)\n```", page, re.DOTALL)
    assert len(quoted) >= 25
    source = "\n".join(text for name in FOLDERS for file in (ROOT / name).rglob("*.py") for text in texts(file))
    patterns = (r".*?".join(re.escape(part) for part in " ".join(q.split()).split("...")) for q in quoted)
    assert [q for q, pattern in zip(quoted, patterns, strict=True) if not re.search(pattern, source)] == []
