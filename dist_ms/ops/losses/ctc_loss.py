"""Connectionist temporal classification: the likelihood of a label sequence over all alignments."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int, check_string, complaint
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.losses.loss import reduced
from dist_ms.ops.primitive import Primitive, quiet

__all__ = ["ctc_loss"]


class AlignmentLoss(Primitive):
    """Minus the log likelihood of each sequence, and the forward variables.

    Graves et al., "Connectionist Temporal Classification", 2006. The gradient is that of log
    probabilities which are the log softmax of something: exp(log_probs) - posterior.

    Call:
        log_probs: (T, N, C).
        targets: (N, S) labels; target_lengths: (N,) of them count.
        input_lengths: (N,), how many of the T steps count.
    """

    keeps = (0,)
    keeps_output = True

    def __init__(self, blank: int, zero_infinity: bool) -> None:
        self.name, self._blank, self._zero_infinity = "ctc_loss", blank, zero_infinity

    @quiet
    def forward(
        self, log_probs: np.ndarray, targets: np.ndarray, input_lengths: np.ndarray, target_lengths: np.ndarray
    ) -> tuple:
        states, jumps = self._states(targets)
        alpha = _forward_variables(log_probs.astype(np.float64), states, jumps, input_lengths)
        rows = np.arange(len(states))
        final = alpha[rows, np.maximum(input_lengths - 1, 0)]
        last = 2 * target_lengths
        ends = np.stack([final[rows, last], np.where(last > 0, final[rows, np.maximum(last - 1, 0)], -np.inf)])
        loss = -np.logaddexp(*ends)
        if self._zero_infinity:
            loss = np.where(np.isinf(loss), 0, loss)
        return loss.astype(log_probs.dtype), alpha.astype(log_probs.dtype)

    def _states(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Labels with blanks around each (N, 2 S + 1), and where the blank before may be jumped over."""
        states = np.full((targets.shape[0], 2 * targets.shape[1] + 1), self._blank)
        states[:, 1::2] = targets
        jumps = np.zeros(states.shape, bool)
        jumps[:, 2:] = (states[:, 2:] != self._blank) & (states[:, 2:] != states[:, :-2])
        return states, jumps

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> tuple:
        from dist_ms import ops

        log_probs, targets, input_lengths, target_lengths = inputs
        slope = self._slope(log_probs.array(), targets, input_lengths, target_lengths, output[0].array())
        return ops.reshape(dout[0], (1, -1, 1)) * _Constant()(log_probs, slope), None, None, None

    @quiet
    def _slope(
        self,
        log_probs: np.ndarray,
        targets: np.ndarray,
        input_lengths: np.ndarray,
        target_lengths: np.ndarray,
        loss: np.ndarray,
    ) -> np.ndarray:
        """exp(log_probs) - posterior, 0 in the steps that do not count."""
        wide = log_probs.astype(np.float64)
        states, jumps = self._states(targets)
        alpha = _forward_variables(wide, states, jumps, input_lengths)
        slope = np.exp(wide)
        for n in range(len(states)):
            steps, width = int(input_lengths[n]), 2 * int(target_lengths[n]) + 1
            # The backward variables are the forward ones of everything reversed.
            back = _forward_variables(
                wide[:steps, n : n + 1][::-1],
                states[n : n + 1, :width][:, ::-1],
                _reversed_jumps(jumps[n : n + 1, :width]),
                np.array([steps]),
            )
            beta = back[0, :, ::-1][::-1]
            emitted = wide[:steps, n][:, states[n, :width]]
            total = np.logaddexp.reduce(alpha[n, steps - 1, max(width - 2, 0) : width]) if steps else -np.inf
            posterior = np.exp(alpha[n, :steps, :width] + beta - emitted - total)
            for column, label in enumerate(states[n, :width]):
                slope[:steps, n, label] -= posterior[:, column]
            slope[steps:, n] = 0
            if np.isinf(total):
                slope[:, n] = 0 if self._zero_infinity else np.nan
        return slope.astype(log_probs.dtype)


class _Constant(Primitive):
    """A known first derivative; a second one is not offered."""

    keeps = ()

    def forward(self, log_probs: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return slope

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        raise RuntimeError("For 'ctc_loss', the second-order gradient is not defined.")


def _reversed_jumps(jumps: np.ndarray) -> np.ndarray:
    """Which states may be reached over a blank when the sequence runs backwards."""
    back = np.zeros(jumps.shape, bool)
    back[:, 2:] = jumps[:, 2:][:, ::-1]
    return back


def _forward_variables(log_probs: np.ndarray, states: np.ndarray, jumps: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """log P(prefix ends in state s at step t), as (N, T, states); -inf after a sequence's end."""
    steps, rows = log_probs.shape[0], np.arange(len(states))[:, None]
    alpha = np.full((len(states), steps, states.shape[1]), -np.inf)
    for t in range(steps):
        emitted = log_probs[t][rows, states]
        if t == 0:
            alpha[:, 0, :2] = emitted[:, :2]
        else:
            before = alpha[:, t - 1]
            total = before.copy()
            total[:, 1:] = np.logaddexp(total[:, 1:], before[:, :-1])
            over = np.where(jumps[:, 2:], before[:, :-2], -np.inf)
            total[:, 2:] = np.logaddexp(total[:, 2:], over)
            alpha[:, t] = total + emitted
        alpha[np.asarray(lengths) <= t, t] = -np.inf
    return alpha


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
    from dist_ms import ops

    owner = "ctc_loss"
    check_string(reduction, "reduction", owner, ["none", "mean", "sum"])
    check_bool(zero_infinity, "zero_infinity", owner)
    data = arguments.floating(
        owner, arguments.tensor(owner, log_probs, "log_probs").array(), "log_probs", complex_too=False
    )
    labels = arguments.tensor(owner, targets, "targets").array()
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
        values = np.array(arguments.integers(owner, given, name), np.int64)
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
    safe = np.clip(labels, 0, classes - 1)
    loss, alpha = AlignmentLoss(blank, zero_infinity)(log_probs, safe, *lengths)
    if reduction == "mean":
        share = Tensor((1 / np.maximum(lengths[1], 1)).astype(data.dtype))
        return ops.ReduceMean()(loss * share), alpha
    return reduced(loss, reduction), alpha
