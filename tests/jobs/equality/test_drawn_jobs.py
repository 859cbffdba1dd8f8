"""Drawn models, optimizers, loops and settings on several machines: ranks end with the same bits, as one process."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.jobs.start.test_hosts import job

SCRIPT = str(Path(__file__).with_name("drawn_job.py"))
# Seeds of different loops, optimizers and settings and the ranks of each machine.
SEEDS = {10: (2, 1), 14: (1, 1), 15: (1, 1, 1), 18: (1, 2), 20: (1, 1)}


@pytest.mark.parametrize(("seed", "slots"), SEEDS.items(), ids=str)
def test_all_ranks_end_equal_and_as_one_process(hosts, tmp_path, seed, slots):
    ranks = sum(slots)
    where = (SCRIPT, str(seed), str(ranks), str(tmp_path))
    together = job(hosts.mpirun(ranks, slots), *where, DIST_MS_TIMEOUT="60")
    assert together.returncode == 0, together.stderr
    alone = job([], *where)
    assert alone.returncode == 0, alone.stderr
    settings = json.loads((tmp_path / "settings.json").read_text())
    want, *found = (np.load(tmp_path / f"{name}.npz") for name in ("alone", *(f"rank_{r}" for r in range(ranks))))
    for name in want.files:
        if settings["own"] and name == "last.bias":
            continue
        first = found[0][name]
        assert np.isfinite(first.astype(np.float32)).all(), (name, settings)
        assert all((other[name] == first).all() for other in found[1:]), (name, settings)
        if settings["exact"]:
            error = np.abs(first - want[name]).max() / max(np.abs(want[name]).max(), 1e-3)
            assert error <= 2e-6, (name, error, settings)
