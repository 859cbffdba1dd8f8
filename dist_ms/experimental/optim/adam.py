"""Adam."""

from __future__ import annotations

from dist_ms.experimental.optim.adam_states import AdamStates


class Adam(AdamStates):
    """`nn.Adam` in PyTorch's form: a step number for all parameters, and groups that set any argument.

    Args:
        params: Parameters or group dictionaries.
        lr: a number of 0 or more, or a scalar Tensor.
        betas: decay rates in [0, 1).
        eps: added to the root, 0 or more.
        weight_decay: times the weights, added to the gradient.
        amsgrad: use the largest v so far.
        maximize: go up the gradient.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.experimental.optim.Adam([w], lr=0.1)
        >>> print(opt((ms.Tensor([3.0]),)), w.asnumpy().round(4))
        True [0.9]
    """

    eps_after = False
