"""JiebaTokenizer: words of Chinese text, by a dictionary and a hidden Markov model."""

from __future__ import annotations

import functools
import math
import os
import re
from typing import Any

from dist_ms.common.checks import check_non_negative_int, check_string, complaint
from dist_ms.dataset.text.enums import JiebaMode
from dist_ms.dataset.text.libraries import library
from dist_ms.dataset.text.operation import Token, Tokenizer

__all__ = ["JiebaTokenizer"]

_STATES = "BEMS"  # begin, end, middle, single: the order of the model's file
_NEVER = -3.14e100
_SEPARATORS = re.compile("([ \\t\\n，。])")
_ALIKE = re.compile("[A-Za-z][A-Za-z0-9]*|[0-9.]+|[^A-Za-z0-9.]+")


class JiebaTokenizer(Tokenizer):
    """Cuts Chinese text into words.

    Args:
        hmm_path: the file of the hidden Markov model.
        mp_path: the file of the dictionary: lines of a word, how often it comes, and its kind.
        mode: by the dictionary (MP), the model (HMM), or the dictionary and the model for what it does not know (MIX).
        with_offsets: also return where the words begin and end, in bytes of UTF-8.

    Raises:
        TypeError: for arguments of other types.
        ValueError: if a file is missing.
        RuntimeError: when called with more than one text.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> [mode.name for mode in text.JiebaMode]
        ['MIX', 'MP', 'HMM']
    """

    def __init__(
        self, hmm_path: str, mp_path: str, mode: JiebaMode = JiebaMode.MIX, with_offsets: bool = False
    ) -> None:
        super().__init__(with_offsets)
        owner = type(self).__name__
        if not isinstance(mode, JiebaMode):
            raise TypeError(complaint("mode", owner, "a JiebaMode", type(mode).__name__))
        for path, name in ((hmm_path, "hmm_path"), (mp_path, "mp_path")):
            check_string(path, name, owner)
            if not os.path.exists(path):
                raise ValueError(complaint(name, owner, "a file", repr(path)))
        self.mode, self.hmm_path, self.mp_path = mode, hmm_path, mp_path
        self.words: list[tuple[str, int]] = []
        self._cutter: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cutter": None}

    def add_word(self, word: str, freq: int | None = None) -> None:
        """Add a word to the dictionary.

        Args:
            word: the word.
            freq: how often it comes; None: often enough to be cut out.

        Raises:
            TypeError: for arguments of other types.
            ValueError: if `freq` is negative, or `word` empty.
        """
        owner = "JiebaTokenizer.add_word"
        if not check_string(word, "word", owner):
            raise ValueError(complaint("word", owner, "a word", "''"))
        self.words.append((word, 0 if freq is None else check_non_negative_int(freq, "freq", owner)))
        self._cutter = None

    def add_dict(self, user_dict: str | dict[str, int]) -> None:
        """Add words to the dictionary.

        Args:
            user_dict: the words and how often they come, or a file of lines of these.

        Raises:
            TypeError: for another type.
            ValueError: if there is no such file, or it is not UTF-8.
        """
        owner = "JiebaTokenizer.add_dict"
        if isinstance(user_dict, dict):
            for word, freq in user_dict.items():
                self.add_word(word, freq)
            return
        if not isinstance(user_dict, str):
            raise TypeError(complaint("user_dict", owner, "a str or a dict", type(user_dict).__name__))
        try:
            with open(user_dict, encoding="utf-8-sig") as file:
                lines = file.read().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(complaint("user_dict", owner, "a file of UTF-8 text", f"{user_dict!r}: {error}")) from None
        for line in lines:
            word, *freq = line.strip().split(" ")
            if word and (not freq or freq[0].isdecimal()):
                self.add_word(word, int(freq[0]) if freq else None)

    def tokens(self, text: str) -> list[Token]:
        """Cut a text."""
        found, at = [], 0
        for word in (word for part in _SEPARATORS.split(text) if part for word in self._cut(part)):
            found.append((word, at, at + len(word)))
            at += len(word)
        return found

    def _cut(self, part: str) -> list[str]:
        """Cut what is between two separators, or one of these."""
        if self.mode is JiebaMode.HMM:
            return self._by_model(part)
        words = self._by_dictionary(part)
        return self._mixed(words) if self.mode is JiebaMode.MIX else words

    def _by_dictionary(self, text: str) -> list[str]:
        """The most probable words: the best path through all that the dictionary has."""
        if self._cutter is None:
            cutter = library("jieba", type(self).__name__).Tokenizer(self.mp_path)
            cutter.tmp_dir = None
            cutter.FREQ, cutter.total = _dictionary(self.mp_path)
            cutter.FREQ, cutter.initialized = dict(cutter.FREQ), True
            for word, freq in self.words:
                cutter.add_word(word, freq or None)
            self._cutter = cutter
        cutter, route, words = self._cutter, {}, []
        cutter.calc(text, cutter.get_DAG(text), route)
        at = 0
        while at < len(text):
            stop = route[at][1] + 1
            words.append(text[at:stop])
            at = stop
        return words

    def _mixed(self, words: list[str]) -> list[str]:
        """Words, with runs of single characters cut by the model."""
        own = {word for word, _ in self.words}
        found, run = [], ""
        for word in [*words, ""]:
            if len(word) == 1 and word not in own:
                run += word
                continue
            found += [*(self._by_model(run) if len(run) > 1 else [run] if run else [])]
            run = ""
            found += [word] if word else []
        return found

    def _by_model(self, text: str) -> list[str]:
        """Words by the model; letters with digits behind them, and digits, stay together."""
        found: list[str] = []
        for part in _ALIKE.findall(text):
            found += [part] if part[0].isascii() and (part[0].isalnum() or part[0] == ".") else self._viterbi(part)
        return found

    def _viterbi(self, text: str) -> list[str]:
        start, between, emitted = _model(self.hmm_path)
        scores = [{s: start[s] + emitted[s].get(text[0], _NEVER) for s in _STATES}]
        origins: list[dict[str, str]] = []
        for character in text[1:]:
            last, now, origin = scores[-1], {}, {}
            for state in _STATES:
                # Where nothing is likelier than never, a word ends before: so a character that is unknown stands alone.
                now[state], origin[state] = _NEVER, "E"
                for before in _STATES:
                    score = last[before] + between[before][state] + emitted[state].get(character, _NEVER)
                    if score > now[state]:
                        now[state], origin[state] = score, before
            scores.append(now)
            origins.append(origin)
        state = "E" if scores[-1]["E"] >= scores[-1]["S"] else "S"
        states = [state]
        for origin in reversed(origins):
            states.append(origin[states[-1]])
        words, word = [], ""
        for character, state in zip(text, reversed(states), strict=True):
            word += character
            if state in "ES":
                words.append(word)
                word = ""
        return [*words, word] if word else words


@functools.lru_cache(4)
def _dictionary(path: str) -> tuple[dict[str, int], int]:
    """The words of a dictionary's file, their beginnings with 0, and the sum of all counts."""
    found: dict[str, int] = {}
    total = 0
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.strip().split(" ")
            if not fields[0]:
                continue
            if len(fields) < 2 or not fields[1].isdecimal():
                raise RuntimeError(
                    f"For 'JiebaTokenizer', each line must have a word and a count, but line {number} of {path} has "
                    f"{line.strip()[:60]!r}."
                )
            found[fields[0]] = int(fields[1])
            total += int(fields[1])
            for stop in range(1, len(fields[0])):
                found.setdefault(fields[0][:stop], 0)
    return found, total


@functools.lru_cache(4)
def _model(path: str) -> tuple[dict, dict, dict]:
    """The logarithms of a model's probabilities: of first states, of changes of state, and of characters by state."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
    try:
        first, *changes = [[float(x) for x in line.split()] for line in lines[:5]]
        start = dict(zip(_STATES, first, strict=True))
        between = {s: dict(zip(_STATES, row, strict=True)) for s, row in zip(_STATES, changes, strict=True)}
        emitted = {}
        for state, line in zip(_STATES, lines[5:9], strict=True):
            pairs = (pair.rsplit(":", 1) for pair in line.split(",") if pair)
            emitted[state] = {character: float(value) for character, value in pairs}
        if not all(map(math.isfinite, start.values())):
            raise ValueError("its first states are not finite")
    except (ValueError, IndexError) as error:
        raise RuntimeError(
            f"For 'JiebaTokenizer', 'hmm_path' must be a model's file, but {path} is not: {error}."
        ) from None
    return start, between, emitted
