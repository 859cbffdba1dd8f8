"""Summaries of a training run, written as TensorBoard event files."""

from dist_ms.train.summary.collector import SummaryCollector
from dist_ms.train.summary.record import SummaryRecord
from dist_ms.train.summary.refused import SummaryLandscape

__all__ = ["SummaryCollector", "SummaryLandscape", "SummaryRecord"]
