"""SampledSoftmaxLoss: softmax cross entropy over the true classes and a few drawn ones."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_positive_int, check_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.loss.loss import LossBase, check_tensors

__all__ = ["SampledSoftmaxLoss"]


class SampledSoftmaxLoss(LossBase):
    """Softmax cross entropy over the true classes and a sample of all classes.

    Each logit, logits weights[c] + biases[c], is lowered by the log of how often its class is
    expected in the sample. Jean et al., "On Using Very Large Target Vocabulary for Neural Machine
    Translation", 2015.

    Args:
        num_sampled: number of classes drawn, without repetition; at most `num_classes`.
        num_classes: number of classes.
        num_true: number of true classes of each row; at most `num_classes`.
        sampled_values: a tuple or list (classes, expected counts of the true classes, expected counts
            of the drawn ones) to use instead of a draw.
        remove_accidental_hits: whether true classes are kept out of the draw.
        seed: start of the random numbers, 0 or more; 0 takes it from the global seed.
        reduction: "mean", "sum" or "none"; as in MindSpore it has no effect on the result.

    Inputs:
        weights (Tensor): (num_classes, dim).
        biases (Tensor): (num_classes,).
        labels (Tensor): (N, num_true) or (N,), int32 or int64.
        logits (Tensor): (N, dim), what the layer before returned.

    Outputs:
        Tensor (N,).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> loss = ms.nn.SampledSoftmaxLoss(num_sampled=2, num_classes=5)
        >>> weights, biases = ms.ops.ones((5, 3)), ms.ops.zeros((5,))
        >>> loss(weights, biases, ms.Tensor([[0], [4]]), ms.ops.ones((2, 3))).shape
        (2,)
    """

    def __init__(
        self,
        num_sampled: int,
        num_classes: int,
        num_true: int = 1,
        sampled_values: Any = None,
        remove_accidental_hits: bool = True,
        seed: int = 0,
        reduction: str = "none",
    ) -> None:
        super().__init__(reduction)
        for name, value, good, wanted in (
            ("num_true", num_true, num_true >= 1, "1 or more"),
            ("seed", seed, seed >= 0, "0 or more"),
            ("num_sampled", num_sampled, num_sampled <= num_classes, f"at most 'num_classes' {num_classes}"),
            ("num_true", num_true, num_true <= num_classes, f"at most 'num_classes' {num_classes}"),
        ):
            if not good:
                raise ValueError(f"For '{self.cls_name}', '{name}' must be {wanted}, but got {value}.")
        if sampled_values is not None:
            check_type(sampled_values, "sampled_values", self.cls_name, (list, tuple))
            if len(sampled_values) != 3:
                raise ValueError(
                    f"For '{self.cls_name}', 'sampled_values' must have 3 elements, but got {len(sampled_values)}."
                )
        self.num_sampled = check_positive_int(num_sampled, "num_sampled", self.cls_name)
        self.num_classes, self.num_true = num_classes, num_true
        self.sampled_values, self.seed = sampled_values, seed
        self.remove_accidental_hits = check_bool(remove_accidental_hits, "remove_accidental_hits", self.cls_name)
        self.sampler = ops.UniformCandidateSampler(
            num_true, num_sampled, True, num_classes, seed, remove_accidental_hits
        )

    def construct(self, weights: Tensor, biases: Tensor, labels: Tensor, logits: Tensor) -> Tensor:
        check_tensors(self.cls_name, weights=weights, biases=biases, labels=labels, logits=logits)
        if labels.dtype not in (mstype.int32, mstype.int64):
            raise TypeError(
                f"For '{self.cls_name}', the dtype of 'labels' must be Int32 or Int64, but got {labels.dtype}."
            )
        labels = ops.reshape(labels, (-1, self.num_true))
        sampled, true_count, sampled_count = self.sampled_values or self.sampler(labels)
        # One lookup for both, so that the weights get one gradient.
        ids = ops.concat((ops.reshape(labels, (-1,)), ops.cast(sampled, labels.dtype)))
        rows, shifts = ops.gather(weights, ids, 0), ops.gather(biases, ids, 0)
        count = labels.size
        own = ops.reshape(rows[:count], (-1, self.num_true, rows.shape[1]))
        true_logits = ops.ReduceSum()(ops.expand_dims(logits, 1) * own, 2)
        true_logits = true_logits + ops.reshape(shifts[:count], (-1, self.num_true)) - ops.log(true_count)
        drawn_logits = ops.MatMul(False, True)(logits, rows[count:]) + shifts[count:] - ops.log(sampled_count)
        chances = ops.softmax(ops.concat((true_logits, drawn_logits), 1), 1)[:, : self.num_true]
        return ops.ReduceSum()(ops.log(chances + 1e-20), 1) * (-1 / self.num_true)
