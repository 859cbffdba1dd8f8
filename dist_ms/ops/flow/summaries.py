"""Operations that give a value of a network to the SummaryRecords that are open."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_string, complaint
from dist_ms.common.summary_values import give
from dist_ms.common.tensor import Tensor
from dist_ms.ops.primitive import Undifferentiable

__all__ = ["HistogramSummary", "ImageSummary", "ScalarSummary", "TensorSummary"]


class _Summary(Undifferentiable):
    """What the four share: a name, a value of the right shape, and no result."""

    _plugin = ""

    def _fits(self, shape: tuple[int, ...]) -> str:
        """What shape is wanted, "" if this one is right."""
        return ""

    def __call__(self, name: str, value: Any) -> None:
        check_string(name, "name", self.name)
        if not name:
            raise ValueError(complaint("name", self.name, "a string that is not empty", "''"))
        if not isinstance(value, Tensor):
            raise TypeError(complaint("value", self.name, "a Tensor", type(value).__name__))
        wanted = self._fits(value.shape)
        if wanted:
            raise ValueError(complaint("value", self.name, wanted, f"shape {value.shape}"))
        # A later operation may write into the tensor.
        give(self._plugin, name, value.asnumpy().copy())


class ScalarSummary(_Summary):
    """Gives a number to the SummaryRecords that are open; their next `record` writes it.

    Call:
        name (str): what TensorBoard shows it as.
        value (Tensor): one number.

    Raises:
        TypeError: if the name is no str or the value no Tensor.
        ValueError: if the name is empty, or the value not one number.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.ScalarSummary()("loss", ms.Tensor(0.5))
    """

    _plugin = "scalar"

    def _fits(self, shape: tuple[int, ...]) -> str:
        return "" if shape in ((), (1,)) else "one number"


class HistogramSummary(_Summary):
    """Gives a tensor to the SummaryRecords that are open; their next `record` writes its distribution.

    Call:
        name (str): what TensorBoard shows it as.
        value (Tensor): of at least one dimension.

    Raises:
        TypeError: if the name is no str or the value no Tensor.
        ValueError: if the name is empty, or the value has no dimension.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.HistogramSummary()("weights", ms.Tensor([0.5, 1.0]))
    """

    _plugin = "histogram"

    def _fits(self, shape: tuple[int, ...]) -> str:
        return "" if shape else "of one dimension or more"


class TensorSummary(HistogramSummary):
    """`HistogramSummary` by another name: event files hold a tensor's distribution.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.TensorSummary()("features", ms.Tensor([0.5, 1.0]))
    """

    _plugin = "tensor"


class ImageSummary(_Summary):
    """Gives images to the SummaryRecords that are open; their next `record` writes them.

    Call:
        name (str): what TensorBoard shows them as.
        value (Tensor): (N, C, H, W) with 1 or 3 channels.

    Raises:
        TypeError: if the name is no str or the value no Tensor.
        ValueError: if the name is empty, or the shape another.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.ImageSummary()("inputs", ms.ops.ones((2, 3, 8, 8)))
    """

    _plugin = "image"

    def _fits(self, shape: tuple[int, ...]) -> str:
        return "" if len(shape) == 4 and shape[1] in (1, 3) else "(N, 1 or 3, H, W)"
