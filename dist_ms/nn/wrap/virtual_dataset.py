"""Networks whose inputs MindSpore splits over devices: here each rank has its own batch."""

from __future__ import annotations

from typing import Any

from dist_ms.nn.cell import Cell


class VirtualDatasetCell(Cell):
    """Passes inputs on; MindSpore marks with it where a batch is split over devices.

    Args:
        backbone: the network.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> from dist_ms.nn.wrap.virtual_dataset import VirtualDatasetCell
        >>> print(VirtualDatasetCell(nn.ReLU())(ms.Tensor([-1.0, 1.0])))
        [0. 1.]
    """

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *inputs: Any) -> Any:
        """Return what the network returns."""
        return self._backbone(*inputs)


class VirtualDatasetCellTriple(Cell):
    """Passes three inputs on; MindSpore marks with it where a batch is split over devices.

    Args:
        backbone: the network.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> class Sum(nn.Cell):
        ...     def construct(self, a, b, c):
        ...         return a + b + c
        >>> print(nn.VirtualDatasetCellTriple(Sum())(1, 2, 3))
        6
    """

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, a: Any, b: Any, c: Any) -> Any:
        """Return what the network returns."""
        return self._backbone(a, b, c)
