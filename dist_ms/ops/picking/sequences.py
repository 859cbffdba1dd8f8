"""EditDistance, NoRepeatNGram, RaggedRange: operations on sequences of labels and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.common.dtype import Number, int32, int64
from dist_ms.ops.arguments import array, floating, integers, integral, real
from dist_ms.ops.primitive import Undifferentiable

__all__ = ["EditDistance", "NoRepeatNGram", "RaggedRange"]


class EditDistance(Undifferentiable):
    """The least number of insertions, deletions and replacements between sequences of labels.

    Levenshtein, "Binary codes capable of correcting deletions, insertions and reversals", 1966.

    Args:
        normalize: whether to divide by the length of the true sequence.

    Call:
        hypothesis_indices (Tensor): int64 (n, rank), the places of labels in a sparse array of sequences.
        hypothesis_values (Tensor): the n labels.
        hypothesis_shape (Tensor): int64 (rank,), the shape of that array.
        truth_indices, truth_values, truth_shape (Tensor): likewise for the true sequences.

    Returns:
        Tensor of float32, one number for each sequence.

    Raises:
        TypeError: if an argument is no Tensor, or indices hold no integers.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> t, places, shape = ms.Tensor, ms.Tensor([[0, 0], [0, 1]]), ms.Tensor([1, 2])
        >>> print(ms.ops.EditDistance(False)(places, t([1, 2]), shape, places, t([1, 3]), shape))
        [1.]
    """

    def __init__(self, normalize: bool = True) -> None:
        self.normalize = check_bool(normalize, "normalize", self.name)

    def forward(
        self,
        hypothesis_indices: np.ndarray,
        hypothesis_values: np.ndarray,
        hypothesis_shape: Any,
        truth_indices: np.ndarray,
        truth_values: np.ndarray,
        truth_shape: Any,
    ) -> np.ndarray:
        first, shape = self._rows(hypothesis_indices, hypothesis_values, hypothesis_shape, "hypothesis")
        second, other = self._rows(truth_indices, truth_values, truth_shape, "truth")
        if len(shape) != len(other):
            raise ValueError(
                f"For '{self.name}', 'hypothesis_shape' and 'truth_shape' must have one length, "
                f"but got {shape} and {other}."
            )
        out = np.zeros(np.maximum(shape, other)[:-1], np.float32)
        for place in first.keys() | second.keys():
            found, true = first.get(place, []), second.get(place, [])
            distance = _edits(found, true)
            if self.normalize:
                distance = distance / len(true) if true else float("inf") if found else 0
            out[place] = distance
        return out

    def _rows(self, indices: Any, values: Any, shape: Any, which: str) -> tuple[dict, tuple]:
        """The sequences by their places, and the shape."""
        places = integral(indices, f"{which}_indices", self.name)
        labels, size = array(values, f"{which}_values", self.name), integers(shape, f"{which}_shape", self.name)
        if places.ndim != 2 or labels.shape != places.shape[:1] or len(size) != places.shape[1] or len(size) < 2:
            raise ValueError(
                f"For '{self.name}', '{which}_indices' must be (n, rank), '{which}_values' (n,) and '{which}_shape' "
                f"(rank,) with a rank above 1, but got {places.shape}, {labels.shape} and {size}."
            )
        rows: dict[tuple, list] = {}
        for place, label in zip(places[:, :-1].tolist(), labels.tolist()):
            rows.setdefault(tuple(place), []).append(label)
        return rows, size


def _edits(a: list, b: list) -> int:
    """The edit distance of two lists."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (x != y)))
    return row[-1]


class NoRepeatNGram(Undifferentiable):
    """Log probabilities in which every next word that would repeat an n-gram is the lowest number.

    Args:
        ngram_size: n, above 0.

    Call:
        state_seq (Tensor): int32 (batch, beams, length), the words so far.
        log_probs (Tensor): floats (batch, beams, words).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or `ngram_size` is not positive or above the length.

    Examples:
        >>> import dist_ms as ms
        >>> words, x = ms.Tensor([[[1, 2, 1]]], ms.int32), ms.Tensor([[[0.5, 0.5, 0.5]]])
        >>> print(ms.ops.NoRepeatNGram(2)(words, x) == x)
        [[[ True  True False]]]
    """

    def __init__(self, ngram_size: int = 1) -> None:
        self.ngram_size = check_positive_int(ngram_size, "ngram_size", self.name)

    def forward(self, state_seq: np.ndarray, log_probs: np.ndarray) -> np.ndarray:
        words = integral(state_seq, "state_seq", self.name)
        out = floating(log_probs, "log_probs", self.name, complex_too=False).copy()
        n = self.ngram_size
        if words.ndim != 3 or out.ndim != 3 or words.shape[:2] != out.shape[:2] or n > words.shape[2]:
            raise ValueError(
                f"For '{self.name}', 'state_seq' and 'log_probs' must be (batch, beams, ...) and 'ngram_size' at most "
                f"the length, but got shapes {words.shape}, {out.shape} and {n}."
            )
        grams = np.lib.stride_tricks.sliding_window_view(words, n, axis=2)  # (batch, beams, places, n)
        tail = words[:, :, words.shape[2] - n + 1 :]
        repeated = (grams[..., :-1] == tail[:, :, None]).all(-1)
        batch, beam, place = np.nonzero(repeated)
        banned = grams[batch, beam, place, -1]
        if banned.size and not (banned.min() >= 0 and banned.max() < out.shape[2]):
            raise ValueError(
                f"For '{self.name}', 'state_seq' must be in [0, {out.shape[2]}), but got {banned.min()} to "
                f"{banned.max()}."
            )
        out[batch, beam, banned] = np.finfo(out.dtype).min
        return out


class RaggedRange(Undifferentiable):
    """Ranges of numbers laid end to end.

    Args:
        Tsplits: int32 or int64, the dtype of the first result.

    Call:
        starts, limits, deltas (Tensor): real numbers (n,) of one dtype, or one number each for all ranges.

    Returns:
        tuple: where each range starts and the last ends (n + 1,), and the numbers.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or a delta is 0.

    Examples:
        >>> import dist_ms as ms
        >>> t = ms.Tensor
        >>> print(*ms.ops.RaggedRange(ms.int64)(t([2, 5, 8]), t([3, 5, 12]), t([1, 1, 1])))
        [0 1 1 5] [ 2  8  9 10 11]
    """

    def __init__(self, Tsplits: Number) -> None:
        if Tsplits not in (int32, int64):
            raise TypeError(f"For '{self.name}', 'Tsplits' must be int32 or int64, but got {Tsplits!r}.")
        self.Tsplits = Tsplits

    def forward(self, starts: np.ndarray, limits: np.ndarray, deltas: np.ndarray) -> tuple:
        parts = [real(v, n, self.name) for v, n in ((starts, "starts"), (limits, "limits"), (deltas, "deltas"))]
        lengths = {p.size for p in parts if p.ndim}
        if any(p.ndim > 1 for p in parts) or len(lengths) > 1:
            raise ValueError(
                f"For '{self.name}', 'starts', 'limits' and 'deltas' must have one number each or one for all, "
                f"but got shapes {[p.shape for p in parts]}."
            )
        if len({p.dtype for p in parts}) > 1:
            raise TypeError(
                f"For '{self.name}', 'starts', 'limits' and 'deltas' must have one dtype, "
                f"but got {[str(p.dtype) for p in parts]}."
            )
        if not parts[2].all():
            raise ValueError(f"For '{self.name}', 'deltas' must not be 0, but got {parts[2]}.")
        start, limit, delta = np.broadcast_arrays(*(p.reshape(-1) for p in parts))
        span = limit.astype(np.float64) - start
        counts = np.maximum(np.ceil(span / delta), 0).astype(np.int64)
        splits = np.concatenate([[0], np.cumsum(counts)]).astype(self.Tsplits.np)
        step = np.arange(counts.sum()) - np.repeat(splits[:-1], counts)
        values = np.repeat(start, counts) + step.astype(start.dtype) * np.repeat(delta, counts)
        return splits, values.astype(start.dtype)
