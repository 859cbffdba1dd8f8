"""OcclusionSensitivity: which parts of an input a network's answer depends on."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dist_ms.common.checks import check_float, check_int, check_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.train.metrics.metric import Metric, rearrange_inputs

_OWNER = "OcclusionSensitivity"


class OcclusionSensitivity(Metric):
    """How much the score of a class falls when a part of the latest input is covered.

    Args:
        pad_val: what the covered part is filled with, a float.
        margin: half the width of the covered box, an int or a list of one int per dimension.
        n_batch: how many covered inputs the network sees at a time.
        b_box: the part to look at, [low, high, low, high, ...] with both ends in it; a negative
            low is 0, a negative high the last. None looks at everything.

    Raises:
        TypeError: for arguments of the wrong type.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(3, 2, weight_init=ms.Tensor([[0.0, 0, 0], [1.0, 2, 4]]), has_bias=False)
        >>> metric = ms.train.OcclusionSensitivity(margin=1)
        >>> metric.update(net, np.ones((1, 3), np.float32), np.array(1))
        >>> print(metric.eval())
        [1. 3. 6.]
    """

    latest = ("_baseline", "_sensitivity_im", "_is_update")

    def __init__(
        self,
        pad_val: float = 0.0,
        margin: int | list[int] = 2,
        n_batch: int = 128,
        b_box: list[int] | None = None,
    ) -> None:
        super().__init__()
        self.pad_val = check_float(pad_val, "pad_val", _OWNER)
        self.margin = check_type(margin, "margin", _OWNER, (int, list))
        self.n_batch = check_int(n_batch, "n_batch", _OWNER)
        self.b_box = None if b_box is None else check_type(b_box, "b_box", _OWNER, list)
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._baseline = 0.0
        self._sensitivity_im: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one input, in the place of the one before.

        Args:
            inputs: the network; its input (1, ...); the class whose score is looked at.

        Raises:
            TypeError: if the first is no Cell.
            RuntimeError: if there is more than one input or label.
            ValueError: if `b_box` does not fit the input.
        """
        model, image, label = self._expect(inputs, "model", "input", "label")
        image, label = self._convert_data(image), self._convert_data(label)
        check_type(model, "model", f"{_OWNER}.update", Cell)
        if image.shape[0] > 1 or label.size != 1:
            raise RuntimeError(
                f"For '{_OWNER}.update', there must be one input and one label, but got shapes "
                f"{image.shape} and {label.shape}."
            )
        score = int(label.reshape(()))
        self._baseline = model(Tensor(image)).asnumpy()[0, score].item()
        low, high = _box(self.b_box, image.shape[1:])
        scores = []
        for places in _batches(np.ndindex(*(high - low)), self.n_batch):
            covered = np.concatenate([self._covered(image, low + p) for p in places])
            scores.append(model(Tensor(covered)).asnumpy()[:, score])
        self._sensitivity_im = np.concatenate(scores).reshape(high - low)
        self._is_update = True

    def _covered(self, image: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return a copy of the input with the box around a place filled."""
        margins = np.broadcast_to(self.margin, place.shape)
        copy = image.copy()
        box = (slice(max(0, p - m), p + m) for p, m in zip(place, margins, strict=True))
        inside: Any = (..., *box)
        copy[inside] = self.pad_val
        return copy

    def eval(self) -> np.ndarray:
        """Return how much the score falls, for every covered place.

        Raises:
            RuntimeError: if nothing was seen.
        """
        self._need(self._is_update)
        return self._baseline - np.squeeze(self._sensitivity_im)


def _batches(places: Any, size: int) -> Any:
    """Group an iterator's items."""
    while group := list(itertools.islice(places, size)):
        yield group


def _box(b_box: list[int] | None, shape: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Return the first places and those after the last."""
    if b_box is None:
        return np.zeros(len(shape), int), np.array(shape)
    if len(b_box) != 2 * len(shape):
        raise ValueError(
            f"For '{_OWNER}', 'b_box' must have a low and a high for each of the {len(shape)} "
            f"dimensions of the input, but got {len(b_box)} numbers."
        )
    low = np.maximum(b_box[::2], 0)
    high = np.where(np.array(b_box[1::2]) < 0, np.array(shape) - 1, b_box[1::2])
    if np.any(high >= shape) or np.any(low > high):
        raise ValueError(
            f"For '{_OWNER}', each low of 'b_box' must be at most its high, and each high below "
            f"the input's length {shape}, but got {b_box}."
        )
    return low, high + 1
