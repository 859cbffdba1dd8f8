"""THOR, a second-order optimizer for networks of the layers that collect what it reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_positive_int, check_type, complaint
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.thor_conversion import convert
from dist_ms.nn.optim.momentum import Momentum
from dist_ms.parallel.mode import is_data_parallel, world_comm

__all__ = ["thor"]


class _Thor(Momentum):
    """Momentum whose gradients are multiplied by the inverses of their layers' matrices."""

    element_wise = False  # a layer's gradient is needed whole

    def __init__(
        self, net: Cell, parameters: Any, damping: np.ndarray, settings: dict[str, Any], options: dict[str, Any]
    ) -> None:
        super().__init__(parameters, **options)
        self._damping, self._frequency = damping, settings["frequency"]
        self._clips = settings["enable_clip_grad"]
        # Of gradients of a mean over the batch, times the loss scale, those of the rows.
        self._gradient_scale = (settings["batch_size"] / self.loss_scale) ** 2
        layers = [cell for _, cell in net.cells_and_names() if _matrices(cell)]
        places = {id(p): index for index, p in enumerate(self.parameters)}
        weights = [getattr(cell, "weight", getattr(cell, "embedding_table", None)) for cell in layers]
        self._layers = {places[id(w)]: cell for w, cell in zip(weights, layers) if id(w) in places}
        self._inverses: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._taken = 0
        self._collect()

    def _collect(self) -> None:
        """Have the layers collect in the next step, or not."""
        for cell in self._layers.values():
            cell.thor = self._taken % self._frequency == 0

    def construct(self, gradients: Any) -> Any:
        """Update every parameter; every `frequency`-th step finds the inverses anew."""
        if self._taken % self._frequency == 0:
            self._invert()
        found = [self._natural(index, grad) for index, grad in enumerate(gradients)]
        self._taken += 1
        self._collect()
        return super().construct(ops.clip_by_global_norm(tuple(found), 1.0) if self._clips else tuple(found))

    def _invert(self) -> None:
        root = np.sqrt(self._damping[min(self._taken, len(self._damping) - 1)])
        for index, cell in self._layers.items():
            a, g = (_mean_over_ranks(m.asnumpy(), self.parameters) for m in _matrices(cell))
            self._inverses[index] = _inverse(a, root), _inverse(g * self._gradient_scale, root)

    def _natural(self, index: int, grad: Any) -> Any:
        """The gradient of a layer's weight as the second-order step has it."""
        if index not in self._inverses or not isinstance(grad, Tensor):
            return grad
        a, g = self._inverses[index]
        array = grad.asnumpy()
        if a.ndim == 1:  # rows of a table
            changed = a[:, None] * (array @ g)
        else:
            changed = g @ array.reshape(len(array), -1) @ a
        return from_array(changed.reshape(array.shape).astype(array.dtype, copy=False))


def _matrices(cell: Cell) -> tuple[Parameter, ...]:
    """What a layer collects of its inputs and of its gradients, () if it collects nothing."""
    if not hasattr(cell, "thor"):
        return ()
    return (cell.matrix_a_cov, cell.matrix_g_cov) if hasattr(cell, "matrix_a_cov") else (cell.matrix_a, cell.matrix_g)


def _mean_over_ranks(matrix: np.ndarray, weights: Sequence[Any]) -> np.ndarray:
    """A layer's matrix for the batches of all ranks that train together."""
    if not is_data_parallel(weights):
        return matrix
    comm = world_comm()
    return comm.all_reduce(np.ascontiguousarray(matrix).copy()) / comm.size


def _inverse(matrix: np.ndarray, damping: float) -> np.ndarray:
    """The inverse of a positive matrix, or of a diagonal one given by its diagonal, with more on the diagonal."""
    if matrix.ndim == 1:
        return 1 / (matrix + np.float32(damping))
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(matrix.astype(np.float64) + damping * np.eye(len(matrix)))
    return cho_solve(factor, np.eye(len(matrix))).astype(np.float32)


def thor(
    net: Cell,
    learning_rate: Tensor,
    damping: Tensor,
    momentum: float,
    weight_decay: float = 0.0,
    loss_scale: float = 1.0,
    batch_size: int = 32,
    use_nesterov: bool = False,
    decay_filter: Callable[[Parameter], bool] = lambda x: True,
    split_indices: Collection[int] | None = None,
    enable_clip_grad: bool = False,
    frequency: int = 100,
) -> Momentum:
    r"""THOR (Chen et al., 2021): momentum over gradients in the geometry of the network's own outputs.

    .. math::
        g \leftarrow (G + \sqrt\lambda I)^{-1}\; g\; (A + \sqrt\lambda I)^{-1}

    for each Dense, Conv2d, Embedding and EmbeddingLookup of the network, once in `frequency` steps. In the network they
    are replaced by layers that collect their A and G, as `ConvertNetUtils` does. What other layers have is trained by
    momentum. In a data-parallel job A and G are the means over
    the ranks.

    Args:
        net: the network, whose layers are replaced.
        learning_rate: a Tensor, a rate per step.
        damping: a Tensor, :math:`\lambda` per step.
        momentum: as in `Momentum`.
        weight_decay: as in `Momentum`.
        loss_scale: gradients are divided by it.
        batch_size: rows of a batch, of whose losses the network returns the mean.
        use_nesterov: look ahead.
        decay_filter: whether a Parameter has weight decay.
        split_indices: accepted; gradients travel in their own buckets.
        enable_clip_grad: whether gradients are clipped to a norm of 1 over all of them.
        frequency: steps from one inversion to the next, 2 or more.

    Returns:
        Optimizer.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.DenseThor(2, 1)
        >>> optimizer = ms.nn.thor(net, ms.Tensor([0.1]), ms.Tensor([0.1]), 0.9, batch_size=4)
        >>> step = ms.nn.TrainOneStepCell(ms.nn.WithLossCell(net, ms.nn.MSELoss()), optimizer)
        >>> step(ms.ops.ones((4, 2)), ms.ops.ones((4, 1))).shape
        ()
    """
    check_type(net, "net", "thor", Cell)
    check_type(learning_rate, "learning_rate", "thor", Tensor)
    check_bool(use_nesterov, "use_nesterov", "thor")
    check_bool(enable_clip_grad, "enable_clip_grad", "thor")
    check_positive_int(batch_size, "batch_size", "thor")
    if check_positive_int(frequency, "frequency", "thor") < 2:
        raise ValueError(complaint("frequency", "thor", "2 or more", frequency))
    dampings = np.asarray(damping.asnumpy() if isinstance(damping, Tensor) else damping, np.float64).reshape(-1)
    if not dampings.size or not (dampings >= 0).all():
        raise ValueError(complaint("damping", "thor", "0 or more", damping))
    convert(net)
    weights = net.trainable_params()
    decayed = [p for p in weights if decay_filter(p)]
    plain = [p for p in weights if not decay_filter(p)]
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": weight_decay}] if decayed else []
    groups += [{"params": plain, "weight_decay": 0.0}] if plain else []
    parameters = [*groups, {"order_params": weights}] if weight_decay and plain else weights
    rate = learning_rate if learning_rate.ndim == 1 else ops.reshape(learning_rate, (-1,))
    options = {
        "learning_rate": rate,
        "momentum": momentum,
        "weight_decay": weight_decay,
        "loss_scale": loss_scale,
        "use_nesterov": use_nesterov,
    }
    settings = {"frequency": frequency, "enable_clip_grad": enable_clip_grad, "batch_size": batch_size}
    return _Thor(net, parameters, dampings, settings, options)
