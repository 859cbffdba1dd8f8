"""LazyAdam."""

from __future__ import annotations

from typing import Any

from dist_ms.nn.optim.adam import _AdamStep
from dist_ms.nn.optim.hyper_parameters.arguments import opt_init_args_register


class LazyAdam(_AdamStep):
    """`Adam` that leaves rows without a gradient alone; it has no `use_amsgrad`.

    Of a table whose gradient is a RowTensor (`nn.EmbeddingLookup`) only the rows that were looked
    up and their moments change; rows that come several times are added up first, and have weight
    decay once. For other gradients it is Adam.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.nn.LazyAdam([w], learning_rate=0.1)((ms.Tensor([3.0]),))
        >>> print(w.asnumpy().round(4))
        [0.9]
    """

    element_wise = True
    sparse_target = True
    lazy_rows = True

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._set_moments(beta1, beta2, eps, use_locking, use_nesterov)
