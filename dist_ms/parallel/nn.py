"""MindSpore's door to cells that run a batch in parts; they live a floor above, in `dist_ms.nn`."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.nn import GradAccumulationCell as GradAccumulation
    from dist_ms.nn import MicroBatchInterleaved, PipelineCell, PipelineGradReducer
    from dist_ms.nn import PipelineCell as Pipeline

__all__ = ["GradAccumulation", "MicroBatchInterleaved", "Pipeline", "PipelineCell", "PipelineGradReducer"]

_late_names(__name__)
