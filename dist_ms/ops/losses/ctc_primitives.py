"""CTCLoss, CTCLossV2 and CTCGreedyDecoder: alignments of sequences without known times."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import check_bool
from dist_ms.common.error_classes import reads_of_none
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.activations.softmax import log_softmax
from dist_ms.ops.arguments import floating, integer, integral, not_of, tensor
from dist_ms.ops.losses.ctc_loss import AlignmentLoss, ctc_loss
from dist_ms.ops.primitive import Primitive

__all__ = ["CTCGreedyDecoder", "CTCLoss", "CTCLossV2", "ctc_greedy_decoder"]


class CTCLossV2(Primitive):
    """Minus the log likelihood of each sequence of labels; see `ctc_loss`.

    Args:
        blank: the class that stands for no label.
        reduction: "none"; nothing else.
        zero_infinity: whether losses of impossible sequences are zero, with zero gradients.

    Call:
        log_probs (Tensor): logarithms of probabilities (T, N, C).
        targets (Tensor): labels (N, S).
        input_lengths (Tensor): integers (N,), at most T.
        target_lengths (Tensor): integers (N,), at most S.

    Returns:
        tuple: the losses (N,) and the logarithms of the forward variables (N, T, 2 S + 1).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or `reduction` is another.

    Examples:
        >>> import dist_ms as ms
        >>> t = ms.Tensor
        >>> loss, _ = ms.ops.CTCLossV2()(ms.ops.zeros((2, 1, 2), ms.float32), t([[1]]), t([2]), t([1]))
        >>> print(loss)
        [-1.0986123]
    """

    def __init__(self, blank: int = 0, reduction: str = "none", zero_infinity: bool = False) -> None:
        if reduction != "none":
            raise ValueError(f"For '{self.name}', 'reduction' must be 'none', but got {reduction!r}.")
        self.blank, self.reduction = integer(blank, "blank", self.name), reduction
        self.zero_infinity = check_bool(zero_infinity, "zero_infinity", self.name)

    def __call__(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> tuple:
        return ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


def _before_filling(labels: np.ndarray, classes: int) -> tuple[np.ndarray, bool]:
    """The labels before the first that is no class, and whether a class follows it."""
    good = (labels >= 0) & (labels < classes)
    count = len(good) if good.all() else int(good.argmin())
    return labels[:count], bool(good[count:].any())


@reads_of_none()
class CTCLoss(Primitive):
    """Minus the log likelihood of each sequence of labels given as a sparse tensor, and its gradient.

    The last class stands for no label. The gradient is that by the scores: their softmax minus the posterior.

    Args:
        preprocess_collapse_repeated: whether labels that repeat count once; else each counts.
        ctc_merge_repeated: must be True: equal classes that follow each other count once.
        ignore_longer_outputs_than_inputs: whether sequences with more labels than times count as 0.

    Call:
        x (Tensor): scores (T, N, C), floats.
        labels_indices (Tensor): int64 (M, 2): the sequence and place of each label.
        labels_values (Tensor): int32 (M,), below C - 1. Others may fill up the end of a sequence, and do not count.
        sequence_length (Tensor): int32 (N,), at most T.

    Returns:
        tuple: the losses (N,) and their gradient (T, N, C).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, a number is out of range, or there are more labels than times.

    Examples:
        >>> import dist_ms as ms
        >>> t = ms.Tensor
        >>> loss, _ = ms.ops.CTCLoss()(ms.ops.zeros((2, 1, 2)), t([[0, 0]]), t([0]), t([2]))
        >>> print(f"{float(loss[0]):.4f}")
        0.2877
    """

    def __init__(
        self,
        preprocess_collapse_repeated: bool = False,
        ctc_merge_repeated: bool = True,
        ignore_longer_outputs_than_inputs: bool = False,
    ) -> None:
        self.collapses = check_bool(preprocess_collapse_repeated, "preprocess_collapse_repeated", self.name)
        if not check_bool(ctc_merge_repeated, "ctc_merge_repeated", self.name):
            raise ValueError(f"For '{self.name}', 'ctc_merge_repeated' must be True.")
        self.ignore_longer = check_bool(
            ignore_longer_outputs_than_inputs, "ignore_longer_outputs_than_inputs", self.name
        )

    def __call__(self, x: Tensor, labels_indices: Tensor, labels_values: Tensor, sequence_length: Tensor) -> tuple:
        scores = floating(tensor(x, "x", self.name).array(), "x", self.name, complex_too=False)
        named = {"labels_indices": labels_indices, "labels_values": labels_values, "sequence_length": sequence_length}
        places, labels, lengths = (
            integral(tensor(value, argument, self.name).array(), argument, self.name)
            for argument, value in named.items()
        )
        good = scores.ndim == 3 and places.ndim == 2 and places.shape[1] == 2 and labels.shape == places.shape[:1]
        if not good or lengths.shape != scores.shape[1:2]:
            raise ValueError(
                f"For '{self.name}', 'x' must be (T, N, C), 'labels_indices' (M, 2), 'labels_values' (M,) and "
                f"'sequence_length' (N,), but got shapes {scores.shape}, {places.shape}, {labels.shape} and "
                f"{lengths.shape}."
            )
        time, batch, classes = scores.shape
        found = [_before_filling(labels[places[:, 0] == n], classes - 1) for n in range(batch)]
        if (lengths < 0).any() or (lengths > time).any() or any(follows for _, follows in found):
            raise ValueError(
                f"For '{self.name}', 'sequence_length' must be in [0, {time}] and 'labels_values' in "
                f"[0, {classes - 1}), but at the end of a sequence, but got {lengths} and {labels}."
            )
        rows = [row[np.diff(row, prepend=-1) != 0] if self.collapses else row for row, _ in found]
        counts = np.array([len(row) for row in rows], np.int64)
        lengths = lengths.astype(np.int64)
        if (counts > lengths).any() and not self.ignore_longer:
            raise ValueError(
                f"For '{self.name}', 'sequence_length' must not be below the numbers of labels {counts}, but got "
                f"{lengths}: or set 'ignore_longer_outputs_than_inputs'."
            )
        targets = np.zeros((batch, max(int(counts.max(initial=0)), 1)), np.int64)
        for row, values in zip(targets, rows):
            row[: len(values)] = values
        loss = AlignmentLoss(classes - 1, self.ignore_longer)
        log_probs = log_softmax(x, -1)
        out = loss(log_probs, targets, lengths, counts)[0]
        slope = loss.slope(log_probs.array(), targets, lengths, counts)
        return out, wrap(slope.astype(scores.dtype))


class CTCGreedyDecoder(Primitive):
    """`ctc_greedy_decoder` as a primitive: `CTCGreedyDecoder(merge_repeated)(inputs, sequence_length)`."""

    differentiable = False

    def __init__(self, merge_repeated: bool = True) -> None:
        self.merge_repeated = check_bool(merge_repeated, "merge_repeated", self.name)

    def __call__(self, inputs: Tensor, sequence_length: Tensor) -> tuple:
        return ctc_greedy_decoder(inputs, sequence_length, self.merge_repeated)


def ctc_greedy_decoder(inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True) -> tuple:
    """Return the likeliest class of each time, without blanks, which are the last class.

    Args:
        inputs: scores (T, N, C).
        sequence_length: integers (N,), at most T.
        merge_repeated: whether equal classes that follow each other count once.

    Returns:
        tuple: the places (M, 2) and values (M,) of the labels as a sparse tensor, its shape (2,), and minus the sum
        of each sequence's scores (N, 1).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or a length is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[3.0, 1.0]], [[3.0, 1.0]], [[1.0, 2.0]]])
        >>> print(ms.ops.ctc_greedy_decoder(x, ms.Tensor([3], ms.int32), False)[1])
        [0 0]
    """
    not_of(sequence_length, "BHIL", "sequence_length", "ctc_greedy_decoder")
    owner = "ctc_greedy_decoder"
    not_of(inputs, "eE", "inputs", owner), not_of(sequence_length, "bhlqBHIL", "sequence_length", owner)
    scores = floating(tensor(inputs, "inputs", owner).array(), "inputs", owner, complex_too=False)
    lengths = integral(tensor(sequence_length, "sequence_length", owner).array(), "sequence_length", owner)
    check_bool(merge_repeated, "merge_repeated", owner)
    if scores.ndim != 3 or lengths.shape != scores.shape[1:2]:
        raise ValueError(
            f"For '{owner}', 'inputs' must be (T, N, C) and 'sequence_length' (N,), but got shapes {scores.shape} and "
            f"{lengths.shape}."
        )
    if lengths.size and not (lengths.min() >= 0 and lengths.max() <= len(scores)):
        raise RuntimeError(
            f"For '{owner}', 'sequence_length' must be in [0, {len(scores)}], but got {lengths.tolist()}."
        )
    best = scores.argmax(axis=2).T
    there = np.arange(len(scores)) < lengths[:, None]
    kept = there & (best != scores.shape[2] - 1)
    if merge_repeated:
        kept[:, 1:] &= best[:, 1:] != best[:, :-1]
    rows, _ = np.nonzero(kept)
    places = np.stack([rows, (kept.cumsum(axis=1) - 1)[kept]], axis=1).astype(np.int64)
    shape = np.array([len(kept), kept.sum(axis=1).max(initial=0)], np.int64)
    total = -np.where(there, scores.max(axis=2).T, 0).sum(axis=1, keepdims=True)
    return wrap(places), wrap(best[kept].astype(np.int64)), wrap(shape), wrap(total.astype(scores.dtype))
