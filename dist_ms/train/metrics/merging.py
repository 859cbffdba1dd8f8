"""The counters of all ranks become one, so that every rank evaluates the whole data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dist_ms.common.once import warn_once
from dist_ms.train.metrics.metric import Metric

Add = Callable[[np.ndarray], np.ndarray]
Gather = Callable[[Any], list[Any]]


def merge_metrics(metrics: Mapping[str, Metric], add: Add, gather: Gather) -> None:
    """Replace the counters of metrics by those over all ranks.

    Every rank calls this with metrics of the same names; a rank that saw no batch takes part.

    Args:
        metrics: the metrics by name.
        add: sums a float64 array over the ranks.
        gather: returns every rank's value, in rank order.

    Raises:
        ValueError: on every rank, if the ranks' counters do not fit together.
    """
    ordered = [(name, metrics[name]) for name in sorted(metrics)]
    ranks = gather({name: _small(metric) for name, metric in ordered})
    shapes = {}
    for name, metric in ordered:
        states = [rank[name] for rank in ranks]
        for attribute in metric.sums:
            found = [state["shapes"][attribute] for state in states]
            shapes[name, attribute] = _common_shape(name, attribute, found)
        for attribute in metric.largest:
            setattr(metric, attribute, _largest([state["largest"][attribute] for state in states]))
        for attribute in metric.rows:
            setattr(metric, attribute, _stacked([state["rows"][attribute] for state in states]))
        for state in states:
            for attribute, value in state["latest"].items():
                setattr(metric, attribute, value)
    _add_up(dict(ordered), shapes, add)
    _tell_unmerged(ordered)


def _small(metric: Metric) -> dict[str, Any]:
    """Return what a rank tells the others of a metric before counters are added."""
    seen = getattr(metric, "_is_update", True)
    return {
        "shapes": {n: np.shape(getattr(metric, n)) for n in metric.sums},
        "largest": {n: getattr(metric, n) for n in metric.largest},
        "rows": {n: getattr(metric, n) for n in metric.rows},
        "latest": {n: getattr(metric, n) for n in metric.latest} if seen else {},
    }


def _common_shape(name: str, attribute: str, shapes: list[tuple]) -> tuple:
    """Return the shape of a sum; ranks that saw nothing have a number instead of an array."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        found = ", ".join(f"rank {rank}: {shape}" for rank, shape in enumerate(shapes))
        raise ValueError(
            f"For metric '{name}', '{attribute}' must have one shape on all ranks, but got "
            f"{found}. Give every rank outputs with the same number of classes."
        ) from None


def _largest(values: list[Any]) -> Any:
    known = [v for v in values if v is not None]
    return max(known) if known else None


def _stacked(arrays: list[Any]) -> Any:
    """Concatenate along the first axis what ranks have; those that saw nothing have no array."""
    known = [a for a in arrays if np.ndim(a)]
    return np.concatenate(known) if known else arrays[0]


def _add_up(metrics: dict[str, Metric], shapes: dict[tuple[str, str], tuple], add: Add) -> None:
    """Add all counters in one go."""
    if not shapes:
        return
    parts = [
        np.broadcast_to(np.asarray(getattr(metrics[name], attribute), np.float64), shape).ravel()
        for (name, attribute), shape in shapes.items()
    ]
    total = add(np.concatenate(parts))
    start = 0
    for ((name, attribute), shape), part in zip(shapes.items(), parts, strict=True):
        value = total[start : start + part.size].reshape(shape)
        start += part.size
        before = getattr(metrics[name], attribute)
        whole = isinstance(before, (int, np.integer)) and not shape
        setattr(metrics[name], attribute, int(value) if whole else value if shape else float(value))


def _tell_unmerged(metrics: list[tuple[str, Metric]]) -> None:
    """Say once which metrics stay each rank's own."""
    for name, metric in metrics:
        if not (metric.sums or metric.rows or metric.latest):
            warn_once(
                f"metric {name}",
                "metric '%s' (%s) does not say how ranks are merged: each rank evaluates it on its "
                "own batches. Name its counters in the class attribute 'sums' to add them up.",
                name,
                type(metric).__name__,
            )
