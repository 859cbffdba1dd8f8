"""The examples run alone and on ranks, unedited, and print what their users read."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIST_MS = Path(sys.executable).with_name("dist-ms")
ALONE = [sys.executable]
LAUNCHED = {n: [str(DIST_MS), "run", "-n", str(n)] for n in (1, 2, 3)}


def run(command, cwd, seconds=180):
    return subprocess.run(
        [str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=seconds, check=False
    )


@pytest.mark.parametrize("start", [ALONE, LAUNCHED[2], LAUNCHED[3]], ids=["python", "2 ranks", "3 ranks"])
def test_train_digits(start, tmp_path):
    done = run([*start, ROOT / "examples/train_digits.py", "--epochs", 3], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^test accuracy (\d+\.\d+)% on (\d) rank\(s\)", done.stdout, re.M)
    assert len(found) == 1, done.stdout
    accuracy, ranks = found[0]
    assert float(accuracy) > 90 and int(ranks) == (1 if start is ALONE else int(start[-1]))
    assert (tmp_path / "digits.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (tmp_path / "digits.ckpt").stat().st_size > 100_000
    assert len(re.findall(r"^epoch 3/3 ", done.stdout, re.M)) == 1  # one rank prints


def test_the_example_is_short():
    assert len((ROOT / "examples/train_digits.py").read_text().splitlines()) < 80
