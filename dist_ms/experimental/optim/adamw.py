"""AdamW."""

from __future__ import annotations

from typing import Any

from dist_ms.experimental.optim.adam_states import AdamStates


class AdamW(AdamStates):
    r"""Adam with the weight decay apart from the gradient.

    .. math::
        m \leftarrow \beta_1 m + (1-\beta_1) g, \quad v \leftarrow \beta_2 v + (1-\beta_2) g^2, \quad
        w \leftarrow (1 - \eta \lambda) w - \frac{\eta}{1-\beta_1^t}
        \frac{m}{\sqrt{v} / \sqrt{1-\beta_2^t} + \epsilon}

    With `amsgrad` the running maximum of v stands in the root. Source: Loshchilov and Hutter,
    Decoupled Weight Decay Regularization, 2019.

    Args:
        params: Parameters or group dictionaries.
        lr: a number of 0 or more, or a scalar Tensor.
        betas: decay rates in [0, 1).
        eps: added to the corrected root, 0 or more.
        weight_decay: :math:`\lambda`.
        amsgrad: use the largest v so far.
        maximize: go up the gradient.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

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
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)
