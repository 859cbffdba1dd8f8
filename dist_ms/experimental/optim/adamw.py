"""AdamW."""

from __future__ import annotations

from typing import Any

from dist_ms.experimental.optim.adam_states import AdamStates


class AdamW(AdamStates):
    r"""`Adam` with the weight decay apart from the gradient, and eps apart from the correction.

    .. math::
        w \leftarrow (1 - \eta \lambda) w - \frac{\eta}{1-\beta_1^t}
        \frac{m}{\sqrt{v} / \sqrt{1-\beta_2^t} + \epsilon}

    where :math:`\lambda` is `weight_decay`. Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.experimental.optim.AdamW([w], lr=0.1, weight_decay=0.5)
        >>> print(opt((ms.Tensor([3.0]),)), w.asnumpy().round(4))
        True [0.85]
    """

    decoupled = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
