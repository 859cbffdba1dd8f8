"""Connectionist temporal classification: the likelihood of a label sequence over all alignments."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_dimensions, check_int, check_string, complaint
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.arguments import not_of
from dist_ms.ops.kernels import ctc
from dist_ms.ops.layout import contiguous, working_type
from dist_ms.ops.losses.loss import reduced
from dist_ms.ops.primitive import Primitive, quiet

__all__ = ["ctc_loss"]


class AlignmentLoss(Primitive):
    """Minus the log likelihood of each sequence, and the forward variables.

    Graves et al., "Connectionist Temporal Classification", 2006. The gradient is that of log
    probabilities which are the log softmax of something: exp(log_probs) - posterior.

    Call:
        log_probs: (T, N, C).
        targets: int64 (N, S) labels; target_lengths: int64 (N,) of them count.
        input_lengths: int64 (N,), how many of the T steps count.
    """

    keeps = (0,)
    keeps_output = True

    def __init__(self, blank: int, zero_infinity: bool) -> None:
        self.name, self._blank, self._zero_infinity = "ctc_loss", blank, zero_infinity

    @quiet
    def forward(
        self, log_probs: np.ndarray, targets: np.ndarray, input_lengths: np.ndarray, target_lengths: np.ndarray
    ) -> tuple:
        data = contiguous(log_probs, working_type(log_probs.dtype))
        steps, rows, _ = data.shape
        loss = np.empty(rows, data.dtype)
        alpha = np.empty((rows, steps, 2 * targets.shape[1] + 1), data.dtype)
        ctc.forward(
            data, contiguous(targets), input_lengths, target_lengths, self._blank, self._zero_infinity, loss, alpha
        )
        return loss.astype(log_probs.dtype, copy=False), alpha.astype(log_probs.dtype, copy=False)

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> tuple:
        log_probs, targets, input_lengths, target_lengths = inputs
        slope = self.slope(log_probs.array(), targets, input_lengths, target_lengths)
        return ops.reshape(dout[0], (1, -1, 1)) * _Constant()(log_probs, slope), None, None, None

    def slope(
        self, log_probs: np.ndarray, targets: np.ndarray, input_lengths: np.ndarray, target_lengths: np.ndarray
    ) -> np.ndarray:
        """exp(log_probs) - posterior, 0 in the steps that do not count."""
        data = contiguous(log_probs, working_type(log_probs.dtype))
        slope = np.empty(data.shape, data.dtype)
        ctc.gradient(data, contiguous(targets), input_lengths, target_lengths, self._blank, self._zero_infinity, slope)
        return slope.astype(log_probs.dtype, copy=False)


class _Constant(Primitive):
    """A known first derivative; a second one is not offered."""

    keeps = ()

    def forward(self, log_probs: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return slope

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        raise RuntimeError("For 'ctc_loss', the second-order gradient is not defined.")


@raises(reduction=(TypeError, ValueError))
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return minus the log likelihood of label sequences over all their alignments.

    Graves et al., "Connectionist Temporal Classification", 2006.

    Args:
        log_probs: (T, N, C) log probabilities, e.g. of `log_softmax`.
        targets: int32 or int64 labels (N, S).
        input_lengths: (N,) how many of the T steps count; a Tensor or a tuple of ints.
        target_lengths: (N,) how many of the S labels count.
        blank: the class that stands for no label.
        reduction: "mean" (of the losses over their target lengths), "sum" or "none".
        zero_infinity: replace infinite losses, of targets longer than their inputs, by 0.

    Returns:
        A tuple (loss, forward variables (N, T, 2 S + 1)).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not agree, or `blank` or `reduction` is out of range.
        RuntimeError: if a length or a label is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> logp = ms.ops.log_softmax(ms.ops.zeros((2, 1, 2)))
        >>> print(ms.ops.ctc_loss(logp, ms.Tensor([[1]]), (2,), (1,))[0])
        0.2876821
    """
    owner = "ctc_loss"
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        not_of(arguments.not_array(lengths, name, owner), "BHIL", name, owner)
        if isinstance(lengths, Tensor):
            check_dimensions(lengths, name, owner, 1)
    not_of(log_probs, "e", "log_probs", owner)
    check_string(reduction, "reduction", owner, ["none", "mean", "sum"])
    check_bool(zero_infinity, "zero_infinity", owner)
    data = arguments.floating(
        arguments.tensor(log_probs, "log_probs", owner).array(), "log_probs", owner, complex_too=False
    )
    labels = arguments.tensor(targets, "targets", owner).array()
    if labels.dtype not in (np.int32, np.int64):
        raise TypeError(
            f"For '{owner}', 'targets' must be Int32 or Int64, but got {from_numpy(labels.dtype)}; cast them first."
        )
    if data.ndim != 3 or labels.ndim != 2 or labels.shape[0] != data.shape[1]:
        raise ValueError(
            f"For '{owner}', 'log_probs' must be (T, N, C) and 'targets' (N, S), but got shapes "
            f"{data.shape} and {labels.shape}."
        )
    steps, rows, classes = data.shape
    if steps == 0 or classes == 0:
        raise ValueError(f"For '{owner}', 'log_probs' must have steps and classes, but got shape {data.shape}.")
    if not 0 <= check_int(blank, "blank", owner) < classes:
        raise ValueError(complaint("blank", owner, f"an int in [0, {classes})", blank))
    lengths = []
    for given, name, most in (
        (input_lengths, "input_lengths", steps),
        (target_lengths, "target_lengths", labels.shape[1]),
    ):
        values = np.array(arguments.integers(given, name, owner), np.int64)
        if values.shape != (rows,):
            raise ValueError(
                f"For '{owner}', '{name}' must have an element for each of the {rows} sequences, but got "
                f"shape {values.shape}."
            )
        if rows and not (values.min() >= 0 and values.max() <= most):
            raise RuntimeError(f"For '{owner}', '{name}' must be in [0, {most}], but got {values.tolist()}.")
        lengths.append(values)
    counted = labels[np.arange(labels.shape[1]) < lengths[1][:, None]]
    if counted.size and not (counted.min() >= 0 and counted.max() < classes):
        raise RuntimeError(
            f"For '{owner}', the labels must be in [0, {classes}), but got values from {counted.min()} "
            f"to {counted.max()}."
        )
    safe = np.clip(labels, 0, classes - 1).astype(np.int64, copy=False)
    loss, alpha = AlignmentLoss(blank, zero_infinity)(log_probs, safe, *lengths)
    if reduction == "mean":
        share = Tensor((1 / np.maximum(lengths[1], 1)).astype(data.dtype))
        return ops.ReduceMean()(loss * share), alpha
    return reduced(loss, reduction), alpha
