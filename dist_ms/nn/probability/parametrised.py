"""What distributions and bijectors have in common: a name, a type of values, and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dist_ms.common.checks import check_string
from dist_ms.nn.cell import Cell
from dist_ms.nn.probability.parameters import batch_shape_of, common_type, is_scalar


class Parametrised(Cell):
    """A cell that knows what it was made with.

    Args:
        name: what it is called.
        dtype: the type of its values; None for any float type.
        param: what it was made with; "param_dict" in it holds the parameters by name.
        hint: the type of parameters that say none.
    """

    def __init__(self, name: str | None, dtype: Any, param: Mapping[str, Any], hint: Any) -> None:
        super().__init__()
        self._name = check_string(name, "name", type(self).__name__)
        self._dtype = dtype
        self._parameters = {k: v for k, v in param.items() if k != "self" and not k.startswith("_")}
        given = self._parameters.get("param_dict", {})
        self.parameter_type = common_type(given, hint)
        self._batch_shape = batch_shape_of(given) if given else None
        self._is_scalar_batch = is_scalar(given)

    @property
    def name(self) -> str:
        """What it is called."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The type of its values; None for any float type."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What it was made with."""
        return self._parameters

    @property
    def is_scalar_batch(self) -> bool:
        """Whether its parameters are plain numbers."""
        return self._is_scalar_batch

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape of its parameters together; None if one is not given."""
        return self._batch_shape
