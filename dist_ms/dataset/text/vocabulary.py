"""Vocab: words and their numbers; Lookup: a column of words as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_elements, check_positive_int, check_string, check_type, complaint
from dist_ms.common.dtype import to_numpy
from dist_ms.dataset.text.operation import TextOperation

__all__ = ["Lookup", "Vocab"]


class Vocab:
    """Words and their numbers; made by one of its `from_` methods.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> vocab = text.Vocab.from_list(["w1", "w2"], special_tokens=["<pad>"])
        >>> vocab.tokens_to_ids(["w2", "none"]), vocab.ids_to_tokens(0)
        ([2, -1], '<pad>')
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._tokens: dict[int, str] = {}

    @classmethod
    def _of(cls, ids: dict[str, int]) -> Vocab:
        made = cls()
        made._ids = ids
        made._tokens = {number: token for token, number in ids.items()}
        return made

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        columns: str | list[str] | None = None,
        freq_range: tuple | None = None,
        top_k: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """Take the words of a dataset's rows, the most frequent first, then in the order of their characters.

        Args:
            dataset: its columns hold texts; every row is read once.
            columns: their names; None or []: all.
            freq_range: how often a word must and may come, (least, most), None for no bound.
            top_k: only so many words.
            special_tokens: further words, which the dataset must not have.
            special_first: these come before the others.

        Raises:
            TypeError: for arguments of other types.
            ValueError: for numbers out of range.
            RuntimeError: if a column is missing, or holds no texts, or has a special token.
        """
        owner = "Vocab.from_dataset"
        names = [columns] if isinstance(columns, str) else columns or None
        if names is not None:
            check_elements(names, "columns", owner, str, list)
        least, most = _check_range(freq_range, owner)
        if top_k is not None:
            check_positive_int(top_k, "top_k", owner)
        specials = _check_words(special_tokens or [], "special_tokens", owner)
        check_bool(special_first, "special_first", owner)
        counts: Counter[str] = Counter()
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            for name in row if names is None else names:
                if name not in row:
                    raise RuntimeError(complaint("columns", owner, f"among {list(row)}", repr(name)))
                if row[name].dtype.kind not in "US":
                    raise RuntimeError(
                        complaint("columns", owner, "columns of texts", f"{name!r} of {row[name].dtype}")
                    )
                counts.update(str(word) for word in row[name].reshape(-1))
        known = [special for special in specials if special in counts]
        if known:
            raise RuntimeError(complaint("special_tokens", owner, "no words of the dataset", repr(known[0])))
        words = sorted((w for w, n in counts.items() if least <= n <= most), key=lambda w: (-counts[w], w))
        return cls._numbered(words[:top_k], specials, special_first)

    @classmethod
    def from_list(
        cls, word_list: list[str], special_tokens: list[str] | None = None, special_first: bool = True
    ) -> Vocab:
        """Number the words of a list.

        Args:
            word_list: the words, each once.
            special_tokens: further words.
            special_first: these come before the others.

        Raises:
            TypeError: for arguments of other types.
            ValueError: if a word comes twice.
        """
        owner = "Vocab.from_list"
        words = _check_words(word_list, "word_list", owner)
        specials = _check_words(special_tokens or [], "special_tokens", owner)
        check_bool(special_first, "special_first", owner)
        twice = [word for word in specials if word in words]
        if twice:
            raise ValueError(complaint("special_tokens", owner, "no words of 'word_list'", repr(twice[0])))
        return cls._numbered(words, specials, special_first)

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """Number the words of a file's lines.

        Args:
            file_path: the file.
            delimiter: a line's word ends before this; "": the line is the word.
            vocab_size: only so many lines are read.
            special_tokens: further words.
            special_first: these come before the others.

        Raises:
            TypeError: for arguments of other types.
            ValueError: if a special token comes twice, or `vocab_size` is not positive.
            RuntimeError: if there is no such file, or a word comes twice in it.
        """
        owner = "Vocab.from_file"
        check_string(file_path, "file_path", owner)
        check_string(delimiter, "delimiter", owner)
        if vocab_size is not None:
            check_positive_int(vocab_size, "vocab_size", owner)
        specials = _check_words(special_tokens or [], "special_tokens", owner)
        check_bool(special_first, "special_first", owner)
        words: dict[str, int] = {}
        try:
            with open(file_path, encoding="utf-8", newline="\n") as file:
                for number, line in enumerate(file, 1):
                    if len(words) == vocab_size:
                        break
                    line = line.removesuffix("\n").removesuffix("\r")
                    word = line.split(delimiter, 1)[0] if delimiter else line
                    if word in words or word in specials:
                        raise RuntimeError(
                            f"For '{owner}', each word must come once, but {word!r} in line {number} of {file_path} "
                            "comes again."
                        )
                    words[word] = number
        except (OSError, UnicodeDecodeError) as error:
            raise RuntimeError(
                complaint("file_path", owner, "a file of UTF-8 text", f"{file_path!r}: {error}")
            ) from None
        return cls._numbered(words, specials, special_first)

    @classmethod
    def from_dict(cls, word_dict: dict[str, int]) -> Vocab:
        """Take words with their numbers.

        Args:
            word_dict: the words and their numbers, 0 or above.

        Raises:
            TypeError: for another type.
            ValueError: if a number is negative.
        """
        owner = "Vocab.from_dict"
        check_type(word_dict, "word_dict", owner, dict)
        for word, number in word_dict.items():
            if not isinstance(word, str) or isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(complaint("word_dict", owner, "a dict of str and int", f"{word!r}: {number!r}"))
            if number < 0:
                raise ValueError(complaint("word_dict", owner, "of numbers of 0 or above", f"{word!r}: {number}"))
        return cls._of(dict(word_dict))

    @classmethod
    def _numbered(cls, words: Iterable[str], specials: list[str], special_first: bool) -> Vocab:
        every = [*specials, *words] if special_first else [*words, *specials]
        return cls._of({word: number for number, word in enumerate(every)})

    def vocab(self) -> dict[str, int]:
        """Return all words and their numbers."""
        return dict(self._ids)

    def tokens_to_ids(self, tokens: str | list[str] | np.ndarray) -> int | list[int]:
        """Return the number of a word, or those of several; -1 for what is no word.

        Args:
            tokens: a word, or words.

        Raises:
            TypeError: for another type.
        """
        if isinstance(tokens, np.ndarray):
            tokens = tokens.tolist()
        words = [tokens] if isinstance(tokens, str) else tokens
        check_elements(words, "tokens", "Vocab.tokens_to_ids", str, list)
        found = [self._ids.get(word, -1) for word in words]
        return found[0] if len(found) == 1 else found

    def ids_to_tokens(self, ids: int | list[int] | np.ndarray) -> str | list[str]:
        """Return the word of a number, or those of several; "" for a number without a word.

        Args:
            ids: a number, or numbers.

        Raises:
            TypeError: for another type.
            ValueError: for a negative number.
        """
        if isinstance(ids, np.ndarray):
            ids = ids.tolist()
        numbers = ids if isinstance(ids, list) else [ids]
        for number in numbers:
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(complaint("ids", "Vocab.ids_to_tokens", "an int or ints", type(number).__name__))
            if number < 0:
                raise ValueError(complaint("ids", "Vocab.ids_to_tokens", "0 or above", number))
        found = [self._tokens.get(number, "") for number in numbers]
        return found[0] if len(found) == 1 else found


class Lookup(TextOperation):
    """Replaces words by their numbers.

    Args:
        vocab: the words.
        unknown_token: a word of `vocab` whose number others get; None: others are an error.
        data_type: of the numbers.

    Raises:
        TypeError: for arguments of other types.
        RuntimeError: if `unknown_token` is not in `vocab`, or, when called, for a word that is not.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> vocab = text.Vocab.from_list(["a", "b", "<unk>"])
        >>> print(text.Lookup(vocab, "<unk>")(["b", "c"]))
        [1 2]
    """

    def __init__(self, vocab: Vocab, unknown_token: str | None = None, data_type: Any = mstype.int32) -> None:
        owner = type(self).__name__
        if not isinstance(vocab, Vocab):
            raise TypeError(complaint("vocab", owner, "a Vocab", type(vocab).__name__))
        if unknown_token is not None:
            check_string(unknown_token, "unknown_token", owner)
        self._ids = vocab.vocab()
        self._dtype = to_numpy(data_type)
        if not np.issubdtype(self._dtype, np.number):
            raise RuntimeError(complaint("data_type", owner, "a type of numbers", data_type))
        self.unknown_token = unknown_token

    def transform(self, array: np.ndarray) -> np.ndarray:
        """Look all words up."""
        default = None if self.unknown_token is None else self._ids.get(self.unknown_token)
        if self.unknown_token is not None and default is None:
            raise RuntimeError(complaint("unknown_token", "Lookup", "a word of 'vocab'", repr(self.unknown_token)))
        found = [self._ids.get(str(word), default) for word in array.reshape(-1)]
        if None in found:
            word = str(array.reshape(-1)[found.index(None)])
            raise RuntimeError(complaint("words", "Lookup", "words of 'vocab'", repr(word), "give an 'unknown_token'"))
        return np.array(found, self._dtype).reshape(array.shape)


def _check_words(words: Any, name: str, owner: str) -> list[str]:
    """Require a list of different words."""
    if len(set(check_elements(words, name, owner, str))) < len(words):
        twice = next(word for word, count in Counter(words).items() if count > 1)
        raise ValueError(complaint(name, owner, "words that differ", f"{twice!r} twice"))
    return list(words)


def _check_range(freq_range: Any, owner: str) -> tuple[float, float]:
    """Require two counts, and return them."""
    if freq_range is None:
        return 0, np.inf
    if not isinstance(freq_range, tuple) or len(freq_range) != 2:
        raise TypeError(complaint("freq_range", owner, "a tuple of two", freq_range))
    for bound in freq_range:
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise TypeError(complaint("freq_range", owner, "a tuple of ints or None", freq_range))
    least, most = 0 if freq_range[0] is None else freq_range[0], np.inf if freq_range[1] is None else freq_range[1]
    if not 0 <= least <= most:
        raise ValueError(complaint("freq_range", owner, "(least, most) of 0 or above", freq_range))
    return least, most
