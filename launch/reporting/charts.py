"""Charts in SVG whose texts stay outside, as HTML, so that they keep their size on narrow screens."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_POINTS = 600  # of a curve: more cannot be told apart


def bar(parts: Sequence[tuple[str, float, float, str]], length: float, label: str) -> str:
    """Return a bar of coloured parts.

    Args:
        parts: (class, start, end, what is said of it).
        length: of the whole bar, in the unit of the parts.
        label: what it shows, for those who do not see it.

    Examples:
        >>> from dist_ms.launch.reporting.charts import bar
        >>> "<title>half</title>" in bar([("data", 0, 1, "half")], 2, "times")
        True
    """
    scale = 1000 / (length or 1.0)
    shapes = "".join(
        f'<rect class="{name}" x="{start * scale:.2f}" y="0" width="{(end - start) * scale:.2f}" height="20">'
        f"<title>{escape(text)}</title></rect>"
        for name, start, end, text in parts
        if end > start
    )
    return (
        f'<svg class="bar" viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label="{escape(label)}">'
        f"{shapes}</svg>"
    )


def curves(lines: Sequence[tuple[str, Sequence[float]]], unit: str, label: str) -> str:
    """Return a chart of some lines over the same steps, from 0 or the lowest number below.

    Args:
        lines: (name, a number per step).
        unit: of the numbers.
        label: what it shows.
    """
    drawn = [(name, thinned(values)) for name, values in lines if len(values) > 1]
    if not drawn:
        return "<p class=none>Too few steps for a curve.</p>"
    steps = max(number for _, values in drawn for number, _ in values)
    top = max(value for _, values in drawn for _, value in values)
    low = min(0.0, min(value for _, values in drawn for _, value in values))
    height = (top - low) or 1.0
    shapes = "".join(
        f'<polyline class="line{place % 6}" points="'
        + " ".join(f"{1000 * x / (steps or 1):.1f},{200 - 196 * (y - low) / height:.1f}" for x, y in values)
        + f'"><title>{escape(name)}</title></polyline>'
        for place, (name, values) in enumerate(drawn)
    )
    names = "".join(
        f'<span><i class="line{place % 6}"></i>{escape(name)}</span>' for place, (name, _) in enumerate(drawn)
    )
    return (
        f'<div class="chart"><div class="axis"><span>{top:.4g} {unit}</span><span>{low:.4g} {unit}</span></div>'
        f'<svg viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-label="{escape(label)}">{shapes}</svg>'
        f'</div><div class="ends"><span>step 1</span><span>step {steps + 1}</span></div><div class="key">{names}</div>'
    )


def thinned(values: Sequence[float]) -> list[tuple[int, float]]:
    """Pick the largest of each part of a long row of numbers, with its place.

    Examples:
        >>> from dist_ms.launch.reporting.charts import thinned
        >>> thinned([3.0, 1.0])
        [(0, 3.0), (1, 1.0)]
    """
    each = max(1, -(-len(values) // _POINTS))
    return [
        max(((place, values[place]) for place in range(start, min(start + each, len(values)))), key=lambda p: p[1])
        for start in range(0, len(values), each)
    ]
