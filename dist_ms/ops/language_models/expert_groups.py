"""The choice among groups of experts."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import check_positive_int, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import floating, integral, tensor
from dist_ms.ops.primitive import Primitive

__all__ = ["GroupTopk"]


class GroupTopk(Primitive):
    """Sets to 0, in place, the experts of a token that are not in its best groups, and returns the tensor.

    A group's score is the sum of its `k_inner` largest numbers (DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024).

    Call:
        token (Tensor): (tokens, experts) floats, not negative: each token's numbers of the experts; changed.
        idx_arr (Tensor): int32, room for the kernel of another device; not read.
        group_num (int): into how many groups neighbouring experts are put; it divides their number.
        k (int): how many groups are kept.
        k_inner (int): how many numbers make a group's score.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number does not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[0.1, 0.2, 0.9, 0.0]])
        >>> print(ms.ops.GroupTopk()(x, ms.Tensor([0], ms.int32), 2, 1))
        [[0.  0.  0.9 0. ]]
    """

    differentiable = False

    def __call__(self, token: Tensor, idx_arr: Tensor, group_num: int, k: int, k_inner: int = 1) -> Tensor:
        array = floating(tensor(token, "token", self.name).array(), "token", self.name, complex_too=False)
        integral(tensor(idx_arr, "idx_arr", self.name).array(), "idx_arr", self.name)
        if array.ndim != 2 or array.shape[1] % check_positive_int(group_num, "group_num", self.name):
            raise ValueError(complaint("group_num", self.name, f"a divisor of the experts in {array.shape}", group_num))
        groups = array.reshape(len(array), group_num, -1)
        if not 0 < check_positive_int(k, "k", self.name) <= group_num:
            raise ValueError(complaint("k", self.name, f"at most {group_num} groups", k))
        if check_positive_int(k_inner, "k_inner", self.name) > groups.shape[2]:
            raise ValueError(complaint("k_inner", self.name, f"at most {groups.shape[2]} experts", k_inner))
        scores = np.sort(groups.astype(np.float32), -1)[..., -k_inner:].sum(-1)
        best = np.argsort(-scores, -1, kind="stable")[:, :k]
        kept = np.zeros(scores.shape, bool)
        np.put_along_axis(kept, best, True, -1)
        token.copy_(wrap(np.where(kept[..., None], groups, 0).astype(array.dtype).reshape(array.shape)))
        return token
