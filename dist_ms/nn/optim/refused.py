"""Optimizers of MindSpore that have no meaning on CPUs: each says so, and what to use."""

from __future__ import annotations

from typing import Any, NoReturn

from dist_ms.common.checks import check_type
from dist_ms.nn.cell import Cell
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


class _AdaSum(Cell):
    """What both AdaSum cells say."""

    def __init__(self, optimizer: Optimizer) -> NoReturn:
        check_type(optimizer, "optimizer", type(self).__name__, Optimizer)
        raise RuntimeError(
            f"For '{type(self).__name__}', the device must be Ascend or GPU, but got CPU: "
            "use the optimizer itself, with gradients_mean=True."
        )


class AdaSumByGradWrapCell(_AdaSum):
    """MindSpore's adaptive summation of gradients over groups of eight devices: not on CPUs.

    Args:
        optimizer: the optimizer to wrap.

    Raises:
        TypeError: if `optimizer` is no Optimizer.
        RuntimeError: always: MindSpore has it on Ascend and GPU only.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> ms.nn.AdaSumByGradWrapCell(ms.nn.SGD([w]))
        Traceback (most recent call last):
        ...
        RuntimeError: For 'AdaSumByGradWrapCell', the device must be Ascend or GPU, but got CPU: use the optimizer
        itself, with gradients_mean=True.
    """


class AdaSumByDeltaWeightWrapCell(_AdaSum):
    """MindSpore's adaptive summation of weight changes over groups of eight devices: not on CPUs.

    Args:
        optimizer: the optimizer to wrap.

    Raises:
        TypeError: if `optimizer` is no Optimizer.
        RuntimeError: always: MindSpore has it on Ascend and GPU only.
    """
