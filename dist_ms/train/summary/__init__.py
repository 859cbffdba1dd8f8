"""Summaries of a training run: for TensorBoard, MLflow and Weights & Biases, as CSV and JSON lines."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.train.summary.collector import SummaryCollector
    from dist_ms.train.summary.landscape import SummaryLandscape
    from dist_ms.train.summary.record import SummaryRecord
    from dist_ms.train.summary.run_loggers import CSVLogger, JSONLogger, TensorBoardLogger
    from dist_ms.train.summary.trackers import MLflowLogger, WandbLogger

__all__ = [
    "CSVLogger",
    "JSONLogger",
    "MLflowLogger",
    "SummaryCollector",
    "SummaryLandscape",
    "SummaryRecord",
    "TensorBoardLogger",
    "WandbLogger",
]

_late_names(__name__)
