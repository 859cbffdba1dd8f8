"""BERT's tokenizers: basic, word pieces, and one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_string, complaint
from dist_ms.dataset.text.enums import NormalizeForm
from dist_ms.dataset.text.normalizing import check_form, folded, normalized
from dist_ms.dataset.text.operation import TextOperation, Token, Tokenizer, arranged, texts
from dist_ms.dataset.text.splitting import pattern
from dist_ms.dataset.text.vocabulary import Vocab

__all__ = ["BasicTokenizer", "BertTokenizer", "WordpieceTokenizer"]

_HAN = (
    r"[\u4E00-\u9FFF\u3400-\u4DBF\U00020000-\U0002A6DF\U0002A700-\U0002B73F\U0002B740-\U0002B81F"
    r"\U0002B820-\U0002CEAF\uF900-\uFAFF\U0002F800-\U0002FA1F]"
)
_UNUSED = r"\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]"
_SINGLE = r"[!-/:-@\[-`{-~]|\p{P}|"
_SPACES = dict.fromkeys(map(ord, "\t\n\v\f\r"), " ")
_MOST = 2**31 - 1


class BasicTokenizer(Tokenizer):
    """Cuts a text at white space and punctuation and around each Chinese character.

    Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2019.

    Args:
        lower_case: fold case and strip accents, too.
        keep_whitespace: keep white space as tokens.
        normalization_form: the text's normal form; with `lower_case` it has no effect.
        preserve_unused_token: "[CLS]", "[SEP]", "[UNK]", "[PAD]" and "[MASK]" stay whole.
        with_offsets: also return where the tokens begin and end, in bytes of the normalised text's UTF-8.

    Raises:
        TypeError: for arguments of other types.
        RuntimeError: when called with more than one text.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.BasicTokenizer(lower_case=True)("Hé, [CLS] 北京"))
        ['he' ',' '[CLS]' '北' '京']
    """

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        super().__init__(with_offsets)
        owner = type(self).__name__
        self.lower_case = check_bool(lower_case, "lower_case", owner)
        self.keep_whitespace = check_bool(keep_whitespace, "keep_whitespace", owner)
        self.form = check_form(normalization_form, "normalization_form", owner)
        self.preserve_unused_token = check_bool(preserve_unused_token, "preserve_unused_token", owner)
        unused = f"{_UNUSED}|" if preserve_unused_token else ""
        self._unused = pattern(_UNUSED, "pattern", owner) if preserve_unused_token else None
        self._cuts = pattern(rf"{unused}\s+|{_SINGLE}{_HAN}", "pattern", owner)
        self._accents = pattern(r"\p{Mn}", "pattern", owner)
        self._control = pattern(r"(?V1)[[\p{Cc}\p{Cf}]--\s]", "pattern", owner)

    def transform(self, array: np.ndarray) -> Any:
        """Cut one text."""
        if array.ndim:
            raise RuntimeError(complaint("text", type(self).__name__, "one text", f"the shape {array.shape}"))
        text = self.prepared(str(array))
        return arranged(text, self.tokens(text), self.with_offsets)

    def prepared(self, text: str) -> str:
        """A text with its case folded and its form normalised, without control characters."""
        if self.lower_case:
            text = self._lowered(text)
        else:
            text = normalized(text, self.form)
        return self._control.sub("", text).translate(_SPACES)

    def _lowered(self, text: str) -> str:
        def lower(part: str) -> str:
            return self._accents.sub("", normalized(folded(part), NormalizeForm.NFD))

        if self._unused is None:
            return lower(text)
        found, end = [], 0
        for match in self._unused.finditer(text):
            found += [lower(text[end : match.start()]), match[0]]
            end = match.end()
        return "".join([*found, lower(text[end:])])

    def tokens(self, text: str) -> list[Token]:
        """Cut a prepared text."""
        found: list[Token] = []
        end = 0
        for match in self._cuts.finditer(text):
            start, stop = match.span()
            if start > end:
                found.append((text[end:start], end, start))
            if self.keep_whitespace or not match[0].isspace():
                found.append((match[0], start, stop))
            end = stop
        if end < len(text):
            found.append((text[end:], end, len(text)))
        return found


class WordpieceTokenizer(TextOperation):
    """Cuts each word into the longest pieces that a vocabulary has, from its beginning.

    Args:
        vocab: the pieces.
        suffix_indicator: stands before pieces that are not a word's beginning.
        max_bytes_per_token: longer words are unknown.
        unknown_token: stands for words that cannot be cut; "" for the word itself.
        with_offsets: also return where the pieces begin and end in their word, in bytes of UTF-8.

    Raises:
        TypeError: for arguments of other types.
        ValueError: if `max_bytes_per_token` is negative.
        RuntimeError: when called with an array of several axes.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> vocab = text.Vocab.from_list(["play", "##ing", "a"])
        >>> print(text.WordpieceTokenizer(vocab)(["playing", "a", "game"]))
        ['play' '##ing' 'a' '[UNK]']
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ) -> None:
        owner = type(self).__name__
        if not isinstance(vocab, Vocab):
            raise TypeError(complaint("vocab", owner, "a Vocab", type(vocab).__name__))
        self._ids = vocab.vocab()
        self.suffix_indicator = _text(suffix_indicator, "suffix_indicator", owner)
        self.max_bytes_per_token = check_int_range(max_bytes_per_token, "max_bytes_per_token", owner, 0, _MOST)
        self.unknown_token = _text(unknown_token, "unknown_token", owner)
        self.with_offsets = check_bool(with_offsets, "with_offsets", owner)

    def transform(self, array: np.ndarray) -> Any:
        """Cut a word, or each of an array."""
        if array.ndim > 1:
            raise RuntimeError(complaint("words", type(self).__name__, "one axis at most", f"the shape {array.shape}"))
        pieces = [piece for word in array.reshape(-1) for piece in self.pieces(str(word))]
        return placed(pieces or [("", 0, 0)], self.with_offsets)

    def pieces(self, word: str) -> list[tuple[str, int, int]]:
        """The pieces of a word, and where they begin and end in it, in bytes."""
        if not word:
            return []
        length = len(word.encode())
        whole = [(self.unknown_token or word, 0, length)]
        if length > self.max_bytes_per_token:
            return whole
        found, start, at = [], 0, 0
        while start < len(word):
            prefix = self.suffix_indicator if start else ""
            for stop in range(len(word), start, -1):
                if prefix + word[start:stop] in self._ids:
                    break
            else:
                return whole
            after = at + len(word[start:stop].encode())
            found.append((prefix + word[start:stop], at, after))
            start, at = stop, after
        return found


def placed(pieces: list[tuple[str, int, int]], with_offsets: bool) -> Any:
    """Pieces as an array, with the bytes where they begin and end if asked for."""
    words = np.array([piece for piece, _, _ in pieces], "U")
    if not with_offsets:
        return words
    return words, np.array([a for _, a, _ in pieces], np.uint32), np.array([b for _, _, b in pieces], np.uint32)


def _text(value: Any, name: str, owner: str) -> str:
    return check_string(value, name, owner)


class BertTokenizer(TextOperation):
    """Cuts a text as BERT does: `BasicTokenizer`, then `WordpieceTokenizer`.

    Args:
        vocab: as for `WordpieceTokenizer`.
        suffix_indicator: as for `WordpieceTokenizer`.
        max_bytes_per_token: as for `WordpieceTokenizer`.
        unknown_token: as for `WordpieceTokenizer`.
        lower_case: as for `BasicTokenizer`.
        keep_whitespace: as for `BasicTokenizer`.
        normalization_form: as for `BasicTokenizer`.
        preserve_unused_token: as for `BasicTokenizer`.
        with_offsets: also return where the pieces begin and end, in bytes of the normalised text's UTF-8.

    Raises:
        TypeError: for arguments of other types.
        ValueError: if `max_bytes_per_token` is negative.
        RuntimeError: when called with more than one text.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> vocab = text.Vocab.from_list(["play", "##ing", "a", "!"])
        >>> print(text.BertTokenizer(vocab, lower_case=True)("Playing!"))
        ['play' '##ing' '!']
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        self._pieces = WordpieceTokenizer(vocab, suffix_indicator, max_bytes_per_token, unknown_token)
        self._basic = BasicTokenizer(lower_case, keep_whitespace, normalization_form, preserve_unused_token, True)
        self.with_offsets = check_bool(with_offsets, "with_offsets", type(self).__name__)

    def transform(self, array: np.ndarray) -> Any:
        """Cut one text."""
        words, starts, _ = self._basic(texts(array, type(self).__name__))
        pieces = [
            (piece, int(at) + start, int(at) + stop)
            for word, at in zip(words, starts)
            for piece, start, stop in self._pieces.pieces(str(word))
        ]
        return placed(pieces or [("", 0, 0)], self.with_offsets)
