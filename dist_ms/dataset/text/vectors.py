"""Vectors of words, read from files in the usual forms; ToVectors: words as vectors."""

from __future__ import annotations

import os
import re
from typing import Any, TypeVar

import numpy as np

from dist_ms.common.checks import check_bool, check_non_negative_int, check_string, complaint
from dist_ms.dataset.text.operation import TextOperation

__all__ = ["CharNGram", "FastText", "GloVe", "ToVectors", "Vectors"]

_Made = TypeVar("_Made", bound="Vectors")


class Vectors:
    r"""Vectors of words, from a file of lines: a word and its numbers, between spaces; a first line of two counts is
    passed over.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms.dataset.text as text
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open(folder + "/vectors.txt", "w") as file:
        ...         _ = file.write("ok 1 2\nthis 3 4\n")
        ...     vectors = text.Vectors.from_file(folder + "/vectors.txt")
        >>> print(text.ToVectors(vectors)(["this", "none"]))
        [[3. 4.]
         [0. 0.]]
    """

    _name = re.compile(r".*", re.DOTALL)
    _named = "any file"
    _has_header: bool | None = None  # None: a line of two entries is one

    def __init__(self, vectors: dict[str, np.ndarray], dimensions: int) -> None:
        self._vectors, self.dimensions = vectors, dimensions

    @classmethod
    def from_file(cls: type[_Made], file_path: str, max_vectors: int | None = None) -> _Made:
        """Read a file.

        Args:
            file_path: the file.
            max_vectors: only so many vectors; None or 0: all.

        Raises:
            TypeError: for arguments of other types.
            ValueError: if `max_vectors` is negative.
            RuntimeError: if there is no such file, its name is not of the form, or a line has another number of
                entries.
        """
        owner = f"{cls.__name__}.from_file"
        check_string(file_path, "file_path", owner)
        if max_vectors is not None:
            check_non_negative_int(max_vectors, "max_vectors", owner)
        if not cls._name.fullmatch(os.path.basename(file_path)):
            raise RuntimeError(complaint("file_path", owner, cls._named, repr(file_path)))
        found: dict[str, np.ndarray] = {}
        dimensions = 0
        try:
            with open(file_path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if max_vectors and len(found) == max_vectors:
                        break
                    word, *numbers = line.rstrip("\n").rstrip(" ").split(" ")
                    if number == 1 and len(numbers) == 1 and cls._has_header is not False:
                        continue
                    if number == 1 and cls._has_header:
                        raise RuntimeError(
                            complaint("file_path", owner, "a file whose first line has two counts", file_path)
                        )
                    dimensions = dimensions or len(numbers)
                    if len(numbers) != dimensions or not numbers:
                        raise RuntimeError(
                            f"For '{owner}', each line must have {dimensions or 'some'} numbers, but line {number} of "
                            f"{file_path} has {len(numbers)}."
                        )
                    found.setdefault(word, np.array(numbers, np.float32))
        except (OSError, ValueError) as error:
            raise RuntimeError(complaint("file_path", owner, "a file of vectors", f"{file_path!r}: {error}")) from None
        if not found:
            raise RuntimeError(complaint("file_path", owner, "a file of vectors", f"{file_path!r}, which has none"))
        return cls(found, dimensions)

    def of(self, token: str) -> np.ndarray | None:
        """The vector of a word; None for an unknown one."""
        return self._vectors.get(token)


class FastText(Vectors):
    """Vectors of words from a `.vec` file of fastText, whose first line has two counts.

    Bojanowski et al., "Enriching Word Vectors with Subword Information", 2017.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> issubclass(text.FastText, text.Vectors)
        True
    """

    _name = re.compile(r".*\.vec", re.DOTALL)
    _named = "a file whose name ends in .vec"
    _has_header = True


class GloVe(Vectors):
    """Vectors of words from a `glove.*.txt` file of GloVe.

    Pennington et al., "GloVe: Global Vectors for Word Representation", 2014.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> issubclass(text.GloVe, text.Vectors)
        True
    """

    _name = re.compile(r"glove\..*\.txt", re.DOTALL)
    _named = "a file called glove.*.txt"


class CharNGram(Vectors):
    """Vectors of words as the means of those of their n-grams of characters, n from 2 to 4.

    Hashimoto et al., "A Joint Many-Task Model: Growing a Neural Network for Multiple NLP Tasks", 2017.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> issubclass(text.CharNGram, text.Vectors)
        True
    """

    def of(self, token: str) -> np.ndarray | None:
        """The mean of the vectors of a word's n-grams; None if none is known."""
        characters = ["#BEGIN#", *token, "#END#"]
        found = []
        for n in (2, 3, 4):
            for start in range(len(characters) - n + 1):
                vector = self._vectors.get(f"{n}gram-{''.join(characters[start : start + n])}")
                if vector is not None:
                    found.append(vector)
        return sum(found[1:], found[0]) / np.float32(len(found)) if found else None


class ToVectors(TextOperation):
    """Replaces words by their vectors, float32.

    Args:
        vectors: the words' vectors.
        unk_init: the vector of unknown words; None: zeros.
        lower_case_backup: look an unknown word up in lower case, too.

    Raises:
        TypeError: for arguments of other types.
        RuntimeError: when called, if `unk_init` is of another length.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> import numpy as np
        >>> vectors = text.Vectors({"a": np.float32([1, 2])}, 2)
        >>> print(text.ToVectors(vectors, [9, 9], True)(["A", "b"]))
        [[1. 2.]
         [9. 9.]]
    """

    def __init__(self, vectors: Vectors, unk_init: Any = None, lower_case_backup: bool = False) -> None:
        if not isinstance(vectors, Vectors):
            raise TypeError(complaint("vectors", "ToVectors", "Vectors", type(vectors).__name__))
        if unk_init is not None and not isinstance(unk_init, (list, tuple)):
            raise TypeError(complaint("unk_init", "ToVectors", "a list or tuple of numbers", type(unk_init).__name__))
        self.vectors = vectors
        self._unknown = np.zeros(vectors.dimensions, np.float32) if unk_init is None else np.array(unk_init, np.float32)
        self.lower_case_backup = check_bool(lower_case_backup, "lower_case_backup", "ToVectors")

    def transform(self, array: np.ndarray) -> np.ndarray:
        """Look all words up."""
        if self._unknown.shape != (self.vectors.dimensions,):
            wanted = f"{self.vectors.dimensions} numbers"
            raise RuntimeError(complaint("unk_init", "ToVectors", wanted, f"the shape {self._unknown.shape}"))
        found = [self._vector(str(word)) for word in array.reshape(-1)]
        return np.array(found, np.float32).reshape(*array.shape, self.vectors.dimensions)

    def _vector(self, word: str) -> np.ndarray:
        vector = self.vectors.of(word)
        if vector is None and self.lower_case_backup:
            vector = self.vectors.of(word.lower())
        return self._unknown if vector is None else vector
