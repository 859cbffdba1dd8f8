"""Bounded staleness and asynchronous updates: bounds hold, they are reported, and a run can be replayed."""

import ast
from pathlib import Path

import numpy as np
import pytest

from dist_ms.parallel.servers.log import replay

MODEL = Path(__file__).with_name("served_model.py").read_text()
REPORT = """    from dist_ms.communication import get_comm
    get_comm().barrier()
    if rank == 0 and size > 1:
        from dist_ms.parallel.servers.client import client
        client().refresh()
        print("REPORT", repr(client().report()).replace("inf", "1e999"))
    if rank == 0:
"""
SLOW = """        if rank == 1:
            import time
            time.sleep(0.05)
        part ="""


def train(run, *words, slow=True, **env):
    code = MODEL.replace("    if rank == 0:\n", REPORT).replace(
        "steps=20", "steps=40").replace("        part =", SLOW if slow else "        part =")  # fmt: skip
    done = run(code, "Adam", "out.npz", *words, options=("--servers", "2"), OMP_NUM_THREADS="1", **env)
    assert done.code == 0, done.err
    return done, ast.literal_eval(done.out.split("REPORT ")[1].splitlines()[0])


@pytest.mark.parametrize("staleness", [0, 2])
def test_no_worker_works_with_older_values_than_the_bound(run, staleness):
    done, report = train(run, f"staleness={staleness}", "mode=''", "served=('emb','fc1','fc2')")
    assert len(report) == 4  # a table and the dense tensors, each on two servers
    for row in report:
        assert max(row["stale"]) <= staleness and sum(row["stale"].values()) == 2 * row["updates"]
        assert row["late"][1] > 2 * row["late"][0]  # worker 1 is the straggler; cores may be busy
    assert " % for worker 1 at the servers" in done.err
    if staleness:
        assert any(max(row["stale"]) > 0 for row in report)


def test_a_straggler_is_named_while_others_wait(run):
    code = MODEL.replace("        part =", "        if i_ == 3 and rank == 1:\n            import time\n"
                         "            time.sleep(7)\n        i_ += 1\n        part =")  # fmt: skip
    code = code.replace(
        "    for batch in itertools.islice(batches(steps), first, None):",
        "    i_ = 0\n    for batch in itertools.islice(batches(steps), first, None):",
    )
    done = run(code, "SGD", "out.npz", "mode=''", "served=('emb','fc1','fc2')", options=("--servers", "1"))
    assert done.code == 0, done.err
    assert (
        "worker 1 has not pushed update 4 of 'fc1.weight + fc1.bias + fc2.weight + fc2.bias'; worker 0 has waited"
        in done.err
    )


def test_an_asynchronous_run_is_replayed_to_the_same_bits(run, tmp_path):
    _, report = train(
        run,
        "staleness=inf",
        "mode=''",
        "served=('emb','fc1','fc2')",
        slow=False,
        DIST_MS_UPDATE_LOG=str(tmp_path / "log"),
    )
    assert all(row["updates"] == 80 for row in report if row["updates"])
    with np.load(tmp_path / "out.npz") as found:
        table, fc2 = found["emb.embedding_table"], found["fc2.weight"]
    for server in range(2):
        unit = replay(tmp_path / "log" / f"server{server}_unit0.log")
        assert unit.version == 80
        np.testing.assert_array_equal(unit.shard.rows, table[server::2])
        dense = replay(tmp_path / "log" / f"server{server}_unit1.log")
        for parameter in dense.shard.parameters:
            if parameter.name == "fc2.weight":
                np.testing.assert_array_equal(parameter.asnumpy(), fc2)
