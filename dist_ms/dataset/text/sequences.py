"""Transforms of sequences of words or numbers: n-grams, windows, cutting to a length, added tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int, check_int_range, check_positive_int, check_string, complaint
from dist_ms.dataset.text.operation import TextOperation

__all__ = ["AddToken", "Ngram", "SlidingWindow", "Truncate", "TruncateSequencePair"]

_MOST = 2**31 - 1


class Ngram(TextOperation):
    """Joins every n words that follow each other.

    Args:
        n: how many words, or a list of such numbers, whose n-grams follow each other.
        left_pad: (word, how often): stands before the first word, n - 1 times at most.
        right_pad: likewise, after the last.
        separator: stands between the words.

    Raises:
        TypeError: for arguments of other types.
        ValueError: for an empty list, or numbers out of range.
        RuntimeError: when called with an array of another number of axes than one.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.Ngram(2, ("_", 1))(["a", "b", "c"]))
        ['_ a' 'a b' 'b c']
    """

    def __init__(
        self,
        n: int | list[int],
        left_pad: tuple[str, int] = ("", 0),
        right_pad: tuple[str, int] = ("", 0),
        separator: str = " ",
    ) -> None:
        owner = type(self).__name__
        self.n = [n] if isinstance(n, int) and not isinstance(n, bool) else n
        if not isinstance(self.n, list) or not self.n:
            raise ValueError(complaint("n", owner, "a positive int or a list of such", n))
        for number in self.n:
            check_positive_int(number, "n", owner)
        self.left_pad = _check_pad(left_pad, "left_pad", owner)
        self.right_pad = _check_pad(right_pad, "right_pad", owner)
        self.separator = check_string(separator, "separator", owner)

    def transform(self, array: np.ndarray) -> np.ndarray:
        """Join the words of one axis."""
        if array.ndim != 1:
            raise RuntimeError(complaint("words", "Ngram", "one axis", f"the shape {array.shape}"))
        words, found = array.tolist(), []
        for n in self.n:
            left = [self.left_pad[0]] * min(self.left_pad[1], n - 1)
            padded = [*left, *words, *[self.right_pad[0]] * min(self.right_pad[1], n - 1)]
            # As MindSpore has it, too few words make one empty n-gram.
            grams = [self.separator.join(padded[i : i + n]) for i in range(len(padded) - n + 1)]
            found += grams or [""]
        return np.array(found, "U")


def _check_pad(pad: Any, name: str, owner: str) -> tuple[str, int]:
    right = isinstance(pad, tuple) and len(pad) == 2 and isinstance(pad[0], str) and isinstance(pad[1], int)
    if not right or pad[1] < 0:
        raise ValueError(complaint(name, owner, "(a str, a number of 0 or above)", pad))
    return pad


class SlidingWindow:
    """Makes a row of every `width` elements that follow each other.

    Args:
        width: how many.
        axis: 0 or -1, the only axis there is.

    Raises:
        TypeError: for arguments of other types.
        ValueError: if `width` is not positive.
        RuntimeError: when called with an array of several axes.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.SlidingWindow(2)([1, 2, 3]))
        [[1 2]
         [2 3]]
    """

    def __init__(self, width: int, axis: int = 0) -> None:
        self.width = check_positive_int(width, "width", "SlidingWindow")
        self.axis = check_int(axis, "axis", "SlidingWindow")

    def __call__(self, array: Any) -> np.ndarray:
        """Make the rows."""
        array = np.asarray(array)
        if array.ndim != 1 or self.axis not in (0, -1):
            raise RuntimeError(
                complaint("array", "SlidingWindow", "of one axis, and 'axis' that", f"{array.shape} and {self.axis}")
            )
        if len(array) < self.width:
            return np.empty(0, array.dtype)
        return np.lib.stride_tricks.sliding_window_view(array, self.width).copy()


class Truncate:
    """Cuts sequences, or the rows of a matrix, to a length.

    Args:
        max_seq_len: the largest length.

    Raises:
        TypeError: if it is no int.
        ValueError: if it is not positive.
        RuntimeError: when called with an array of more axes than two.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.Truncate(2)(["a", "b", "c"]))
        ['a' 'b']
    """

    def __init__(self, max_seq_len: int) -> None:
        self.max_seq_len = check_int_range(max_seq_len, "max_seq_len", "Truncate", 1, _MOST)

    def __call__(self, array: Any) -> np.ndarray:
        """Cut an array."""
        array = np.asarray(array)
        if array.ndim not in (1, 2):
            raise RuntimeError(complaint("array", "Truncate", "of one or two axes", f"the shape {array.shape}"))
        return array[..., : self.max_seq_len].copy()


class TruncateSequencePair:
    """Cuts two sequences to a length of both together, the longer one first.

    Args:
        max_length: the largest length of both together.

    Raises:
        TypeError: if it is no int.
        ValueError: if it is not positive.
        RuntimeError: when called with anything but two arrays of one axis.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> text.TruncateSequencePair(4)([1, 2, 3], [4, 5, 6, 7])
        (array([1, 2]), array([4, 5]))
    """

    def __init__(self, max_length: int) -> None:
        self.max_length = check_int_range(max_length, "max_length", "TruncateSequencePair", 0, _MOST)

    def __call__(self, *sequences: Any) -> tuple[np.ndarray, np.ndarray]:
        """Cut two sequences."""
        arrays = [np.asarray(sequence) for sequence in sequences]
        if len(arrays) != 2 or any(array.ndim != 1 for array in arrays):
            shapes = [array.shape for array in arrays]
            raise RuntimeError(complaint("sequences", "TruncateSequencePair", "two arrays of one axis", shapes))
        first, second = map(len, arrays)
        while first + second > self.max_length:
            if first > second:
                first -= 1
            else:
                second -= 1
        return arrays[0][:first].copy(), arrays[1][:second].copy()


class AddToken(TextOperation):
    """Adds a word to the beginning or the end of each sequence.

    Args:
        token: the word.
        begin: at the beginning, not at the end.

    Raises:
        TypeError: for arguments of other types.
        RuntimeError: when called with an array of more axes than two.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.AddToken("<s>")(["a", "b"]))
        ['<s>' 'a' 'b']
    """

    def __init__(self, token: str, begin: bool = True) -> None:
        self.token = check_string(token, "token", "AddToken")
        self.begin = check_bool(begin, "begin", "AddToken")

    def transform(self, array: np.ndarray) -> np.ndarray:
        """Add it to each row."""
        if array.ndim not in (1, 2):
            raise RuntimeError(complaint("words", "AddToken", "of one or two axes", f"the shape {array.shape}"))
        added = np.full((*array.shape[:-1], 1), self.token)
        return np.concatenate([added, array] if self.begin else [array, added], axis=-1)
