"""An optimizer of MindSpore that has no meaning on CPUs: it says so, and what to use."""

from __future__ import annotations

from typing import Any, NoReturn

from dist_ms.common.checks import check_type
from dist_ms.nn.optim.optimizer import Optimizer


class OptTFTWrapper(Optimizer):
    """MindSpore's wrapper that reports to the fault-tolerance service of Ascend devices: not on CPUs.

    Args:
        opt: the optimizer to wrap.

    Raises:
        TypeError: if `opt` is no Optimizer.
        ValueError: always: use the optimizer itself; a failing rank ends the job here, and
            checkpoints let it go on.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> ms.nn.OptTFTWrapper(ms.nn.SGD([w]))
        Traceback (most recent call last):
        ...
        ValueError: For 'OptTFTWrapper', the device must be Ascend, but got CPU: use the optimizer itself.
    """

    def __init__(self, opt: Optimizer, **kwargs: Any) -> NoReturn:
        check_type(opt, "opt", "OptTFTWrapper", Optimizer)
        raise ValueError("For 'OptTFTWrapper', the device must be Ascend, but got CPU: use the optimizer itself.")
