"""LazyAdam."""

from __future__ import annotations

from dist_ms.nn.optim.adam import _AdamStep
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments


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

    __init__ = remembers_arguments(_AdamStep.__init__)
