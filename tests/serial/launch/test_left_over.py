"""What a killed mpirun left: ranks are ended, and the files of all ranks of their job go with them."""

import mmap
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from dist_ms.launch.running.left_over import end_left_over

MEMORY = Path("/dev/shm")


@pytest.mark.skipif(not os.access(MEMORY, os.W_OK), reason="no shared memory")
def test_the_files_of_ranks_that_ended_before_go_too(monkeypatch):
    """Of mpirun 22874 on a machine `vm`, whose job Open MPI 5 gave the number afa70001."""
    monkeypatch.setattr("platform.node", lambda: "vm.cluster.org")
    name, user = uuid.uuid4().hex, os.geteuid()
    files = [MEMORY / f"sm_segment.{name}.{user}.afa70001.{rank}" for rank in range(3)]
    others = [MEMORY / f"sm_segment.{name}.{user + 1}.afa70001.0", MEMORY / f"sm_segment.{name}.{user}.afa80001.0"]
    for file in (*files, *others):
        file.write_bytes(bytes(mmap.PAGESIZE))
    code = f"import mmap, time; f = open({str(files[0])!r}, 'r+b'); m = mmap.mmap(f.fileno(), 0); print(1, flush=True)"
    code += "; time.sleep(60)"
    try:
        with subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "LEFT": name}, stdout=subprocess.PIPE
        ) as rank:
            assert rank.stdout.readline() == b"1\n"
            assert end_left_over(f"LEFT={name}", 22874) == 1
            assert rank.wait(10) < 0
        assert [file.exists() for file in files] == [False] * 3
        assert all(file.exists() for file in others)
    finally:
        for file in (*files, *others):
            file.unlink(missing_ok=True)


def test_who_was_killed_is_gone_even_where_its_core_is_taken():
    name, core = uuid.uuid4().hex, min(os.sched_getaffinity(0))
    pinned = f"import os, time; os.sched_setaffinity(0, [{core}])"
    rank, busy = (
        subprocess.Popen([sys.executable, "-c", f"{pinned}; {code}"], env=env, stdout=subprocess.PIPE)
        for code, env in (
            ("os.nice(19); print(1, flush=True); time.sleep(60)", {**os.environ, "LEFT": name}),
            ("print(1, flush=True)\nwhile True: pass", None),
        )
    )
    with rank, busy:
        try:
            assert rank.stdout.readline() == busy.stdout.readline() == b"1\n"
            assert end_left_over(f"LEFT={name}", 22874) == 1
            assert not Path(f"/proc/{rank.pid}/cmdline").read_bytes()
        finally:
            rank.kill()
            busy.kill()
