"""What was recorded, as files: a trace, a table by operation, and the user's own notes."""

from __future__ import annotations

import csv
import json
import os
import socket
import time
from collections.abc import Sequence
from typing import Any

from dist_ms.profiler.recording import MemoryUse, Span

__all__ = ["by_operation", "write"]


def by_operation(spans: list[Span]) -> list[dict[str, Any]]:
    """A row per operation, shapes and width: how often, how long, how much; the longest in sum first."""
    rows: dict[tuple, list[Span]] = {}
    for span in spans:
        if span.kind == "operation":
            rows.setdefault((span.name, span.shapes, span.narrow), []).append(span)
    total = sum(span.length for same in rows.values() for span in same) or 1
    table = []
    for (name, shapes, narrow), same in rows.items():
        time = sum(span.length for span in same)
        table.append(
            {
                "op_type": name,
                "input_shape": ";".join(",".join(map(str, shape)) for shape in shapes),
                "op_occurrences": len(same),
                "op_total_time(us)": time / 1e3,
                "op_avg_time(us)": time / len(same) / 1e3,
                "percent": 100 * time / total,
                "flops": sum(span.flops for span in same),
                "bytes": sum(span.bytes for span in same),
                "narrow": narrow,
            }
        )
    return sorted(table, key=lambda row: -row["op_total_time(us)"])


def _arguments(span: Span) -> dict[str, Any]:
    if not span.bytes:
        return {}
    return {"shapes": [list(shape) for shape in span.shapes], "flops": span.flops, "bytes": span.bytes}


def write(folder: str, spans: list[Span], notes: dict[str, Any], memory: Sequence[MemoryUse] = ()) -> str:
    """Write the files into a new folder below one, and return its path."""
    stamp = time.strftime("%Y%m%d%H%M%S") + f"{time.time_ns() // 1000000 % 1000:03}"
    path = os.path.join(os.path.realpath(folder), f"{socket.gethostname()}_{os.getpid()}_{stamp}_ms")
    os.makedirs(path, exist_ok=True)
    events = [
        {
            "name": span.name,
            "cat": span.kind,
            "ph": "X" if span.length else "i",
            "ts": span.start / 1e3,
            "dur": span.length / 1e3,
            "pid": os.getpid(),
            "tid": span.thread,
            "args": _arguments(span),
        }
        for span in spans
    ]
    for use in memory:
        taken = {"allocated": use.allocated, "peak": use.peak}
        events.append({"name": "memory", "ph": "C", "ts": use.time / 1e3, "pid": os.getpid(), "tid": 0, "args": taken})
    with open(os.path.join(path, "trace.json"), "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)
    with open(os.path.join(path, "operators.csv"), "w", encoding="utf-8", newline="") as file:
        rows = by_operation(spans)
        names = ["op_type", "input_shape", "op_occurrences", "op_total_time(us)", "op_avg_time(us)", "percent"]
        writer = csv.DictWriter(file, [*names, "flops", "bytes"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    if memory:
        with open(os.path.join(path, "memory.csv"), "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["time(us)", "op_type", "allocated(bytes)", "peak(bytes)"])
            table.writerows([use.time / 1e3, use.operation, use.allocated, use.peak] for use in memory)
    if notes:
        with open(os.path.join(path, "profiler_metadata.json"), "w", encoding="utf-8") as file:
            json.dump(notes, file)
    return path
