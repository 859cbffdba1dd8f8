"""The rates that a confusion matrix gives: sensitivity, precision, Matthews correlation and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _over(a: Any, b: Any) -> np.ndarray:
    """a / b, NaN where b is 0."""
    a, b = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
    return np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)


def _prevalence_threshold(tp: Any, fp: Any, tn: Any, fn: Any) -> np.ndarray:
    tpr, tnr = _over(tp, tp + fn), _over(tn, tn + fp)
    return _over(np.sqrt(tpr * (1 - tnr)) + tnr - 1, tpr + tnr - 1)


def _matthews(tp: Any, fp: Any, tn: Any, fn: Any) -> np.ndarray:
    return _over(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


_Rate = Callable[[Any, Any, Any, Any], np.ndarray]

# Each rate: its short name, what else it is called, its formula of (tp, fp, tn, fn).
_RATES: list[tuple[str, tuple[str, ...], _Rate]] = [
    ("tpr", ("sensitivity", "recall", "hit_rate", "true_positive_rate"), lambda tp, fp, tn, fn: _over(tp, tp + fn)),
    ("tnr", ("specificity", "selectivity", "true_negative_rate"), lambda tp, fp, tn, fn: _over(tn, tn + fp)),
    ("ppv", ("precision", "positive_predictive_value"), lambda tp, fp, tn, fn: _over(tp, tp + fp)),
    ("npv", ("negative_predictive_value",), lambda tp, fp, tn, fn: _over(tn, tn + fn)),
    ("fnr", ("miss_rate", "false_negative_rate"), lambda tp, fp, tn, fn: _over(fn, fn + tp)),
    ("fpr", ("fall_out", "false_positive_rate"), lambda tp, fp, tn, fn: _over(fp, fp + tn)),
    ("fdr", ("false_discovery_rate",), lambda tp, fp, tn, fn: _over(fp, fp + tp)),
    ("for", ("false_omission_rate",), lambda tp, fp, tn, fn: _over(fn, fn + tn)),
    ("pt", ("prevalence_threshold",), _prevalence_threshold),
    ("ts", ("threat_score", "critical_success_index", "csi"), lambda tp, fp, tn, fn: _over(tp, tp + fn + fp)),
    ("acc", ("accuracy",), lambda tp, fp, tn, fn: _over(tp + tn, tp + fp + tn + fn)),
    ("ba", ("balanced_accuracy",), lambda tp, fp, tn, fn: (_over(tp, tp + fn) + _over(tn, tn + fp)) / 2),
    ("f1", ("f1_score",), lambda tp, fp, tn, fn: _over(2 * tp, 2 * tp + fn + fp)),
    ("mcc", ("matthews_correlation_coefficient",), _matthews),
    ("fm", ("fowlkes_mallows_index",), lambda tp, fp, tn, fn: np.sqrt(_over(tp, tp + fp) * _over(tp, tp + fn))),
    (
        "bm",
        ("informedness", "bookmaker_informedness"),
        lambda tp, fp, tn, fn: _over(tp, tp + fn) + _over(tn, tn + fp) - 1,
    ),
    ("mk", ("markedness", "deltap"), lambda tp, fp, tn, fn: _over(tp, tp + fp) + _over(tn, tn + fn) - 1),
]
_BY_NAME = {name: rate for short, others, rate in _RATES for name in (short, *others)}


def rate(name: str, counts: np.ndarray) -> np.ndarray:
    """Return a rate of counts.

    Args:
        name: what the rate is called; case does not matter, a blank is as good as "_".
        counts: (..., 4), true positives, false positives, true negatives, false negatives.

    Returns:
        An array (...), NaN where the rate is not defined.

    Raises:
        NotImplementedError: for an unknown name.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.train.metrics.confusion.confusion_rates import rate
        >>> float(rate("Hit rate", np.array([3, 1, 5, 1])))
        0.75
    """
    known = name.replace(" ", "_").lower()
    if known not in _BY_NAME:
        raise NotImplementedError(
            f"For 'ConfusionMatrixMetric', 'metric_name' must be one of {sorted(_BY_NAME)}, but got '{name}'."
        )
    counts = np.asarray(counts, float)
    return _BY_NAME[known](*(counts[..., i] for i in range(4)))
