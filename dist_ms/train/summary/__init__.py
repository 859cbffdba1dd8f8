"""Summaries of a training run, written as TensorBoard event files."""

from dist_ms.train.summary.collector import SummaryCollector
from dist_ms.train.summary.landscape import SummaryLandscape
from dist_ms.train.summary.record import SummaryRecord

__all__ = ["SummaryCollector", "SummaryLandscape", "SummaryRecord"]
