"""Where a plan is shown: in the report of a traced run, and by `dist-ms plan`, whose job ends where it is made."""

from __future__ import annotations

from pathlib import Path

from dist_ms.common.lanes import lanes
from dist_ms.common.settings.environment import value_of
from dist_ms.communication import Comm
from dist_ms.parallel.plan import SyncPlan

VARIABLE = "DIST_MS_PLAN"


def show_plan(plan: SyncPlan, comm: Comm) -> None:
    """Keep the plan for a trace; write it to the file that the variable DIST_MS_PLAN names, and end the process.

    Where nobody traces, and without the variable, nothing happens.

    Args:
        plan: what the first train step is about to follow.
        comm: the ranks; the first one writes.

    Raises:
        SystemExit: with code 0, after writing.
    """
    if lanes.on:
        lanes.plan = str(plan)
    file = value_of(VARIABLE)
    if not file:
        return
    if comm.rank == 0:
        Path(file).write_text(f"{plan}\n")
    comm.barrier()
    raise SystemExit(0)
