"""AdamW, and FusedAdamW, which takes the same steps."""

from __future__ import annotations

from typing import Any

from dist_ms.mint.optim.adam import StrictAdamStates


class AdamW(StrictAdamStates):
    """`experimental.optim.AdamW`, with arguments that must be floats and a tuple.

    MindSpore 2.10 has no kernel of it on the CPU.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.mint.optim.AdamW([w], lr=0.1, weight_decay=0.5)
        >>> print(opt((ms.Tensor([3.0]),)), w.asnumpy().round(4))
        True [0.85]
    """

    decoupled = True
    first_count = -1

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class FusedAdamW(AdamW):
    """`AdamW`, which MindSpore runs on all parameters of a group at once: the same steps.

    `betas` may be a list, and all groups must have the same `amsgrad`.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.mint.optim.FusedAdamW([w], lr=0.1, weight_decay=0.5)((ms.Tensor([3.0]),))
        >>> print(w.asnumpy().round(4))
        [0.85]
    """

    pair_types = (tuple, list)

    def add_param_group(self, param_group: dict) -> None:
        """Add a group.

        Raises:
            ValueError: if its `amsgrad` differs from the other groups'.
        """
        if self.param_groups and isinstance(param_group, dict):
            mine, other = self.param_groups[0]["amsgrad"], param_group.get("amsgrad", self.defaults["amsgrad"])
            if bool(mine) != bool(other):
                raise ValueError(
                    f"For 'FusedAdamW', 'amsgrad' must be the same in all groups, {mine}, but got {other}."
                )
        super().add_param_group(param_group)
