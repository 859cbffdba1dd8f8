"""Tokenizers by characters, white space, scripts, patterns, and functions of the user's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_callable, check_string, complaint
from dist_ms.dataset.text.libraries import library
from dist_ms.dataset.text.operation import Token, Tokenizer, grouped

__all__ = [
    "PythonTokenizer",
    "RegexTokenizer",
    "UnicodeCharTokenizer",
    "UnicodeScriptTokenizer",
    "WhitespaceTokenizer",
]

# Unicode's scripts that have more than a few characters; others count as one.
_SCRIPTS = """
Common Inherited Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Devanagari Bengali Gurmukhi Gujarati Oriya
Tamil Telugu Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic Cherokee Canadian_Aboriginal
Ogham Runic Khmer Mongolian Hiragana Katakana Bopomofo Han Yi Old_Italic Gothic Deseret Tagalog Hanunoo Buhid Tagbanwa
Limbu Tai_Le Linear_B Ugaritic Shavian Osmanya Cypriot Braille Buginese Coptic New_Tai_Lue Glagolitic Tifinagh
Syloti_Nagri Old_Persian Kharoshthi Balinese Cuneiform Phoenician Phags_Pa Nko Sundanese Lepcha Ol_Chiki Vai Saurashtra
Kayah_Li Rejang Lycian Carian Lydian Cham Tai_Tham Tai_Viet Avestan Egyptian_Hieroglyphs Samaritan Lisu Bamum Javanese
Meetei_Mayek Imperial_Aramaic Old_South_Arabian Old_Turkic Kaithi Batak Brahmi Mandaic Chakma Miao Sharada Takri
""".split()


class WhitespaceTokenizer(Tokenizer):
    """Cuts a text at white space, which is dropped.

    Args:
        with_offsets: also return where the tokens begin and end, in bytes of UTF-8.

    Raises:
        TypeError: if `with_offsets` is no bool.
        RuntimeError: when called with more than one text.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.WhitespaceTokenizer()("a  b c"))
        ['a' 'b' 'c']
    """

    def tokens(self, text: str) -> list[Token]:
        """Cut a text."""
        runs = grouped(text, str.isspace)
        return [(text[start:stop], start, stop) for space, start, stop in runs if not space]


class UnicodeCharTokenizer(Tokenizer):
    """Cuts a text into its characters.

    Args:
        with_offsets: as for `WhitespaceTokenizer`.

    Raises:
        TypeError: if `with_offsets` is no bool.
        RuntimeError: when called with more than one text.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.UnicodeCharTokenizer()("aé"))
        ['a' 'é']
    """

    def tokens(self, text: str) -> list[Token]:
        """Cut a text."""
        return [(character, place, place + 1) for place, character in enumerate(text)]


class UnicodeScriptTokenizer(Tokenizer):
    """Cuts a text where the script changes, such as from Latin to Han, and at white space.

    Args:
        keep_whitespace: keep white space as tokens.
        with_offsets: as for `WhitespaceTokenizer`.

    Raises:
        TypeError: if an argument is no bool.
        RuntimeError: when called with more than one text.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.UnicodeScriptTokenizer()("abc北京 7"))
        ['abc' '北京' '7']
    """

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False) -> None:
        super().__init__(with_offsets)
        self.keep_whitespace = check_bool(keep_whitespace, "keep_whitespace", type(self).__name__)

    def tokens(self, text: str) -> list[Token]:
        """Cut a text."""
        runs = grouped(text, lambda character: (script(character), character.isspace()))
        return [(text[a:b], a, b) for (_, space), a, b in runs if self.keep_whitespace or not space]


@functools.cache
def _scripts() -> Any:
    regex = library("regex", "UnicodeScriptTokenizer")
    return regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in _SCRIPTS))


@functools.lru_cache(1 << 16)
def script(character: str) -> str | None:
    """The name of a character's script, None for a rare one."""
    found = _scripts().match(character)
    return None if found is None else found.lastgroup


class RegexTokenizer(Tokenizer):
    r"""Cuts a text where a pattern matches.

    Args:
        delim_pattern: a regular expression, with Unicode's properties as in `\p{P}`.
        keep_delim_pattern: what cuts is a token itself where this matches it whole.
        with_offsets: as for `WhitespaceTokenizer`.

    Raises:
        TypeError: if a pattern is no str, or `with_offsets` no bool.
        RuntimeError: for a pattern that is no regular expression; when called with more than one text.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.RegexTokenizer(r"\s+|,", ",")("a, b"))
        ['a' ',' 'b']
    """

    def __init__(self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False) -> None:
        super().__init__(with_offsets)
        owner = type(self).__name__
        self._delimiter = pattern(delim_pattern, "delim_pattern", owner)
        self._kept = pattern(keep_delim_pattern, "keep_delim_pattern", owner) if keep_delim_pattern != "" else None
        self._by_character = delim_pattern == ""

    def tokens(self, text: str) -> list[Token]:
        """Cut a text."""
        if self._by_character:
            return [(character, place, place + 1) for place, character in enumerate(text)]
        found: list[Token] = []
        end = 0
        for match in self._delimiter.finditer(text):
            start, stop = match.span()
            if start == stop:
                continue
            if start > end:
                found.append((text[end:start], end, start))
            if self._kept is not None and self._kept.fullmatch(text, start, stop):
                found.append((text[start:stop], start, stop))
            end = stop
        if end < len(text):
            found.append((text[end:], end, len(text)))
        return found


def pattern(value: Any, name: str, owner: str) -> Any:
    """A compiled regular expression.

    Raises:
        TypeError: if it is no str.
        RuntimeError: if it is no regular expression.
    """
    check_string(value, name, owner)
    regex = library("regex", owner)
    try:
        return regex.compile(value)
    except regex.error as error:
        raise RuntimeError(complaint(name, owner, "a regular expression", f"{value!r}: {error}")) from None


class PythonTokenizer:
    """Cuts a text by a function.

    Args:
        tokenizer: a function of a str that returns a list of str.

    Raises:
        TypeError: if it cannot be called.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.PythonTokenizer(lambda line: line.split("-"))("a-b"))
        ['a' 'b']
    """

    def __init__(self, tokenizer: Callable[[str], list[str]]) -> None:
        check_callable(tokenizer, "tokenizer", "PythonTokenizer")
        self.tokenizer = tokenizer

    def __call__(self, text: Any) -> np.ndarray:
        """Cut a text, a str or an array that holds one.

        Raises:
            TypeError: for anything else.
            RuntimeError: if the function raises an error.
        """
        if isinstance(text, np.ndarray) and text.ndim == 0:
            text = text.item()
        if isinstance(text, bytes):
            text = text.decode()
        if not isinstance(text, str):
            raise TypeError(complaint("text", "PythonTokenizer", "one text", type(text).__name__))
        try:
            tokens = self.tokenizer(text)
        except Exception as error:
            raise RuntimeError(f"For 'PythonTokenizer', 'tokenizer' raised {type(error).__name__}: {error}") from error
        return np.array([str(token) for token in tokens] or [""], "U")
