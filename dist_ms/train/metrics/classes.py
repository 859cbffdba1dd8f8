"""What metrics of classes have in common: checks of scores and labels, and one-hot labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.train.metrics.metric import Metric

EVAL_TYPES = ("classification", "multilabel")


class ClassMetric(Metric):
    """Base of metrics of scores and labels.

    Args:
        eval_type: "classification" (scores (N, C, ...), labels (N, ...) or one-hot) or
            "multilabel" (outputs and labels (N, C, ...) of 0 and 1).

    Raises:
        TypeError: for another `eval_type`.
    """

    largest = ("_class_num",)

    def __init__(self, eval_type: str) -> None:
        super().__init__()
        if eval_type not in EVAL_TYPES:
            raise TypeError(
                f"For '{type(self).__name__}', 'eval_type' must be one of {', '.join(EVAL_TYPES)}, but got {eval_type}."
            )
        self._type = eval_type
        self._class_num = 0

    def _pair(self, inputs: tuple) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores and labels of a batch, checked; one-hot labels become numbers."""
        y_pred, y = (self._convert_data(d) for d in self._expect(inputs, "output", "label"))
        if self._type == "classification":
            y = class_numbers(y_pred, y)
            self._check(y_pred.ndim == y.ndim + 1, "one dimension more than", y_pred, y)
            fits = y.shape == y_pred.shape[:1] + y_pred.shape[2:]
            self._check(fits, "the shape, but for axis 1, of", y_pred, y)
        else:
            self._check(y_pred.shape == y.shape, "the shape of", y_pred, y)
            if not (is_binary(y_pred) and is_binary(y)):
                raise ValueError(
                    f"For '{type(self).__name__}.update', outputs and labels must be 0 or 1 in the multilabel case."
                )
        self._count_classes(y_pred)
        return y_pred, y

    def _check(self, fits: bool, wanted: str, y_pred: np.ndarray, y: np.ndarray) -> None:
        if not fits:
            raise ValueError(
                f"For '{type(self).__name__}.update', in the {self._type} case the outputs must "
                f"have {wanted} the labels, but got shapes {y_pred.shape} and {y.shape}."
            )

    def _count_classes(self, y_pred: np.ndarray) -> None:
        """Remember the number of classes, which is the same in every batch."""
        found = y_pred.shape[1]
        if self._class_num not in (0, found):
            raise ValueError(
                f"For '{type(self).__name__}.update', the class number must be that of the batch "
                f"before, {self._class_num}, but got {found}."
            )
        self._class_num = found

    def _one_hots(self, y_pred: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the predicted and the true classes as rows of 0 and 1."""
        classes = self._class_num
        if y.max() + 1 > classes:
            raise ValueError(
                f"For '{type(self).__name__}.update', labels must be below the number of classes "
                f"{classes}, but got {y.max()}."
            )
        return np.eye(classes)[y_pred.argmax(axis=1).reshape(-1)], np.eye(classes)[y.reshape(-1)]


def class_numbers(y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return labels as class numbers; they are one-hot when they look so and have the scores' rank."""
    if y_pred.ndim == y.ndim > 1 and is_binary(y) and (y.sum(axis=1) == 1).all():
        return y.argmax(axis=1)
    return y


def is_binary(values: Any) -> bool:
    """Whether all values are 0 or 1."""
    return bool(((values == 0) | (values == 1)).all())
