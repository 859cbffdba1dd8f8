"""Cells of MindSpore for devices and stages, of which there are none; making one raises an error."""

from dist_ms.common.refusing import refused

__all__ = ["GetNextSingleOp", "PipelineGradReducer"]

GetNextSingleOp = refused(
    "GetNextSingleOp", "has no queue of data on a device", "Iterate over the dataset, or call Model.train."
)

PipelineGradReducer = refused(
    "PipelineGradReducer",
    "does not divide a network into stages",
    "Wrap the network in nn.GradAccumulationCell; its train step adds up the gradients of the parts.",
)
