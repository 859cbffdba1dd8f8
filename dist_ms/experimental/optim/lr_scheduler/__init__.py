"""Schedulers of the optimizers in PyTorch's form: `scheduler.step()` sets the next learning rates."""

from dist_ms.experimental.optim.lr_scheduler.base import LRScheduler
from dist_ms.experimental.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from dist_ms.experimental.optim.lr_scheduler.cyclic import CyclicLR
from dist_ms.experimental.optim.lr_scheduler.factors import ConstantLR, ExponentialLR, MultiStepLR, StepLR
from dist_ms.experimental.optim.lr_scheduler.functions import LambdaLR, MultiplicativeLR
from dist_ms.experimental.optim.lr_scheduler.plateau import ReduceLROnPlateau
from dist_ms.experimental.optim.lr_scheduler.ramps import LinearLR, PolynomialLR
from dist_ms.experimental.optim.lr_scheduler.sequential import SequentialLR

__all__ = [
    *("ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LRScheduler"),
    *("LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR", "ReduceLROnPlateau"),
    *("SequentialLR", "StepLR"),
]
