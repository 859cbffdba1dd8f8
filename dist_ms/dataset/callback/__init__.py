"""Where MindSpore keeps the callbacks of pipelines."""

from dist_ms.dataset.stages.callbacks import DSCallback, WaitedDSCallback

__all__ = ["DSCallback", "WaitedDSCallback"]
