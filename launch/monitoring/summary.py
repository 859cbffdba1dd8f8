"""The closing line of a job: how long, how fast, and what it waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dist_ms.launch.monitoring.status import JobStatus

_APART = 0.10  # of the time: ranks that wait so differently are told apart


def summary(job: JobStatus, seconds: float) -> str:
    """Say how a job went; "" for one that has trained nothing.

    Args:
        job: its status at its end.
        seconds: how long it took in all.

    Examples:
        >>> from dist_ms.launch.monitoring.status import JobStatus
        >>> from dist_ms.launch.monitoring.summary import summary
        >>> record = {"steps": 100, "seconds": 9.9, "updates": 100, "samples": 3200, "waits": [0.5, 1.0]}
        >>> records = [{**record, "rank": 0}, {**record, "rank": 1, "waits": [0.5, 4.0]}]
        >>> job = JobStatus(1, ["train.py"], 2, 0, 0.0, 0, records)
        >>> print(summary(job, 12.0))
        dist-ms: 12.0 s, 100 steps on 2 ranks, 10 steps/s, 640 samples/s; waited 5 % for data, 25 % for ranks (rank 0 least, 10 %).
    """  # noqa: E501
    workers = [record for record in job.records if record.get("updates", 0) > 1]
    if not workers:
        return ""
    steps = max(record["steps"] for record in workers)
    times = [_training_seconds(record) for record in workers]
    rate = max(record["updates"] / time for record, time in zip(workers, times, strict=True))
    samples = sum(record["samples"] for record in workers) / max(times)
    parts = [
        f"{seconds:.1f} s",
        f"{steps} steps on {job.ranks} rank{'s' if job.ranks > 1 else ''}",
        f"{rate:.3g} steps/s" if rate < 1000 else f"{rate:.0f} steps/s",
    ]
    if samples:
        parts.append(f"{samples:,.0f} samples/s")
    shares = {r["rank"]: [min(1.0, wait / max(r["seconds"], 1e-9)) for wait in r["waits"]] for r in workers}
    for_data, for_ranks = zip(*shares.values(), strict=True)
    waits = [f"{_percent(sum(for_data) / len(workers))} for data"] if samples else []
    if job.ranks > 1:
        waits.append(_for_ranks(dict(zip(shares, for_ranks, strict=True))))
    if awaited := straggler(job.records, max(times)):
        waits.append(awaited)
    text = ", ".join(parts) + (f"; waited {', '.join(waits)}" if waits else "")
    if job.restarts:
        text += f"; {job.restarts} restart{'s' if job.restarts > 1 else ''}"
    return f"dist-ms: {text}."


def straggler(records: Sequence[Mapping[str, Any]], seconds: float, before: Sequence[Mapping[str, Any]] = ()) -> str:
    """Name the worker whose pushes the others waited for at the servers; "" if there is none.

    Args:
        records: of the ranks.
        seconds: in which they waited.
        before: the records at the beginning of that time.

    Examples:
        >>> from dist_ms.launch.monitoring.summary import straggler
        >>> straggler([{"rank": 2, "awaited": [1, 3.5, 0.1]}], 10.0)
        '35 % for worker 1 at the servers'
    """
    earlier = {record["rank"]: record.get("awaited") for record in before}
    found = []
    for record in records:
        if not record.get("awaited"):
            continue
        worker, most, next_most = record["awaited"]
        then = earlier.get(record["rank"])
        if then and then[0] == worker:  # of another worker's time between the two looks nothing is known
            most, next_most = most - then[1], max(0.0, next_most - then[2])
        elif before:
            continue
        found.append((most, next_most, worker))
    most, next_most, worker = max(found, default=(0.0, 0.0, 0))
    if seconds <= 0 or (most - next_most) / seconds <= _APART:
        return ""
    return f"{_percent(min(1.0, most / seconds))} for worker {worker} at the servers"


def _training_seconds(record: Mapping[str, Any]) -> float:
    """The seconds of a rank's steps; from the first update to the last there is one step less."""
    return max(record["seconds"] * record["updates"] / (record["updates"] - 1), 1e-9)


def _for_ranks(shares: Mapping[int, float]) -> str:
    """How long ranks waited for each other, and which one the others waited for."""
    text = f"{_percent(sum(shares.values()) / len(shares))} for ranks"
    slowest = min(shares, key=lambda rank: shares[rank])
    if max(shares.values()) - shares[slowest] > _APART:
        text += f" (rank {slowest} least, {_percent(shares[slowest])})"
    return text


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")
