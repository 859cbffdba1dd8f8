"""Four ranks train like one process, with every optimizer, overlap on and off; bits in virtual shards as well."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.jobs.conftest import MPIRUN, command, environment

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(MPIRUN is None, reason="there is no mpirun")
@pytest.mark.parametrize(
    ("file", "chosen"),
    [("test_equivalence.py", "with_and_without_overlap"), ("test_virtual_shards.py", "Adam or environment")],
)
def test_four_ranks(file, chosen):
    words = command("mpirun", 4, "-m")[:-2]
    tests = [
        "-m",
        "pytest",
        "-q",
        "-x",
        "--with-mpi",
        "-p",
        "no:cacheprovider",
        f"tests/mpi/parallel/{file}",
        "-k",
        chosen,
    ]
    env = environment(OMP_NUM_THREADS="1")
    done = subprocess.run(
        [*words, sys.executable, *tests], capture_output=True, timeout=300, env=env, cwd=ROOT, check=False
    )
    text = done.stdout.decode(errors="replace")
    assert done.returncode == 0, text[-5000:]
    assert text.count(" passed") == 4 and "skipped" not in text, text[-5000:]
