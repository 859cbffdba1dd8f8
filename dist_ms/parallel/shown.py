"""`dist-ms plan`: a job that ends where its plan is made, and prints it."""

from __future__ import annotations

import os
import sys

from dist_ms.communication import Comm
from dist_ms.parallel.plan import SyncPlan

VARIABLE = "DIST_MS_PLAN"


def show_plan(plan: SyncPlan, comm: Comm) -> None:
    """Print the plan and end the process, if the environment variable DIST_MS_PLAN is set; else do nothing.

    Args:
        plan: what the first train step is about to follow.
        comm: the ranks; the first prints.

    Raises:
        SystemExit: with code 0, after printing.
    """
    if not os.environ.get(VARIABLE):
        return
    if comm.rank == 0:
        print(plan)
    sys.stdout.flush()
    comm.barrier()
    raise SystemExit(0)
