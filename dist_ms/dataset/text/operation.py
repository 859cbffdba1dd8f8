"""What transforms of text have in common: what they take, and tokens with their places in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, complaint

Token = tuple[str, int, int]  # its text, and where it begins and ends in the sentence's characters


def texts(value: Any, owner: str) -> np.ndarray:
    """A text, or a list or array of texts, as an array.

    Raises:
        TypeError: for nothing at all, and what NumPy makes no array of.
        RuntimeError: for an array of anything else.
    """
    if value is None:
        raise TypeError(complaint("text", owner, "a text or an array of texts", "None"))
    array = np.asarray(value)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8") if array.size else array.astype("U")
    if array.dtype.kind != "U":
        raise RuntimeError(complaint("text", owner, "a text or an array of texts", f"one of {array.dtype}"))
    return array


class TextOperation:
    """A transform of one column of text; a subclass has `transform`, which gets an array."""

    def __call__(self, *columns: Any) -> Any:
        """Transform a text, or an array of texts."""
        owner = type(self).__name__
        if len(columns) != 1:
            raise RuntimeError(complaint("text", owner, "one column", f"{len(columns)}"))
        return self.transform(texts(columns[0], owner))

    def transform(self, array: np.ndarray) -> Any:
        """Transform an array of texts."""
        raise NotImplementedError(f"{type(self).__name__} has no transform.")


class EachText(TextOperation):
    """A transform that makes one text of each."""

    def transform(self, array: np.ndarray) -> np.ndarray:
        """Transform each text."""
        changed = [self.change(str(text)) for text in array.reshape(-1)]
        return np.array(changed, "U").reshape(array.shape)

    def change(self, text: str) -> str:
        """Transform one text."""
        raise NotImplementedError(f"{type(self).__name__} has no change.")


class Tokenizer(TextOperation):
    """A transform that cuts one text into tokens.

    Args:
        with_offsets: also return where the tokens begin and end, in bytes of UTF-8.
    """

    def __init__(self, with_offsets: bool = False) -> None:
        check_bool(with_offsets, "with_offsets", type(self).__name__)
        self.with_offsets = with_offsets

    def transform(self, array: np.ndarray) -> Any:
        """Cut one text."""
        if array.ndim:
            raise RuntimeError(complaint("text", type(self).__name__, "one text", f"the shape {array.shape}"))
        text = str(array)
        return arranged(text, self.tokens(text), self.with_offsets)

    def tokens(self, text: str) -> list[Token]:
        """Cut a text."""
        raise NotImplementedError(f"{type(self).__name__} has no tokens.")


def arranged(text: str, tokens: Sequence[Token], with_offsets: bool) -> Any:
    """The tokens as an array, with their places in bytes if asked for; no token at all is one empty one."""
    tokens = tokens or [("", 0, 0)]
    words = np.array([token for token, _, _ in tokens], "U")
    if not with_offsets:
        return words
    places = byte_places(text)
    starts = np.array([places[start] for _, start, _ in tokens], np.uint32)
    return words, starts, np.array([places[stop] for _, _, stop in tokens], np.uint32)


def byte_places(text: str) -> Sequence[int]:
    """Where each character begins in UTF-8, and where the text ends."""
    if text.isascii():
        return range(len(text) + 1)
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode()))
    return places


def grouped(text: str, kind: Callable[[str], Any]) -> Iterable[tuple[Any, int, int]]:
    """Runs of characters of one kind: the kind, the first place and the one after the last."""
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or kind(text[place]) != kind(text[start]):
            yield kind(text[start]), start, place
            start = place
