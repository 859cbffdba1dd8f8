"""build_train_network: a network, its loss and its optimizer as one train step, in mixed precision."""

from __future__ import annotations

from typing import Any

from dist_ms.amp.lists import BLACK_LIST
from dist_ms.amp.loss_scale import DynamicLossScaleManager, LossScaleManager
from dist_ms.amp.mixed_precision import LEVELS, auto_mixed_precision, keep_float32, to_float32
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_choice, check_string, check_type
from dist_ms.nn.cell import Cell
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.wrap.accumulation_step import AccumulationStep, AccumulationStepWithLossScale, accumulation_of
from dist_ms.nn.wrap.loss_cells import WithLossCell
from dist_ms.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell
from dist_ms.nn.wrap.micro_batches import MeanAccumulationCell
from dist_ms.nn.wrap.train_step import TrainOneStepCell

_OWNER = "build_train_network"
_LOW_LEVELS = ("O2", "O3", "auto")
BOOST_LEVELS = ("O0", "O1", "O2")
_STEPS: tuple[Any, Any] = TrainOneStepCell, TrainOneStepWithLossScaleCell


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
        boost_level: "O0", or "O1" or "O2": the step does what `boost.AutoBoost` has chosen.
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
    check_type(optimizer, "optimizer", _OWNER, Optimizer if boost_level == "O0" else Cell)
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
    plain, scaled = (AccumulationStep, AccumulationStepWithLossScale) if in_parts else _STEPS
    if boost_level != "O0":
        plain, scaled = _boost_steps(in_parts, clip_norm)
    if update is not None:
        step = scaled(network, optimizer, update)
    else:
        step = plain(network, optimizer, None if manager is None else manager.get_loss_scale())
    if clip_norm is not None:
        step.clip_norm = clip_norm
    return step.set_train()


def _check(level: Any, boost_level: Any, kwargs: dict[str, Any]) -> None:
    check_type(level, "level", _OWNER, str)
    check_choice(level, "level", _OWNER, LEVELS)
    check_string(boost_level, "boost_level", _OWNER, list(BOOST_LEVELS))
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
        manager = kwargs["loss_scale_manager"]
        if not hasattr(manager, "set_loss_scale_status"):  # boost's, for groups of layers
            check_type(manager, "loss_scale_manager", _OWNER, LossScaleManager)


def _boost_steps(in_parts: bool, clip_norm: float | None) -> tuple[Any, Any]:
    """The steps of a boost level, without and with a cell that changes the loss scale."""
    if in_parts or clip_norm is not None:
        raise ValueError(
            f"For '{_OWNER}', 'boost_level' must be 'O0' with gradients that are accumulated in parts or clipped: use "
            "'grad_accumulation' of boost.AutoBoost."
        )
    from dist_ms.boost.steps import BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell

    return BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell


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
