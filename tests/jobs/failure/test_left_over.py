"""The files of messages between ranks of a machine are found by the number of their mpirun."""

import pytest

from tests.jobs.conftest import MPIRUN, is_open_mpi

FOUND = """
import os
from dist_ms.communication import init
from dist_ms.communication.comm_func import barrier
from dist_ms.launch.running.left_over import segments
init()
barrier()
mpirun = os.environ["PMIX_NAMESPACE"].partition("@")[0].rpartition("-")[2]
print("files of ranks", sorted(path.suffix for path in segments(int(mpirun))), flush=True)
barrier()
"""


@pytest.mark.skipif(MPIRUN is None or not is_open_mpi(), reason="Open MPI's names")
@pytest.mark.parametrize("ranks", [2, 3])
def test_the_files_of_a_job(run, ranks):
    done = run(FOUND, ranks=ranks)
    assert done.code == 0, done.err
    assert done.out.count(f"files of ranks {[f'.{rank}' for rank in range(ranks)]}\n") == ranks
