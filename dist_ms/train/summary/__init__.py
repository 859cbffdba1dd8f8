"""Summaries of a training run: TensorBoard's event files, CSV and JSON lines."""

from dist_ms.train.summary.collector import SummaryCollector
from dist_ms.train.summary.landscape import SummaryLandscape
from dist_ms.train.summary.record import SummaryRecord
from dist_ms.train.summary.run_loggers import CSVLogger, JSONLogger, TensorBoardLogger

__all__ = ["CSVLogger", "JSONLogger", "SummaryCollector", "SummaryLandscape", "SummaryRecord", "TensorBoardLogger"]
