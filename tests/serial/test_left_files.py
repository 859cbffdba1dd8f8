"""Doctests leave nothing outside of pytest's own folder, which pytest cleans up."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_examples_leave_no_files(tmp_path):
    example = ROOT / "dist_ms/train/serialization.py"
    assert "mkdtemp()" in example.read_text()
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(example)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    subprocess.run(words, cwd=ROOT, env={**env, "TMPDIR": str(tmp_path)}, timeout=120, check=True)
    assert [name.partition("-of-")[0] for name in os.listdir(tmp_path)] == ["pytest"]
