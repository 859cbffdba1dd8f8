"""A last layer that normalises by itself, and networks that get it in the place of the last Dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_positive_int, check_type
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.dense import Dense

__all__ = ["CommonHeadLastFN", "LessBN"]


class CommonHeadLastFN(Cell):
    r"""A dense layer of rows of length 1: :math:`m (\frac{x}{\|x\|} \cdot \frac{w}{\|w\|} + b)` with a factor m.

    Args:
        in_channels: numbers in a row of the input.
        out_channels: numbers in a row of the output.
        weight_init: first values of the weight of shape (out_channels, in_channels).
        bias_init: first values of the bias.
        has_bias: whether there is a bias.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.boost.CommonHeadLastFN(2, 1, weight_init="ones", has_bias=False)
        >>> print(net(ms.Tensor([[3.0, 3.0]])))
        [[1.]]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
    ) -> None:
        super().__init__()
        for name, value in (("in_channels", in_channels), ("out_channels", out_channels)):
            check_positive_int(value, name, "CommonHeadLastFN")
        self.has_bias = check_bool(has_bias, "has_bias", "CommonHeadLastFN")
        self.weight = Parameter(initializer(weight_init, [out_channels, in_channels]), name="weight")
        self.multiplier = Parameter(Tensor(np.ones(1, np.float32)), name="multiplier")
        if has_bias:
            self.bias = Parameter(initializer(bias_init, [out_channels]), name="bias")

    def construct(self, x: Tensor) -> Tensor:
        """Return the products of the normalised rows and weights.

        Args:
            x: of shape (N, in_channels).
        """
        norm = ops.L2Normalize(axis=1)
        out = ops.matmul(norm(x), ops.transpose(norm(self.weight), (1, 0)))
        if self.has_bias:
            out = ops.bias_add(out, self.bias)
        return self.multiplier * out


class LessBN(Cell):
    """A network that needs fewer BatchNorms: it is noted on its cells, and its last Dense may be normalised.

    No BatchNorm is taken out here; MindSpore's compiler for Ascend does that with the note.

    Args:
        network: the network; it is changed.
        fn_flag: put a `CommonHeadLastFN` with the same weight, and without a bias, in the place of the last Dense
            of each cell that has one.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = ms.boost.LessBN(nn.SequentialCell(nn.Dense(2, 4), nn.ReLU(), nn.Dense(4, 2)), fn_flag=True)
        >>> [type(cell).__name__ for cell in net.network]
        ['Dense', 'ReLU', 'CommonHeadLastFN']
    """

    def __init__(self, network: Cell, fn_flag: bool = False) -> None:
        super().__init__()
        check_type(network, "network", "LessBN", Cell)
        check_bool(fn_flag, "fn_flag", "LessBN")
        self.network = network
        if "less_bn" in network.get_flags():
            return
        network.set_boost("less_bn")
        network.update_cell_prefix()
        if fn_flag:
            _normalise_last(network)

    def construct(self, *inputs: Any) -> Any:
        """Run the network."""
        return self.network(*inputs)


def _normalise_last(network: Cell) -> None:
    """Replace the last Dense among a cell's children, and those of the other children."""
    last = None
    for name, cell in network.name_cells().items():
        if isinstance(cell, Dense):
            last = name, cell
        elif cell is not network:
            _normalise_last(cell)
    if last is None:
        return
    name, dense = last
    made = CommonHeadLastFN(dense.in_channels, dense.out_channels, dense.weight, has_bias=False)
    made.update_parameters_name(dense.param_prefix + ".")
    network.insert_child_to_cell(name, made)
