"""Where the time of steps went: each moment counts for the innermost span that covers it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from dist_ms.launch.reporting.reading import RankTrace

PHASES = (
    *("data", "forward", "backward", "update", "waiting for ranks", "communication", "checkpoint", "callbacks"),
    *("evaluation", "unlabelled"),
)
_LANES = ("data", "forward", "backward", "update", "communication", "checkpoint", "callbacks", "evaluation")


@dataclass(frozen=True)
class RankPhases:
    """A rank's time.

    Attributes:
        rank: its number.
        host: where it ran.
        steps: the lengths of its steps, ms.
        seconds: by phase.
        segments: (phase, start, end) in us, without overlap.
        late: how often it was the last one to come to a collective.
    """

    rank: int
    host: str
    steps: list[float]
    seconds: Mapping[str, float]
    segments: list[tuple[str, float, float]]
    late: int

    @property
    def total(self) -> float:
        """All of its time, seconds."""
        return sum(self.seconds.values())

    def share(self, *phases: str) -> float:
        """The share of some phases."""
        return sum(self.seconds[phase] for phase in phases) / (self.total or 1.0)


def measured(one: RankTrace) -> list[dict[str, Any]]:
    """The steps that count: without the first, which prepares, and those slowed by recording operations."""
    steps = one.spans("steps")
    kept = [e for e in steps[1:] if not e["args"].get("detailed")]
    return kept or steps


def innermost(spans: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Cut nested spans into pieces that do not overlap.

    Examples:
        >>> from dist_ms.launch.reporting.phases import innermost
        >>> innermost([("backward", 1, 9), ("communication", 4, 8)])
        [('backward', 1, 4), ('communication', 4, 8), ('backward', 8, 9)]
    """
    pieces: list[tuple[str, float, float]] = []
    open_: list[tuple[str, float]] = []
    now = 0.0

    def until(time: float) -> None:
        nonlocal now
        while open_ and open_[-1][1] <= time:
            name, end = open_.pop()
            if end > now:
                pieces.append((name, now, end))
                now = end
        if open_ and time > now:
            pieces.append((open_[-1][0], now, time))
        now = max(now, time)

    for name, start, end in sorted(spans, key=lambda span: (span[1], -span[2])):
        until(start)
        open_.append((name, min(end, open_[-1][1]) if open_ else end))
    if open_:
        until(max(end for _, end in open_))
    return pieces


def meetings(ranks: Sequence[RankTrace]) -> tuple[dict[tuple[str, int], float], dict[int, int]]:
    """When the last rank came to each collective, in us, and how often each rank was it."""
    came: dict[tuple[str, int], dict[int, float]] = defaultdict(dict)
    for one in ranks:
        for event in one.spans("communication"):
            came[_group(event)].setdefault(one.rank, event["ts"])
    late: dict[int, int] = defaultdict(int)
    last = {}
    for key, times in came.items():
        if len(times) > 1:
            rank = max(times, key=lambda r: times[r])
            last[key] = times[rank]
            late[rank] += 1
    return last, late


def _group(event: Mapping[str, Any]) -> tuple[str, int]:
    return event["name"].rpartition(" of ")[2], event["args"].get("number", 0)


def phases(ranks: Sequence[RankTrace]) -> list[RankPhases]:
    """Find where the time of each rank's steps went.

    Args:
        ranks: what they wrote.
    """
    last, late = meetings(ranks)
    found = []
    for one in ranks:
        spans = [(e["cat"], e["ts"], e["ts"] + e["dur"]) for lane in _LANES for e in one.spans(lane) if e["dur"]]
        for event in one.spans("communication"):
            start, end = event["ts"], event["ts"] + event["dur"]
            arrived = min(end, last.get(_group(event), start))
            if arrived > start:
                spans.append(("waiting for ranks", start, arrived))
        order = {"waiting for ranks": 1}
        spans.sort(key=lambda span: order.get(span[0], 0))
        segments, steps = innermost(spans), measured(one)
        found.append(RankPhases(
            one.rank, one.facts["host"], [e["dur"] / 1e3 for e in steps], _within(segments, steps), segments,
            late.get(one.rank, 0),
        ))  # fmt: skip
    return found


def _within(segments: Sequence[tuple[str, float, float]], steps: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The seconds of each phase within some steps, in the order of time."""
    seconds, place = dict.fromkeys(PHASES, 0.0), 0
    for step in steps:
        begin, end = step["ts"], step["ts"] + step["dur"]
        labelled = 0.0
        while place < len(segments) and segments[place][2] <= begin:
            place += 1
        here = place
        while here < len(segments) and segments[here][1] < end:
            name, start, stop = segments[here]
            part = max(0.0, min(stop, end) - max(start, begin))
            seconds[name] += part / 1e6
            labelled += part
            here += 1
        seconds["unlabelled"] += max(0.0, step["dur"] - labelled) / 1e6
    return seconds


def verdict(ranks: Sequence[RankPhases], expected: int | None = None, network: str = "") -> str:
    """Say in words what bounds the run and what to change.

    Args:
        ranks: their times.
        expected: how many ranks the job had.
        network: what there is to say of the network between its machines.
    """
    ranks = [one for one in ranks if one.steps and one.total]
    if not ranks:
        return "No rank took a step with an optimizer, so there is nothing to say of what bounds the run."
    count, step = len(ranks), median([time for one in ranks for time in one.steps])

    def mean(*names: str) -> float:
        return sum(one.share(*names) for one in ranks) / count

    data, waits, moving = mean("data"), mean("waiting for ranks"), mean("communication")
    busy = {one.rank: _busy(one) for one in ranks}
    slowest = max(ranks, key=lambda one: busy[one.rank])
    others = [busy[one.rank] for one in ranks if one is not slowest]
    behind = busy[slowest.rank] - median(others) if others else 0.0
    where = f"A step takes {step:.3g} ms (median) on {count} rank{'s' if count > 1 else ''}. "
    computing = mean("forward", "backward", "update")
    slow, phase = bool(others) and behind > max(0.10, moving) * step, ""
    if slow:
        fast = [one for one in ranks if one is not slowest]
        phase = max(
            (p for p in PHASES if p not in ("waiting for ranks", "communication")),
            key=lambda p: _each(slowest, p) - median([_each(one, p) for one in fast]),
        )
    starved = data > 0.2 and data >= moving and data >= waits
    if slow and not (starved and phase == "data" and min(one.share("data") for one in ranks) > 0.2):
        text = (
            f"A slow rank bounds this run: rank {slowest.rank} on {slowest.host}. It needs {behind:.3g} ms more of its "
            f"own time per step than the others, above all in {_NAMES.get(phase, phase)}, and they wait for it "
            f"{_percent(sum(one.share('waiting for ranks') for one in fast) / len(fast))} of the time. Look at what "
            f"else runs on {slowest.host}, at that rank's number of cores and at code that depends on the rank, or "
            "give it smaller batches."
        )
    elif starved:
        text = (
            f"Data bounds this run: ranks wait {_percent(data)} of the time for their next batch. Load it with more "
            "workers (num_parallel_workers, python_multiprocessing=True), cache what is decoded, or make the "
            "transforms cheaper."
        )
        if slow:
            text += (
                f" Rank {slowest.rank} on {slowest.host} waits longest, {behind:.3g} ms more per step than the others."
            )
    elif moving > 0.25 and count == 1:
        text = (
            f"The time in collectives bounds this run ({_percent(moving)}), but as the other ranks have left no trace "
            "it cannot be told apart whether they were late or the data took long to move."
        )
    elif moving > 0.25 or moving + waits > 0.4:
        text = (
            f"Communication bounds this run: moving data between ranks takes {_percent(moving)} of the time, and "
            f"waiting for each other {_percent(waits)}. Take larger batches per rank, accumulate gradients over some "
            "steps, or send 16-bit gradients."
        )
        text += f" {network}" if network else ""
    elif computing > 0.5:
        largest = max(("forward", "backward", "update"), key=mean)
        text = (
            f"Computing bounds this run: {_percent(computing)} of the time, above all the {largest} "
            f"({_percent(mean(largest))}). Mixed precision (bfloat16), more ranks or a smaller model make it faster; "
            "the table of operations says which ones count."
        )
    else:
        largest = max(PHASES, key=mean)
        text = (
            f"No single cause bounds this run; the largest part is {_NAMES.get(largest, largest)} "
            f"({_percent(mean(largest))} of the time)."
        )
    text = where + text
    if expected is not None and expected > count:
        text += f" Of {expected} processes only {count} have left steps: the others ended early or are servers."
    return text


_NAMES = {"data": "waiting for data", "forward": "the forward", "backward": "the backward", "update": "the update"}
_NAMES["unlabelled"] = "code between the parts of a step"


def _busy(one: RankPhases) -> float:
    """A rank's own time per step in ms: without waiting for others."""
    return _each(one, *(phase for phase in PHASES if phase not in ("waiting for ranks", "communication")))


def _each(one: RankPhases, *names: str) -> float:
    """Its time in some phases per step, ms."""
    return 1e3 * sum(one.seconds[name] for name in names) / len(one.steps)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
