"""The page of a traced run: one file that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from dist_ms.launch.reporting.charts import bar, curves
from dist_ms.launch.reporting.links import links, table
from dist_ms.launch.reporting.phases import PHASES, RankPhases, measured
from dist_ms.launch.reporting.reading import RankTrace

_LIGHT = ("#c0651a", "#2a78c2", "#174f8a", "#5f48b8", "#c9a227", "#b8336a", "#4d8f5b", "#708090", "#3aa6a0", "#c4c8cc")
_DARK = ("#f0944a", "#5aa7ee", "#3b7cc4", "#9682ea", "#e2c14c", "#e8689a", "#77bd86", "#93a4b4", "#5fcfc8", "#4a5058")
_MOST_RANKS = 32  # that curves show
_STEPS = 3  # of the timeline


def _colours(values: Sequence[str]) -> str:
    rules = [f".{_class(name)}{{fill:{v};background:{v}}}" for name, v in zip(PHASES, values, strict=True)]
    for place, value in enumerate((values[1], values[0], values[6], values[5], values[4], values[3])):
        rules.append(f".line{place}{{stroke:{value}}}i.line{place}{{background:{value}}}")
    return "".join(rules)


_STYLE = (
    ":root{color-scheme:light dark;--ink:#1c2228;--soft:#59636e;--paper:#fff;--rule:#d8dde2;--box:#f4f6f8}"
    "*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:1000px;margin:0 auto;padding:20px 16px 60px}h1{font-size:24px;margin:0 0 4px;overflow-wrap:anywhere}"
    "h2{font-size:18px;margin:32px 0 8px}p{margin:6px 0}.soft,.axis,.ends,.none{color:var(--soft);font-size:13px}"
    ".verdict{background:var(--box);border-left:4px solid #2a78c2;padding:12px 14px;margin:16px 0;font-size:16px}"
    ".row{display:flex;gap:10px;align-items:center;margin:5px 0}.row>span{flex:0 0 130px;font-size:13px;"
    "overflow-wrap:anywhere}.bar{flex:1;min-width:0;height:20px;background:var(--box);display:block}"
    ".key{display:flex;flex-wrap:wrap;gap:3px 14px;font-size:13px;margin:6px 0}.key i{display:inline-block;width:11px;"
    "height:11px;margin-right:5px;border-radius:2px}.chart{display:flex;gap:8px}.chart svg{flex:1;min-width:0;"
    "height:180px;background:var(--box)}.axis{white-space:nowrap;flex:0 0 80px;display:flex;flex-direction:column;"
    "text-align:right;"
    "justify-content:space-between}.ends{display:flex;justify-content:space-between;margin-left:88px}"
    "polyline{fill:none;stroke-width:1.6;vector-effect:non-scaling-stroke}.wide{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:13px;width:100%}th,td{padding:4px 8px 4px 0;text-align:right;"
    "border-bottom:1px solid var(--rule);white-space:nowrap}th:first-child,td:first-child{text-align:left}"
    "pre{font-size:12px;line-height:1.4;margin:8px 0}summary{cursor:pointer;font-size:13px}"
    "@media(max-width:560px){.row{display:block}.bar{width:100%}.axis{flex-basis:64px}.ends{margin-left:72px}}"
)
_NIGHT = "--ink:#e4e8ec;--soft:#9aa5b0;--paper:#14181c;--rule:#333a42;--box:#1f252b"


def page(ranks: Sequence[RankTrace], found: Sequence[RankPhases], words: str) -> str:
    """Return the page in HTML.

    Args:
        ranks: what the ranks wrote.
        found: where their time went.
        words: what bounds the run.
    """
    command = escape(" ".join(ranks[0].facts["command"]))
    steps = max((len(one.spans("steps")) for one in ranks), default=0)
    parts = [
        f"<h1>{command}</h1><p class=soft>{ranks[0].facts['ranks']} ranks, {steps} steps</p>",
        f"<p class=verdict>{escape(words)}</p>",
        _shares(found),
        _timeline(ranks, found),
        "<h2>Time of a step</h2>"
        + _per_rank(ranks, lambda e: e["dur"] / 1e3, "ms", "the time of each step on each rank"),
        _loss(ranks[0]),
        "<h2>Memory of arrays</h2>" + _memory(ranks),
        _operations(ranks[0]),
        table(links(ranks)),
        _plan(ranks[0]),
        _about(ranks),
    ]
    style = (
        _STYLE + _colours(_LIGHT) + "@media(prefers-color-scheme:dark){:root{" + _NIGHT + "}" + _colours(_DARK) + "}"
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{command}: report</title><style>{style}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _class(phase: str) -> str:
    return "p-" + phase.replace(" ", "-")


def _key(shown: set[str]) -> str:
    spans = "".join(f'<span><i class="{_class(p)}"></i>{p}</span>' for p in PHASES if p in shown)
    return f'<div class="key">{spans}</div>'


def _row(one: RankPhases, drawn: str) -> str:
    return f'<div class="row"><span>rank {one.rank} on {escape(one.host)}</span>{drawn}</div>'


def _shares(found: Sequence[RankPhases]) -> str:
    """Bars of the phases' shares, and what no span covers."""
    known = [phase for phase in PHASES if phase == "unlabelled" or any(one.seconds[phase] for one in found)]
    rows, head = [], "".join(f"<th>{phase}</th>" for phase in known)
    table = []
    for one in found:
        parts, at = [], 0.0
        for phase in PHASES:
            share = one.share(phase)
            parts.append((_class(phase), at, at + share, f"{phase}: {100 * share:.1f} %"))
            at += share
        rows.append(_row(one, bar(parts, 1.0, f"shares of rank {one.rank}")))
        cells = "".join(f"<td>{100 * one.share(phase):.1f} %</td>" for phase in known)
        table.append(f"<tr><td>rank {one.rank}</td>{cells}<td>{one.late}</td></tr>")
    rest = max((one.share("unlabelled") for one in found), default=0.0)
    return (
        "<h2>Share of each phase</h2>"
        + "".join(rows)
        + _key(set(known))
        + f"<p class=soft>Of the steps' time at most {100 * rest:.1f} % (on one rank) is in no phase. The first step "
        "and those in which operations were recorded do not count. A rank came last where the others waited for it "
        "in a collective.</p>"
        f'<div class="wide"><table><tr><th></th>{head}<th>came last</th></tr>{"".join(table)}</table></div>'
    )


def _timeline(ranks: Sequence[RankTrace], found: Sequence[RankPhases]) -> str:
    """Some steps in the middle, all ranks on one clock."""
    steps = measured(ranks[0])
    first = max(0, len(steps) // 2 - 1)
    chosen = steps[first : first + _STEPS]
    if not chosen:
        return ""
    begin, end = chosen[0]["ts"], chosen[-1]["ts"] + chosen[-1]["dur"]
    rows, shown = [], set()
    for one in found:
        parts = []
        for name, start, stop in one.segments:
            if stop > begin and start < end:
                shown.add(name)
                text = f"{name}: {(stop - start) / 1e3:.3g} ms"
                parts.append((_class(name), max(start, begin) - begin, min(stop, end) - begin, text))
        rows.append(_row(one, bar(parts, end - begin, f"timeline of rank {one.rank}")))
    numbers = f"{chosen[0]['args']['step'] + 1} to {chosen[-1]['args']['step'] + 1}"
    return (
        f"<h2>Timeline of steps {numbers}</h2>{''.join(rows)}{_key(shown)}"
        f"<p class=soft>{(end - begin) / 1e3:.4g} ms on the clock of rank 0; trace.json has the whole run, for "
        "Perfetto or chrome://tracing.</p>"
    )


def _per_rank(ranks: Sequence[RankTrace], value: Any, unit: str, label: str) -> str:
    lines = [(f"rank {one.rank}", [value(e) for e in one.spans("steps")]) for one in ranks[:_MOST_RANKS]]
    return curves(lines, unit, label)


def _loss(one: RankTrace) -> str:
    losses = [e["args"].get("loss") for e in one.spans("steps")]
    known = [loss for loss in losses if loss is not None and math.isfinite(loss)]
    if not known:
        return "<h2>Loss</h2><p class=none>Not known: the loop is not one of Model.</p>"
    return f"<h2>Loss of rank {one.rank}</h2>" + curves([("loss", known)], "", "the loss of each step")


def _memory(ranks: Sequence[RankTrace]) -> str:
    peak = max((e["args"]["peak"] for one in ranks for e in one.spans("steps")), default=0) / 1e6
    chart = _per_rank(ranks, lambda e: e["args"]["live"] / 1e6, "MB", "the memory of arrays after each step")
    return chart + f"<p class=soft>After each step; the most within one was {peak:.4g} MB.</p>"


def _operations(one: RankTrace) -> str:
    rows, limits = one.facts["operations"][:40], _limits(one)
    if not rows:
        return "<h2>Operations by time</h2><p class=none>None were recorded: the run took fewer than 4 steps.</p>"
    heads = ["operation", "shapes", "times", "ms in all", "share", "GFLOP/s", "GB/s", "of the limit"]
    cells = "".join(f"<tr>{''.join(f'<td>{text}</td>' for text in _operation(row, limits))}</tr>" for row in rows)
    rates = (
        f" At best rank {one.rank} did {limits['float32'] / 1e9:,.0f} GFLOP/s in products of float32, "
        f"{limits['bfloat16'] / 1e9:,.0f} of bfloat16, and moved {limits['memory'] / 1e9:.3g} GB/s, measured at its "
        "end: the limit of an operation is whichever would take it longer. What lies in caches moves faster."
        if limits
        else ""
    )
    return (
        f"<h2>Operations by time</h2><p class=soft>Rank {one.rank}, {one.facts['detailed_steps']} steps; an operation "
        f'contains those that it calls.{rates}</p><div class="wide"><table><tr>'
        f"{''.join(f'<th>{head}</th>' for head in heads)}</tr>{cells}</table></div>"
    )


def _limits(one: RankTrace) -> dict[str, float]:
    """The rates that a rank measured; of products those that its operations reached, if these are higher."""
    limits = dict(one.facts["limits"])
    for row in one.facts["operations"] if limits else ():
        name = "bfloat16" if row["narrow"] else "float32"
        limits[name] = max(limits[name], row["flops"] / max(row["op_total_time(us)"] / 1e6, 1e-9))
    return limits


def _operation(row: dict[str, Any], limits: dict[str, float]) -> list[str]:
    """The columns of an operation."""
    seconds = max(row["op_total_time(us)"] / 1e6, 1e-9)
    shapes = escape(" · ".join(shape or "()" for shape in row["input_shape"].split(";")))
    texts = [
        escape(row["op_type"]),
        shapes,
        str(row["op_occurrences"]),
        f"{seconds * 1e3:.3f}",
        f"{row['percent']:.1f} %",
    ]
    for amount in (row["flops"], row["bytes"]):
        texts.append(f"{amount / seconds / 1e9:.3g}" if amount else "-")
    needed = 0.0
    if limits:
        products = limits["bfloat16" if row["narrow"] else "float32"]
        needed = max(row["flops"] / products, row["bytes"] / limits["memory"])
    return [*texts, f"{min(100.0, 100 * needed / seconds):.0f} %" if needed else "-"]


def _plan(one: RankTrace) -> str:
    """What happens to each parameter, folded."""
    text = one.facts.get("plan")
    if not text:
        return ""
    return (
        "<h2>Plan</h2><p class=soft>What happens to each parameter: how it starts, how its gradient travels, who saves "
        f'it.</p><details><summary>Show the table</summary><div class="wide"><pre>{escape(text)}</pre></div></details>'
    )


def _about(ranks: Sequence[RankTrace]) -> str:
    """Versions, CPUs, clocks, and what is missing."""
    versions = ", ".join(f"{name} {number}" for name, number in ranks[0].facts["versions"].items())
    rows = "".join(
        f"<tr><td>rank {one.rank}</td><td>{escape(one.facts['host'])}</td><td>{escape(one.facts['cpu'])}</td>"
        f"<td>{one.facts['threads']}</td><td>{one.facts['offset_us']:.1f} us</td>"
        f"<td>{one.facts['left_out']}</td></tr>"
        for one in ranks
    )
    return (
        f'<h2>Ranks</h2><p>{escape(versions)}</p><div class="wide"><table><tr><th></th><th>host</th><th>CPU</th>'
        f"<th>threads</th><th>clock against rank 0</th><th>spans left out</th></tr>{rows}</table></div>"
    )
