"""Cells that run a batch in parts: GradAccumulationCell, PipelineCell, MicroBatchInterleaved."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell


class _InParts(Cell):
    """A network that runs on equal parts of its inputs; what it returns is added up."""

    def __init__(self, network: Cell, parts: int, argument: str) -> None:
        super().__init__(auto_prefix=False)
        owner = type(self).__name__
        check_type(network, "network", owner, Cell)
        if isinstance(parts, bool) or not isinstance(parts, int):
            raise TypeError(f"For '{owner}', '{argument}' must be an int, but got {type(parts).__name__}.")
        if parts <= 0:
            raise ValueError(f"For '{owner}', '{argument}' must be above 0, but got {parts}.")
        self.network = network
        self._parts = parts

    def part(self, index: int, inputs: tuple) -> tuple:
        """Return one part of each input, cut along the first axis.

        Args:
            index: which part, from 0.
            inputs: Tensors; other values are in every part.

        Raises:
            ValueError: if a first axis cannot be cut evenly.
        """
        return tuple(self._cut(index, x) if isinstance(x, Tensor) else x for x in inputs)

    def _cut(self, index: int, x: Tensor) -> Tensor:
        if x.ndim == 0 or x.shape[0] % self._parts:
            raise ValueError(
                f"For '{type(self).__name__}', the first length of each input must be a multiple of {self._parts}, "
                f"but got shape {x.shape}."
            )
        length = x.shape[0] // self._parts
        return x[index * length : (index + 1) * length]

    def construct(self, *inputs: Any) -> Any:
        """Return the sum of what the network returns for each part."""
        total = self.network(*self.part(0, inputs))
        for index in range(1, self._parts):
            total = total + self.network(*self.part(index, inputs))
        return total


class GradAccumulationCell(_InParts):
    """Train on a batch in parts, so that only one part's activations are in memory at a time.

    `TrainOneStepCell` of `amp.build_train_network` and `Model` sees it: each part goes forward and
    back, gradients add up, and the optimizer gets their mean over the parts once. Called directly,
    it returns the sum over the parts of what the network returns.

    Args:
        network: the network, which returns the loss of a part.
        micro_size: the number of parts; the first length of every input is a multiple of it.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if `micro_size` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.GradAccumulationCell(nn.WithLossCell(nn.ReLU(), nn.MSELoss()), 2)
        >>> print(net(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 0.0])))
        5.0
    """

    def __init__(self, network: Cell, micro_size: int) -> None:
        super().__init__(network, micro_size, "micro_size")
        self.micro_size = micro_size

    def joined(self, total: Any) -> Any:
        """Return what a train step returns as its loss, of the sum over the parts."""
        return total


class MeanAccumulationCell(GradAccumulationCell):
    """A `GradAccumulationCell` that returns the mean over the parts: the loss of the whole batch.

    Args:
        network: the network, which returns the loss of a part.
        micro_size: the number of parts; the first length of every input is a multiple of it.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> from dist_ms.nn.wrap.micro_batches import MeanAccumulationCell
        >>> net = MeanAccumulationCell(nn.WithLossCell(nn.ReLU(), nn.MSELoss()), 2)
        >>> print(net(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 0.0])))
        2.5
    """

    def construct(self, *inputs: Any) -> Any:
        """Return the mean of what the network returns for each part."""
        return self.joined(super().construct(*inputs))

    def joined(self, total: Any) -> Any:
        """Return the mean over the parts."""
        return total / self.micro_size


class PipelineCell(GradAccumulationCell):
    """A pipeline of one stage: the batch in parts, as `GradAccumulationCell` runs it.

    Args:
        network: the network, which returns the loss of a part.
        micro_size: the number of parts.
        stage_config: None: dist_ms does not divide a network over ranks.
        segment_config: None, likewise.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if `micro_size` is not above 0, or there are several stages.

    Examples:
        >>> from dist_ms import nn
        >>> nn.PipelineCell(nn.ReLU(), 4).micro_size
        4
    """

    def __init__(
        self, network: Cell, micro_size: int, stage_config: dict | None = None, segment_config: dict | None = None
    ) -> None:
        super().__init__(network, micro_size)
        for name, config in (("stage_config", stage_config), ("segment_config", segment_config)):
            if config is not None:
                raise ValueError(
                    f"For 'PipelineCell', '{name}' must be None, but got {config}: dist_ms trains data-parallel and "
                    "does not divide a network over ranks."
                )


class MicroBatchInterleaved(_InParts):
    """Run a batch in parts and return the sum; on devices with streams of their own they overlap.

    Args:
        network: the network.
        interleave_num: the number of parts.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if `interleave_num` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> print(nn.MicroBatchInterleaved(nn.ReLU(), 2)(ms.Tensor([1.0, 2.0])))
        [3.]
    """

    def __init__(self, network: Cell, interleave_num: int = 2) -> None:
        super().__init__(network, interleave_num, "interleave_num")
        self.interleave_num = interleave_num
