"""The network between the machines of a traced run, in words and as a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from statistics import median

from dist_ms.launch.reporting.reading import RankTrace

_SLOW = 0.6  # of what the other machines' links carry


@dataclass(frozen=True)
class Link:
    """From one machine to another.

    Attributes:
        start, end: their names.
        rate: bytes per second.
    """

    start: str
    end: str
    rate: float


def links(ranks: Sequence[RankTrace]) -> list[Link]:
    """Those that the ranks measured; of a rank that left no trace, what it sent is not known."""
    hosts = {one.rank: one.facts["host"] for one in ranks}
    sent = [(one, one.facts["link"]) for one in ranks if one.facts.get("link")]
    return [Link(one.facts["host"], hosts.get(to, f"rank {to}"), rate) for one, (to, rate) in sent]


def slowest(found: Sequence[Link]) -> str:
    """Say which machine's network is slow, or how fast it is where none stands out; "" where none was measured.

    Both links of a machine are slow where its own connection is: the faster of them counts for it.

    Examples:
        >>> from dist_ms.launch.reporting.links import Link, slowest
        >>> slowest([Link("a", "b", 11e6), Link("b", "c", 12e6), Link("c", "a", 118e6)])
        'The network of b is slow: it carries 12 MB/s, where the others carry 118: mend it, or leave that machine out.'
        >>> slowest([Link("a", "b", 11e6), Link("b", "a", 12e6)])
        'Between a and b the network carries 11 MB/s (a gigabit is 125).'
    """
    if not found:
        return ""
    best: dict[str, float] = defaultdict(float)
    for link in found:
        for host in (link.start, link.end):
            best[host] = max(best[host], link.rate)
    least = min(found, key=lambda link: link.rate)
    worst = min(best, key=lambda host: best[host])
    others = [rate for host, rate in best.items() if host != worst]
    if len(best) > 2 and best[worst] < _SLOW * median(others):
        return (
            f"The network of {worst} is slow: it carries {best[worst] / 1e6:.3g} MB/s, where the others carry "
            f"{median(others) / 1e6:.3g}: mend it, or leave that machine out."
        )
    return f"Between {least.start} and {least.end} the network carries {least.rate / 1e6:.3g} MB/s (a gigabit is 125)."


def table(found: Sequence[Link]) -> str:
    """The links in HTML; "" where none was measured."""
    if not found:
        return ""
    rows = "".join(
        f"<tr><td>{escape(link.start)}</td><td>{escape(link.end)}</td><td>{link.rate / 1e6:.3g} MB/s</td></tr>"
        for link in found
    )
    return (
        '<h2>Network</h2><p class=soft>Measured when the job started.</p><div class="wide"><table><tr><th>from</th>'
        f"<th>to</th><th>speed</th></tr>{rows}</table></div>"
    )
