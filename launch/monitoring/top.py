"""`dist-ms top`: the jobs of this user on this machine, while they run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dist_ms.launch.monitoring.status import JobStatus, read_jobs
from dist_ms.launch.monitoring.summary import straggler

if TYPE_CHECKING:
    from rich.console import Group

_COLUMNS = ("rank", "state", "epoch", "step", "steps/s", "samples/s", "loss", "data", "ranks", "CPU", "memory")
# Left out, one after the other, where a terminal is too narrow for all.
_DROPPED = ("memory", "samples/s", "CPU", "epoch", "steps/s", "loss")
_STATES = {"R": "runs", "S": "waits", "D": "disk", "T": "stopped", "t": "traced", "Z": "dead", "": "gone"}
_OLD = 5.0  # seconds without a new record: the rank cannot write
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Look:
    """The jobs at one moment.

    Attributes:
        time: `time.time()` then.
        jobs: what they wrote.
        processes: of each rank's process its state, seconds of CPU and bytes in memory.
    """

    time: float
    jobs: Sequence[JobStatus]
    processes: Mapping[int, tuple[str, float, int]]


def look(folder: Path | None = None) -> Look:
    """Look at the jobs.

    Args:
        folder: of the user's jobs.
    """
    jobs = read_jobs(folder)
    numbers = {record["pid"] for job in jobs for record in job.records}
    return Look(time.time(), jobs, {number: _process(number) for number in numbers})


def _process(number: int) -> tuple[str, float, int]:
    """What the kernel tells of a process; "" for one that is gone."""
    try:
        state, *fields = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return "", 0.0, 0
    return state, (int(fields[10]) + int(fields[11])) / _TICKS, int(fields[20]) * _PAGE


def rank_row(record: Mapping[str, Any], before: Mapping[str, Any] | None, now: Look, then: Look) -> list[str]:
    """Return the columns of a rank.

    Args:
        record: what it wrote last.
        before: what it had written when it was looked at before, None if it was not there.
        now, then: both looks.
    """
    state, cpu, memory = now.processes[record["pid"]]
    _, cpu_before, _ = then.processes.get(record["pid"], ("", cpu, 0))
    passed = now.time - then.time
    said = _STATES.get(state, state)
    if now.time - record["time"] > _OLD and state in "RSD" and state:
        said = f"silent {now.time - record['time']:.0f} s"
    epoch, epochs = record["epoch"]
    batch, batches = record["batch"]
    cells = [str(record["rank"]), said, f"{epoch}/{epochs}" if epochs else "-"]
    cells.append(f"{batch}/{batches}" if batches else str(record["steps"] or "-"))
    seconds = record["time"] - before["time"] if before is not None else 0.0
    if before is None or seconds <= 0:
        cells += ["-", "-"]
    else:
        steps, samples = (record[name] - before[name] for name in ("steps", "samples"))
        cells += [_short(steps / seconds), _short(samples / seconds) if samples else "-"]
    cells.append("-" if record["loss"] is None else f"{record['loss']:.4f}")
    for name in ("data", "ranks"):
        share = (record[name] - before[name]) / seconds if before is not None and seconds > 0 else None
        cells.append("-" if share is None else f"{min(1.0, max(0.0, share)):.0%}")
    cells.append(f"{(cpu - cpu_before) / passed:.0%}" if passed > 0 else "-")
    return [*cells, f"{memory / 2**20:,.0f}M"]


def fitting(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the columns that fit side by side, with a space between them; those that say least are left out first.

    Args:
        rows: the heads, and the cells below.
        width: columns of the terminal.

    Examples:
        >>> from dist_ms.launch.monitoring.top import _COLUMNS, fitting
        >>> [_COLUMNS[i] for i in fitting([_COLUMNS], 50)]
        ['rank', 'state', 'epoch', 'step', 'steps/s', 'loss', 'data', 'ranks', 'CPU']
    """
    widths = [max(map(len, cells)) + 1 for cells in zip(*rows, strict=True)]
    kept = list(range(len(widths)))
    for name in _DROPPED:
        if sum(widths[i] for i in kept) - 1 <= width:
            break
        kept.remove(_COLUMNS.index(name))
    return kept


def tables(now: Look, then: Look, width: int) -> Group:
    """Return what is shown: a table per job.

    Args:
        now, then: this look and the one before.
        width: columns of the terminal.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    shown: list[Any] = []
    earlier = {(job.process, record["rank"], record["pid"]): record for job in then.jobs for record in job.records}
    for job in now.jobs:
        title = f"{' '.join(job.command)}: {job.ranks} ranks"
        if job.servers:
            title += f", {job.servers} of them servers"
        title += f", {_duration(now.time - job.began)}"
        if job.restarts:
            title += f", {job.restarts} restarts"
        shown.append(Text(title, style="bold"))
        rows = []
        for record in job.records:
            before = earlier.get((job.process, record["rank"], record["pid"]))
            rows.append(rank_row(record, before, now, then))
        kept = fitting([_COLUMNS, *rows], width)
        table = Table(
            *(_COLUMNS[i] for i in kept),
            box=box.SIMPLE_HEAD,
            padding=0,
            pad_edge=False,
            show_edge=False,
        )
        for column in table.columns[2:]:
            column.justify = "right"
        for cells in rows:
            style = "" if cells[1] in ("runs", "waits", "disk") else "bold red"
            table.add_row(*(cells[i] for i in kept), style=style)
        shown.append(table)
        looked = [earlier[key] for r in job.records if (key := (job.process, r["rank"], r["pid"])) in earlier]
        if looked and (awaited := straggler(job.records, now.time - then.time, looked)):
            shown.append(Text(f"The others waited {awaited}.", style="bold"))
        if len(job.records) < job.ranks:
            others = job.ranks - len(job.records)
            shown.append(Text(f"{others} rank{'s are' if others > 1 else ' is'} starting, or on other machines."))
    return Group(*(shown or [Text("No job of yours runs here under 'dist-ms run' with two ranks or more.")]))


def _short(rate: float) -> str:
    """A rate in six characters.

    Examples:
        >>> from dist_ms.launch.monitoring.top import _short
        >>> _short(12.34), _short(4321.2), _short(234567.0)
        ('12.3', '4,321', '235k')
    """
    if rate < 1000:
        return f"{rate:.1f}"
    return f"{rate:,.0f}" if rate < 1e5 else f"{rate / 1e3:,.0f}k"


def _duration(seconds: float) -> str:
    """Hours, minutes and seconds.

    Examples:
        >>> from dist_ms.launch.monitoring.top import _duration
        >>> _duration(3725.4), _duration(65)
        ('1:02:05', '1:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def top(interval: float, once: bool) -> int:
    """Show the jobs until Ctrl-C; return 0.

    Args:
        interval: seconds between two looks.
        once: show them once, after one interval; so it is where there is no terminal.
    """
    from rich.console import Console
    from rich.live import Live

    console = Console()
    then = look()
    try:
        if once or not sys.stdout.isatty():
            if then.jobs:
                time.sleep(interval)
            console.print(tables(look(), then, console.width))
            return 0
        with Live(tables(then, then, console.width), console=console, screen=True, auto_refresh=False) as live:
            while True:
                time.sleep(interval)
                now = look()
                live.update(tables(now, then, console.width), refresh=True)
                then = now
    except KeyboardInterrupt:
        return 0
