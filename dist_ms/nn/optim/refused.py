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


def thor(
    net: Any,
    learning_rate: Any,
    damping: Any,
    momentum: float,
    weight_decay: float = 0.0,
    loss_scale: float = 1.0,
    batch_size: int = 32,
    use_nesterov: bool = False,
    decay_filter: Any = None,
    split_indices: Any = None,
    enable_clip_grad: bool = False,
    frequency: int = 100,
) -> NoReturn:
    """MindSpore's second-order optimizer for Ascend and GPU: not on CPUs.

    Args:
        net: the network, and then MindSpore's arguments of `thor`.

    Raises:
        NotImplementedError: always: MindSpore has it on Ascend and GPU only. `nn.Lamb` and
            `nn.AdamWeightDecay` serve the same large batches.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.thor(ms.nn.Dense(2, 1), ms.Tensor([0.1]), ms.Tensor([0.1]), 0.9)
        Traceback (most recent call last):
        ...
        NotImplementedError: For 'thor', the device must be Ascend or GPU, but got CPU: use 'Lamb' or 'AdamWeightDecay'.
    """
    raise NotImplementedError(
        "For 'thor', the device must be Ascend or GPU, but got CPU: use 'Lamb' or 'AdamWeightDecay'."
    )


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
