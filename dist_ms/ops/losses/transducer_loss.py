"""RNNTLoss: the likelihood of labels over all alignments of a transducer."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_non_negative_int, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.primitive import Primitive, quiet

__all__ = ["RNNTLoss"]


class RNNTLoss(Primitive):
    """Minus the log likelihood of labels under a transducer (Graves, "Sequence Transduction", 2012), and its gradient.

    Args:
        blank_label: the class that emits nothing.

    Call:
        acts (Tensor): (N, T, U, V), scores of V classes at T times after each of the first U - 1 labels; their log
            softmax is taken, which leaves log probabilities as they are. Float32 or float16.
        labels (Tensor): (N, U - 1), int32.
        input_lengths (Tensor): (N,), how many times count, int32.
        label_lengths (Tensor): (N,), how many labels count, int32.

    Returns:
        costs, (N,); grads, the gradient of their sum with respect to `acts`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if shapes, lengths or labels do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> one = lambda *values: ms.Tensor(values, ms.int32)
        >>> costs, _ = ms.ops.RNNTLoss()(ms.ops.zeros((1, 2, 2, 2)), one([1]), one(2), one(1))
        >>> print(costs.asnumpy().round(4))
        [1.3863]
    """

    differentiable = False

    def __init__(self, blank_label: int = 0) -> None:
        self.blank_label = check_non_negative_int(blank_label, "blank_label", "RNNTLoss")

    @quiet
    def forward(
        self, acts: np.ndarray, labels: np.ndarray, input_lengths: np.ndarray, label_lengths: np.ndarray
    ) -> tuple:
        scores = acts.astype(np.float64)
        top = scores.max(-1, keepdims=True)
        logs = scores - top - np.log(np.exp(scores - top).sum(-1, keepdims=True))
        costs, slopes = np.zeros(len(acts)), np.zeros(acts.shape)
        for row, (times, count) in enumerate(zip(input_lengths, label_lengths)):
            part = slice(None, times), slice(None, count + 1)
            costs[row], slopes[row][part] = self._row(logs[row][part], labels[row, :count])
        return costs.astype(acts.dtype), slopes.astype(acts.dtype)

    def _row(self, logs: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
        """The cost and gradient of one sequence."""
        times, states, _ = logs.shape
        stay = logs[:, :, self.blank_label]
        move = np.full((times, states), -np.inf)
        move[:, :-1] = np.take_along_axis(logs[:, :-1], labels[None, :, None].astype(np.int64), 2)[..., 0]
        before = np.full((times, states), -np.inf)  # log likelihood of all ways to a place
        after = np.full((times, states), -np.inf)  # and from it to the end
        for t in range(times):
            for u in range(states):
                ways = [0.0] if t == u == 0 else []
                ways += [before[t - 1, u] + stay[t - 1, u]] if t else []
                ways += [before[t, u - 1] + move[t, u - 1]] if u else []
                before[t, u] = np.logaddexp.reduce(ways)
        for t in reversed(range(times)):
            for u in reversed(range(states)):
                ways = [stay[t, u]] if (t, u) == (times - 1, states - 1) else []
                ways += [after[t + 1, u] + stay[t, u]] if t < times - 1 else []
                ways += [after[t, u + 1] + move[t, u]] if u < states - 1 else []
                after[t, u] = np.logaddexp.reduce(ways)
        total = after[0, 0]
        slope = np.exp(logs + (before + after - total)[..., None])
        onward = np.full((times, states), -np.inf)
        onward[:-1], onward[-1, -1] = after[1:], 0.0
        slope[:, :, self.blank_label] -= np.exp(before + stay + onward - total)
        emitted = np.exp(before[:, :-1] + move[:, :-1] + after[:, 1:] - total)
        for u, label in enumerate(labels):
            slope[:, u, label] -= emitted[:, u]
        return -total, slope

    def __call__(self, acts: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor) -> Any:
        data = arguments.tensor(acts, "acts", self.name).array()
        if data.ndim != 4 or str(acts.dtype) not in ("Float32", "Float16"):
            raise (ValueError if data.ndim != 4 else TypeError)(
                complaint("acts", self.name, "(N, T, U, V) of float16 or float32", f"{acts.dtype} of {data.shape}")
            )
        n, times, states, classes = data.shape
        if self.blank_label >= classes:
            raise ValueError(complaint("blank_label", self.name, f"below {classes}", self.blank_label))
        shapes = {"labels": (n, states - 1), "input_lengths": (n,), "label_lengths": (n,)}
        highest = {"labels": classes - 1, "input_lengths": times, "label_lengths": states - 1}
        for (name, shape), value in zip(shapes.items(), (labels, input_lengths, label_lengths)):
            numbers = arguments.integral(arguments.tensor(value, name, self.name).array(), name, self.name)
            if numbers.shape != shape:
                raise ValueError(complaint(name, self.name, f"of shape {shape}", numbers.shape))
            lowest = 1 if name == "input_lengths" else 0
            if numbers.size and numbers.min() < lowest:
                raise ValueError(complaint(name, self.name, f"{lowest} or more", numbers.min()))
            if numbers.size and numbers.max() > highest[name]:
                raise ValueError(complaint(name, self.name, f"at most {highest[name]}", numbers.max()))
        return super().__call__(acts, labels, input_lengths, label_lengths)
