"""BleuScore: how much of a translation is in reference translations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range
from dist_ms.train.metrics.metric import Metric, rearrange_inputs


class BleuScore(Metric):
    r"""The BLEU score of a corpus.

    .. math:: \text{BLEU} = \min(1, e^{1 - r/c}) \exp\Big(\frac{1}{N} \sum_{n=1}^N \log p_n\Big)

    with the clipped precision :math:`p_n` of n-grams, the length c of the translations and the
    length r of the references closest to them in length. Source: Papineni et al., BLEU: a Method
    for Automatic Evaluation of Machine Translation, 2002.

    Args:
        n_gram: the longest n-gram, N, from 1 to 4.
        smooth: add 1 to every count (Lin and Och, 2004).

    Raises:
        TypeError: if `n_gram` is no int or `smooth` no bool.
        ValueError: if `n_gram` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> metric = ms.train.BleuScore(n_gram=2)
        >>> metric.update([["a", "b", "c"]], [[["a", "b", "d"]]])
        >>> round(metric.eval(), 4)
        0.5774
    """

    sums = ("_numerator", "_denominator", "_c", "_r")
    largest = ("_is_update",)

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        super().__init__()
        self.n_gram = check_int_range(n_gram, "n_gram", "BleuScore", 1, 4)
        self.smooth = check_bool(smooth, "smooth", "BleuScore")
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._numerator = np.zeros(self.n_gram)
        self._denominator = np.zeros(self.n_gram)
        self._c = 0.0
        self._r = 0.0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See translations.

        Args:
            inputs: a list of translations, each a list of words; and for each of them a list of
                references, each a list of words.

        Raises:
            ValueError: if the number of inputs is wrong, or the two lists differ in length.
        """
        candidates, references = self._expect(inputs, "candidate_corpus", "reference_corpus")
        if len(candidates) != len(references):
            raise ValueError(
                "For 'BleuScore.update', there must be a list of references for each translation, "
                f"but got {len(candidates)} translations and {len(references)} lists."
            )
        for words, texts in zip(candidates, references, strict=True):
            self._c += len(words)
            self._r += min((len(text) for text in texts), key=lambda n: abs(n - len(words)))
            found = self._grams(words)
            allowed: Counter = Counter()
            for text in texts:
                allowed |= self._grams(text)
            for gram, count in found.items():
                self._denominator[len(gram) - 1] += count
                self._numerator[len(gram) - 1] += min(count, allowed[gram])
        self._is_update = True

    def _grams(self, words: Sequence) -> Counter:
        """Count all n-grams of a text."""
        return Counter(tuple(words[i : i + n]) for n in range(1, self.n_gram + 1) for i in range(len(words) - n + 1))

    def eval(self) -> float:
        """Return the score so far.

        Raises:
            RuntimeError: if nothing was seen.
        """
        self._need(self._is_update)
        if not self._numerator.all():
            return 0.0
        extra = 1.0 if self.smooth else 0.0
        precisions = (self._numerator + extra) / (self._denominator + extra)
        penalty = 1.0 if self._c > self._r else np.exp(1 - self._r / self._c)
        return float(penalty * np.exp(np.sum(np.log(precisions) / self.n_gram)))
