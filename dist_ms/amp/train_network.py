"""build_train_network: a network, its loss and its optimizer as one train step, in mixed precision."""

from __future__ import annotations

from typing import Any

from dist_ms.amp.lists import BLACK_LIST
from dist_ms.amp.loss_scale import DynamicLossScaleManager, LossScaleManager
from dist_ms.amp.mixed_precision import LEVELS, auto_mixed_precision, keep_float32, to_float32
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_type
from dist_ms.nn.cell import Cell
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.wrap.accumulation_step import AccumulationStep, AccumulationStepWithLossScale, accumulation_of
from dist_ms.nn.wrap.loss_cells import WithLossCell
from dist_ms.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell
from dist_ms.nn.wrap.micro_batches import MeanAccumulationCell
from dist_ms.nn.wrap.train_step import TrainOneStepCell

_OWNER = "build_train_network"
_LOW_LEVELS = ("O2", "O3", "auto")


def build_train_network(
    network: Cell,
    optimizer: Optimizer,
    loss_fn: Any = None,
    level: str = "O0",
    boost_level: str = "O0",
    **kwargs: Any,
) -> Cell:
    """Return the cell that trains a network by one step when it is called with a batch.

    Args:
        network: the network; it returns the loss itself when `loss_fn` is None.
        optimizer: updates the parameters it was made with.
        loss_fn: a Cell or function of (network output, label).
        level: as for `auto_mixed_precision`; O2 also scales the loss, dynamically.
        boost_level: "O0" (MindSpore's boosting algorithms are not part of dist_ms).
        kwargs: in the place of what the level says: `cast_model_type` (float16, bfloat16 or
            float32), `keep_batchnorm_fp32` (bool) and `loss_scale_manager` (or None).

    Returns:
        The train step. It returns the loss; with a manager that drops overflows, (loss, overflow,
        scale).

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another level or keyword.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(2, 1)
        >>> step = ms.amp.build_train_network(net, nn.SGD(net.trainable_params()), nn.MSELoss(), "O3")
        >>> step(ms.ops.ones((4, 2)), ms.ops.ones((4, 1))).dtype
        mindspore.float32
    """
    return train_network(network, optimizer, loss_fn, level, boost_level, **kwargs)


def train_network(
    network: Cell,
    optimizer: Optimizer,
    loss_fn: Any = None,
    level: str = "O0",
    boost_level: str = "O0",
    parts: int = 1,
    clip_norm: float | None = None,
    **kwargs: Any,
) -> Cell:
    """Return the cell of `build_train_network`; it may also run batches in parts and clip gradients.

    Args:
        network, optimizer, loss_fn, level, boost_level, kwargs: as for `build_train_network`.
        parts: run each batch in so many parts, with one update; the loss is their mean.
        clip_norm: the largest norm of all gradients together, or None.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> from dist_ms.amp.train_network import train_network
        >>> net = nn.Dense(2, 1)
        >>> step = train_network(net, nn.SGD(net.trainable_params()), nn.MSELoss(), parts=2, clip_norm=1.0)
        >>> step(ms.ops.ones((4, 2)), ms.ops.ones((4, 1))).shape
        ()
    """
    check_type(network, "network", _OWNER, Cell)
    check_type(optimizer, "optimizer", _OWNER, Optimizer)
    _check(level, boost_level, kwargs)
    if loss_fn is not None and not callable(loss_fn):
        raise TypeError(f"For '{_OWNER}', 'loss_fn' must be a Cell or a function, but got {type(loss_fn).__name__}.")
    low = kwargs.get("cast_model_type", mstype.float16 if level in ("O2", "O3") else mstype.float32)
    network = _lowered(network, level, low, kwargs.get("keep_batchnorm_fp32", level == "O2"))
    if loss_fn is not None:
        if low is not mstype.float32 or getattr(network, "_amp_level", "O0") in _LOW_LEVELS:
            network = _WithFloat32Loss(network, loss_fn)
        else:
            network = WithLossCell(network, loss_fn)
    manager = kwargs["loss_scale_manager"] if "loss_scale_manager" in kwargs else _default_manager(level)
    if parts > 1:
        network = MeanAccumulationCell(network, parts)
    in_parts = accumulation_of(network) is not None
    update = None if manager is None else manager.get_update_cell()
    if update is not None:
        kind = AccumulationStepWithLossScale if in_parts else TrainOneStepWithLossScaleCell
        step = kind(network, optimizer, update)
    else:
        kind = AccumulationStep if in_parts else TrainOneStepCell
        step = kind(network, optimizer, None if manager is None else manager.get_loss_scale())
    if clip_norm is not None:
        step.clip_norm = clip_norm
    return step.set_train()


def _check(level: Any, boost_level: Any, kwargs: dict[str, Any]) -> None:
    check_type(level, "level", _OWNER, str)
    if level not in LEVELS:
        raise ValueError(f"For '{_OWNER}', 'level' must be one of {LEVELS}, but got {level!r}.")
    if boost_level != "O0":
        raise ValueError(
            f"For '{_OWNER}', 'boost_level' must be 'O0', but got {boost_level!r}: MindSpore's boosting is not part of "
            "dist_ms."
        )
    known = ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager")
    for name in kwargs:
        if name not in known:
            raise ValueError(f"For '{_OWNER}', a keyword must be one of {', '.join(known)}, but got '{name}'.")
    if "cast_model_type" in kwargs and kwargs["cast_model_type"] not in (
        mstype.float16,
        mstype.bfloat16,
        mstype.float32,
    ):
        raise TypeError(
            f"For '{_OWNER}', 'cast_model_type' must be float16, bfloat16 or float32, but got "
            f"{kwargs['cast_model_type']}."
        )
    if "keep_batchnorm_fp32" in kwargs:
        check_bool(kwargs["keep_batchnorm_fp32"], "keep_batchnorm_fp32", _OWNER)
    if kwargs.get("loss_scale_manager") is not None:
        check_type(kwargs["loss_scale_manager"], "loss_scale_manager", _OWNER, LossScaleManager)


def _default_manager(level: str) -> LossScaleManager | None:
    return DynamicLossScaleManager() if level == "O2" else None


def _lowered(network: Cell, level: str, low: Any, keep_batchnorm: bool) -> Cell:
    """Return the network in the types that level and keywords ask for."""
    if low is not mstype.float32:
        network.to_float(low)
        if keep_batchnorm:
            keep_float32(network, BLACK_LIST, low)
        return network
    if level == "O2" and not keep_batchnorm:
        return network.to_float(mstype.float16)
    if level in ("O2", "O3"):
        return network
    return auto_mixed_precision(network, level)


class _WithFloat32Loss(WithLossCell):
    """A network followed by a loss that is computed in float32."""

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(to_float32(self._backbone(data)), to_float32(label))
