"""The cell of MindSpore that has no meaning where networks are not divided into stages; making one raises an error."""

from dist_ms.common.refusing import refused

__all__ = ["PipelineGradReducer"]

PipelineGradReducer = refused(
    "PipelineGradReducer",
    "does not divide a network into stages",
    "Wrap the network in nn.GradAccumulationCell; its train step adds up the gradients of the parts.",
)
