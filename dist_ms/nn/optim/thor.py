"""THOR, a second-order optimizer for networks of the layers that collect what it reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_positive_int, check_type, complaint
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.normalization import LayerNorm
from dist_ms.nn.layer.thor_conversion import convert
from dist_ms.nn.optim.momentum import Momentum
from dist_ms.nn.optim.thor_blocks import between, block_shapes, inverse, inverse_blocks
from dist_ms.parallel.mode import is_data_parallel, world_comm

__all__ = ["thor"]


class _Thor(Momentum):
    """Momentum whose gradients are multiplied by the inverses of their layers' matrices.

    The matrices of layers are among its parameters, and so are the inverses: a run that goes on has them.
    """

    element_wise = False  # a layer's gradient is needed whole

    def __init__(self, net: Cell, damping: np.ndarray, settings: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__(net.trainable_params(), **options)
        self._damping, self._frequency = damping, settings["frequency"]
        self._clips, self._batch_size = settings["enable_clip_grad"], settings["batch_size"]
        self.decay_flags = tuple(bool(settings["decay_filter"](p)) for p in self.parameters)
        # Of gradients of a mean over the batch, times the loss scale, those of the rows.
        self._gradient_scale = (self._batch_size / self.loss_scale) ** 2
        layers = [cell for _, cell in net.cells_and_names() if _matrices(cell)]
        convolutions = [cell for cell in layers if hasattr(cell, "a_normalizer")]
        self.collected_a = ParameterTuple([_matrices(cell)[0] for cell in layers])
        self.collected_g = ParameterTuple([_matrices(cell)[1] for cell in layers])
        self.a_normalizers = ParameterTuple([cell.a_normalizer for cell in convolutions])
        self.g_normalizers = ParameterTuple([cell.g_normalizer for cell in convolutions])
        self.cov_step = Parameter(Tensor(np.zeros(1, np.int32)), name="cov_step", requires_grad=False)
        by_weight = {id(getattr(cell, "weight", getattr(cell, "embedding_table", None))): cell for cell in layers}
        self._layers = {index: by_weight[id(p)] for index, p in enumerate(self.parameters) if id(p) in by_weight}
        norms = [cell for _, cell in net.cells_and_names() if isinstance(cell, LayerNorm)]
        scales = {id(p) for cell in norms for p in (cell.gamma, cell.beta)}
        self._norms = [index for index, p in enumerate(self.parameters) if id(p) in scales]
        shapes = [_inverse_shapes(cell) for cell in self._layers.values()]
        self.inverses_a = _zeros("matrix_a_inv", [a for a, _ in shapes])
        self.inverses_g = _zeros("matrix_g_inv", [g for _, g in shapes])
        self._collect()

    def get_frequency(self) -> int:
        """Return the steps from one inversion to the next."""
        return self._frequency

    def _taken(self) -> int:
        return int(self.cov_step.asnumpy()[0])

    def _collect(self) -> None:
        """Have the layers collect in the next step, or not."""
        for cell in self._layers.values():
            cell.thor = self._taken() % self._frequency == 0

    def construct(self, gradients: Any) -> Any:
        """Update every parameter; every `frequency`-th step finds the inverses anew."""
        root = np.sqrt(self._damping[min(self._taken(), len(self._damping) - 1)])
        if self._taken() % self._frequency == 0:
            self._invert(root)
        found = list(gradients)
        for place, index in enumerate(self._layers):
            found[index] = self._natural(place, found[index])
        for index in self._norms:
            found[index] = self._natural_by_elements(found[index], root)
        self.cov_step.set_data(Tensor(np.array([self._taken() + 1], np.int32)))
        self._collect()
        if self._clips:
            # The rule divides by the loss scale.
            found = [_clipped(grad, self.loss_scale) for grad in self.decay_weight(tuple(found))]
        return super().construct(tuple(found))

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule; clipped gradients have the weight decay in them."""
        return super().rule_numbers(index, lr, 0.0 if self._clips else weight_decay)

    def _invert(self, root: float) -> None:
        for place, cell in enumerate(self._layers.values()):
            a, g = (_mean_over_ranks(m.asnumpy(), self.parameters) for m in _matrices(cell))
            g = g * self._gradient_scale
            kept_a, kept_g = self.inverses_a[place], self.inverses_g[place]
            if a.ndim == 1:  # how often each row of a table was looked up
                kept_a.set_data(from_array(1 / (a / np.float32(self._batch_size) + np.float32(root))))
                kept_g.set_data(from_array(inverse(g, root)))
            else:
                kept_a.set_data(from_array(np.broadcast_to(inverse_blocks(a, root), kept_a.shape).copy()))
                kept_g.set_data(from_array(inverse_blocks(g, root)))

    def _natural(self, place: int, grad: Any) -> Any:
        """The gradient of a layer's weight as the second-order step has it."""
        if not isinstance(grad, Tensor):
            return grad
        a, g = self.inverses_a[place].asnumpy(), self.inverses_g[place].asnumpy()
        array = grad.asnumpy()
        changed = a[:, None] * (array @ g) if a.ndim == 1 else between(array.reshape(len(array), -1), a, g)
        return from_array(changed.reshape(array.shape).astype(array.dtype, copy=False))

    def _natural_by_elements(self, grad: Any, root: float) -> Any:
        """The gradient of a LayerNorm's scales, whose matrix is a diagonal: its own squares over the batch."""
        if not isinstance(grad, Tensor):
            return grad
        array = grad.asnumpy()
        squares = np.square(array.astype(np.float32) * np.float32(self.grad_factor)) / np.float32(self._batch_size)
        return from_array((array / (squares + np.float32(root))).astype(array.dtype, copy=False))


def _clipped(grad: Any, norm: float) -> Any:
    """A gradient made as short as `norm` if it is longer."""
    if not isinstance(grad, Tensor):
        return grad
    array = grad.asnumpy()
    length = float(np.linalg.norm(array.astype(np.float32, copy=False)))
    return from_array(array * array.dtype.type(norm / length)) if length > norm else grad


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


def _inverse_shapes(cell: Cell) -> tuple[tuple[int, ...], tuple[int, ...]]:
    a, g = _matrices(cell)
    return (a.shape, g.shape) if a.ndim == 1 else block_shapes(len(a), len(g))


def _zeros(name: str, shapes: Sequence[tuple[int, ...]]) -> ParameterTuple:
    return ParameterTuple(
        [
            Parameter(Tensor(np.zeros(shape, np.float32)), name=f"{name}_{place}", requires_grad=False)
            for place, shape in enumerate(shapes)
        ]
    )


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

    for each Dense, Conv2d, Embedding and EmbeddingLookup of the network; the inverses are found once in `frequency`
    steps. In the network they are replaced by layers that collect their A and G, as `ConvertNetUtils` does. Of A and G
    of more than 128 rows the blocks of 128 on the diagonal are taken; the G of a table stays whole. The gradient of a
    LayerNorm's scales is divided by its square over `batch_size`, plus :math:`\sqrt\lambda`. What other layers have is
    trained by momentum. In a data-parallel job A and G are the means over the ranks. The inverses are parameters of the
    optimizer.

    Args:
        net: the network, whose layers are replaced.
        learning_rate: a Tensor, a rate per step.
        damping: a Tensor, :math:`\lambda` per step.
        momentum: as in `Momentum`.
        weight_decay: as in `Momentum`.
        loss_scale: gradients are divided by it.
        batch_size: rows of a batch, of whose losses the network returns the mean.
        use_nesterov: look ahead.
        decay_filter: whether a Parameter has weight decay; those with "beta" or "gamma" in their names do, too.
        split_indices: accepted; gradients travel in their own buckets.
        enable_clip_grad: whether each gradient is clipped to a norm of 1, with its weight decay.
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
    rate = learning_rate if learning_rate.ndim == 1 else ops.reshape(learning_rate, (-1,))
    options = {
        "learning_rate": rate,
        "momentum": momentum,
        "weight_decay": weight_decay,
        "loss_scale": loss_scale,
        "use_nesterov": use_nesterov,
    }
    settings = {
        "frequency": frequency,
        "enable_clip_grad": enable_clip_grad,
        "batch_size": batch_size,
        "decay_filter": decay_filter,
    }
    return _Thor(net, dampings, settings, options)
