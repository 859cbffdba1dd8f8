"""Cross entropy with labels or probabilities, and negative log likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.remember import remembered
from dist_ms._ext.tape import Kept, agree
from dist_ms.common.checks import check_int, check_non_negative_number, check_string
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import raises, reads, reads_of_none
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.activations.softmax import log_softmax
from dist_ms.ops.arguments import tensor
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import cross_entropy as kernels
from dist_ms.ops.layout import contiguous, converted, empty, empty_like, working_type
from dist_ms.ops.losses.label_likelihood import is_plain, likelihood
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping import reshaping, transposing

__all__ = ["cross_entropy", "nll_loss"]

LABEL_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


class LabelCrossEntropy(Primitive):
    """-log softmax(logits) at each row's label, times a weight per row; added up, averaged or neither.

    Args:
        owner: the name used in errors.
        ignore_index: the label whose rows do not count.
        reduction: "mean" divides the sum by the number of rows that count, NaN if none does.
        widens: give a float32 result of 16-bit logits.

    Call:
        logits: (rows, columns).
        labels: int32 or int64 (rows,).
        scale: an array (rows,) in the working type of the logits, or None for ones.
        kept: gets the kernel's array (rows, 2), and the number that all losses are multiplied by.
    """

    keeps = (0, 1)

    def __init__(self, owner: str, ignore_index: int, reduction: str, widens: bool = False) -> None:
        self.name, self._ignore, self._reduction, self._widens = owner, ignore_index, reduction, widens

    def widening(self) -> LabelCrossEntropy:
        """The same with a float32 result of 16-bit logits: a cast before it is part of it."""
        return LabelCrossEntropy(self.name, self._ignore, self._reduction, True)

    def forward(self, logits: np.ndarray, labels: np.ndarray, scale: np.ndarray | None, kept: Kept) -> np.ndarray:
        arguments.floating(logits, "input", self.name, complex_too=False)
        _check_labels(self.name, labels, logits.shape)
        work = working_type(logits.dtype)
        rows, labels = contiguous(logits), contiguous(labels)
        loss, totals = empty(rows.shape[0], work), empty((rows.shape[0], 2), work)
        try:
            counted = kernels.cross_entropy_forward(rows, labels, self._ignore, loss, totals)
        except ValueError as error:
            raise RuntimeError(str(error).replace("cross_entropy_forward", self.name)) from None
        if scale is not None:
            loss *= scale
        factor = 1.0
        if self._reduction == "mean":
            factor = 1.0 / counted if counted else float("nan")
        if self._reduction != "none":
            loss = np.asarray(np.add.reduce(loss) * work.type(factor))
        kept.value = totals, factor
        return loss if self._widens or logits.dtype is work else converted(loss, logits.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        logits, labels, scale, kept = inputs
        totals, factor = kept.value
        scale = factor if scale is None else scale * factor
        return LabelCrossEntropyGrad(self._ignore)(dout, logits, labels.array(), scale, totals), None, None, None


class LabelCrossEntropyGrad(Primitive):
    """dy scale (softmax(logits) - onehot(label)), 0 in the rows ignored."""

    keeps = (0, 1)

    def __init__(self, ignore_index: int) -> None:
        self._ignore = ignore_index

    def forward(
        self, dy: np.ndarray, logits: np.ndarray, labels: np.ndarray, scale: np.ndarray, totals: np.ndarray
    ) -> np.ndarray:
        rows = contiguous(logits)
        out = empty_like(rows)
        per_row = empty(rows.shape[0], totals.dtype)
        np.multiply(dy, scale, out=per_row, dtype=totals.dtype)
        kernels.cross_entropy_backward(per_row, rows, totals, contiguous(labels), self._ignore, out)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        dy, logits, labels, scale, _ = inputs
        hot = one_hot_rows(labels, self._ignore, logits.shape[1], dy.array().dtype)
        factor = wrap(np.where(labels == self._ignore, 0, scale).astype(hot.dtype)[:, None])

        def formula(dy: Tensor, logits: Tensor) -> Tensor:
            spread = reshaping.reshape(dy, (-1, 1))
            wide = ops.cast(logits, dy.dtype)
            return ops.cast(spread * factor * (ops.softmax(wide, -1) - wrap(hot)), logits.dtype)

        return (*formula_gradient(formula, (dy, logits), dout), None, None, None)


class PickLabel(Primitive):
    """x[i, labels[i]] of each row, 0 in the rows ignored."""

    keeps = ()

    def __init__(self, owner: str, ignore_index: int) -> None:
        self.name, self._ignore = owner, ignore_index

    def forward(self, x: np.ndarray, labels: np.ndarray) -> np.ndarray:
        ignored = labels == self._ignore
        outside = ~ignored & ((labels < 0) | (labels >= x.shape[1]))
        if outside.any():
            raise RuntimeError(
                f"For '{self.name}', the labels must be in [0, {x.shape[1]}) or the ignore_index "
                f"{self._ignore}, but got {labels[outside][0]}."
            )
        picked = x[np.arange(x.shape[0]), np.where(ignored, 0, labels)]
        return np.where(ignored, np.zeros((), x.dtype), picked)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return PickLabelGrad(self)(dout, inputs[1], inputs[0].shape), None


class PickLabelGrad(Primitive):
    """The transpose of `PickLabel`."""

    keeps = ()

    def __init__(self, pick: PickLabel) -> None:
        self._pick = pick

    def forward(self, dy: np.ndarray, labels: np.ndarray, shape: tuple) -> np.ndarray:
        out = np.zeros((len(labels), shape[1]), dy.dtype)
        ignored = labels == self._pick._ignore
        out[np.arange(len(labels)), np.where(ignored, 0, labels)] = np.where(ignored, np.zeros((), dy.dtype), dy)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return self._pick(dout, inputs[1]), None, None


def one_hot_rows(labels: np.ndarray, ignore_index: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """A row per label with a one in its column; no one in the rows ignored."""
    return (labels[:, None] == np.arange(columns)).astype(dtype) * (labels != ignore_index)[:, None].astype(dtype)


@remembered
def _label_cross_entropy(owner: str, reduction: Any, ignore_index: Any, smoothing: Any) -> LabelCrossEntropy:
    """The operation on rows of logits, with its options checked."""
    check_string(reduction, "reduction", owner, ["none", "mean", "sum"])
    ignore_index, smoothing = arguments.scalar(ignore_index), arguments.scalar(smoothing)
    check_int(ignore_index, "ignore_index", owner)
    check_non_negative_number(smoothing, "label_smoothing", owner)
    return LabelCrossEntropy(owner, ignore_index, reduction)


@reads_of_none("input", "target")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropy between softmax(input) and a target.

    With labels, row i's loss is -weight[t_i] log softmax(input_i)[t_i], 0 if t_i is
    `ignore_index`; "mean" divides by the weights of the rows not ignored. With probabilities it
    is -sum over c of weight[c] target_i[c] log softmax(input_i)[c]; "mean" divides by the rows.
    `label_smoothing` e replaces the target by (1 - e) target + e / C.

    Args:
        input: logits (N, C), (N, C, ...) or (C,), floats.
        target: int32 or int64 labels (N, ...) or (), or probabilities of the shape of `input`.
        weight: (C,), or None for ones.
        ignore_index: the label whose rows do not count.
        reduction: "mean", "sum" or "none".
        label_smoothing: in [0, 1].

    Returns:
        Tensor: a scalar, or with "none" one loss per row.

    Raises:
        TypeError: if `input` holds no floats, or the labels are neither int32 nor int64.
        ValueError: if shapes do not agree, or `reduction` is another string.
        RuntimeError: if a label is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> logits = ms.Tensor([[0.0, 0.0], [0.0, 0.0]])
        >>> print(ms.ops.cross_entropy(logits, ms.Tensor([0, 1])))
        0.6931472
    """
    if not tensor(input, "input", "cross_entropy").ndim:
        raise IndexError("For 'cross_entropy', 'input' must have at least 1 dimension, but got a scalar.")
    owner = "cross_entropy"
    plain = weight is None and agree(input, 2, 2, 0, 1, target) and target._element in LABEL_TYPES
    if not plain:
        _check_tensors(owner, input, target)
    op = _label_cross_entropy(owner, reduction, ignore_index, label_smoothing)
    if plain and not label_smoothing:
        return op(input, wrap(target.array()), None, Kept())
    arguments.floating_tensor(input, "input", owner)
    if target._element.kind in "fV":
        return _of_probabilities(owner, input, target, weight, reduction, label_smoothing)
    rows, labels, shape = _rows(owner, input, target)
    if label_smoothing:
        return _of_labels(owner, log_softmax(rows, -1), labels, shape, weight, ignore_index, reduction, label_smoothing)
    scale = None
    if weight is not None:
        scale, total = _label_weights(owner, labels, rows.shape[1], weight, ignore_index, working_type(input._element))
        if reduction == "mean":
            loss = LabelCrossEntropy(owner, ignore_index, "sum")(rows, wrap(labels), _divided(scale, total), Kept())
            return loss if total else loss * float("nan")
    loss = op(rows, wrap(labels), scale, Kept())
    return reshaping.reshape(loss, shape) if reduction == "none" else loss


@reads(input="shape", target="expand_dims")
@raises(reduction=(TypeError, ValueError))
def nll_loss(
    inputs: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the negative log likelihood of labels: -weight[t_i] inputs[i, t_i].

    Args:
        inputs: log probabilities (N, C), (N, C, ...) or (C,), floats.
        target: int32 or int64 labels (N, ...) or ().
        weight: (C,), or None for ones.
        ignore_index: the label whose rows do not count.
        reduction: "mean" (divided by the weights of the rows not ignored), "sum" or "none".
        label_smoothing: in [0, 1]; see `cross_entropy`.

    Returns:
        Tensor: a scalar, or with "none" one loss per row.

    Raises:
        TypeError: if `inputs` holds no floats, or the labels are neither int32 nor int64.
        ValueError: if shapes do not agree, or `reduction` is another string.
        RuntimeError: if a label is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.nll_loss(ms.Tensor([[-0.5, -1.0]]), ms.Tensor([1])))
        1.0
    """
    if not tensor(inputs, "input", "nll_loss").ndim:
        raise IndexError("For 'nll_loss', 'inputs' must have at least 1 dimension, but got a scalar.")
    owner = "nll_loss"
    _check_tensors(owner, inputs, target)
    _label_cross_entropy(owner, reduction, ignore_index, label_smoothing)
    arguments.floating_tensor(inputs, "inputs", owner)
    rows, labels, shape = _rows(owner, inputs, target)
    if is_plain(rows, weight, label_smoothing):
        loss = likelihood(owner, rows, labels, ignore_index, reduction)
        return reshaping.reshape(loss, shape) if reduction == "none" else loss
    return _of_labels(owner, rows, labels, shape, weight, ignore_index, reduction, label_smoothing)


def _check_tensors(owner: str, input: Any, target: Any) -> None:
    """Require tensors, the first with classes."""
    shape = arguments.tensor(input, "input", owner).shape
    arguments.tensor(target, "target", owner)
    if not shape or shape[1 if len(shape) > 1 else 0] == 0:
        raise ValueError(
            f"For '{owner}', 'input' must be (N, C), (N, C, ...) or (C,) with classes, but got shape {shape}."
        )


def _matrix(x: Tensor) -> Tensor:
    """(N, C, ...) or (C,) as (rows, C)."""
    if x.ndim == 1:
        return reshaping.reshape(x, (1, x.shape[0]))
    if x.ndim == 2:
        return x
    moved = transposing.transpose(x, (0, *range(2, x.ndim), 1))
    return reshaping.reshape(moved, (x.size // x.shape[1] if x.shape[1] else 0, x.shape[1]))


def _rows(owner: str, input: Tensor, target: Tensor) -> tuple[Tensor, np.ndarray, tuple]:
    """Logits as (rows, C), labels as (rows,), and the shape of the labels."""
    labels = target.array()
    if labels.dtype not in LABEL_TYPES:
        raise TypeError(
            f"For '{owner}', 'target' must be Int32 or Int64 labels, or probabilities of the dtype of "
            f"'input', but got {from_numpy(labels.dtype)}; cast it first."
        )
    _check_labels(owner, labels, input.shape)
    return _matrix(input), labels.reshape(-1), labels.shape


def _check_labels(owner: str, labels: np.ndarray, lengths: tuple) -> None:
    """Require one label per row of logits of the shape `lengths`."""
    shape = lengths[:1] + lengths[2:] if len(lengths) > 1 else ()
    if labels.shape != shape:
        raise ValueError(
            f"For '{owner}', 'target' must have shape {shape}, one label per row of 'input' "
            f"{lengths}, but got {labels.shape}."
        )


def _label_weights(
    owner: str, labels: np.ndarray, columns: int, weight: Tensor | None, ignore_index: int, work: np.dtype
) -> tuple[np.ndarray, float]:
    """The weight of each row, and the sum of those not ignored."""
    counted = labels != ignore_index
    if weight is None:
        scale = counted.astype(work)
        return scale, float(np.count_nonzero(counted))
    vector = _class_weights(owner, weight, columns).array().astype(work, copy=False)
    inside = np.where(counted & (labels >= 0) & (labels < columns), labels, 0)
    scale = np.where(counted, vector[inside], np.zeros((), work))
    return scale, float(scale.sum())


def _class_weights(owner: str, weight: Any, columns: int) -> Tensor:
    """Require a weight per class."""
    if arguments.tensor(weight, "weight", owner).shape != (columns,):
        raise ValueError(
            f"For '{owner}', 'weight' must have an element for each of the {columns} classes, but got "
            f"shape {weight.shape}."
        )
    return weight


def _divided(scale: np.ndarray, total: float) -> np.ndarray:
    """The row weights over their sum; untouched if that is 0."""
    return scale / scale.dtype.type(total) if total else scale


def _of_labels(
    owner: str,
    logprob: Tensor,
    labels: np.ndarray,
    shape: tuple,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    smoothing: float,
) -> Tensor:
    """The loss of labels, given log probabilities (rows, C)."""
    d = logprob.array().dtype
    columns = logprob.shape[1]
    scale, total = _label_weights(owner, labels, columns, weight, ignore_index, working_type(d))
    loss = -PickLabel(owner, ignore_index)(logprob, labels) * wrap(scale.astype(d))
    if smoothing:
        every = logprob if weight is None else logprob * weight
        counted = wrap((labels != ignore_index).astype(d))
        loss = (1.0 - smoothing) * loss - smoothing / columns * ops.ReduceSum()(every, 1) * counted
    if reduction == "none":
        return reshaping.reshape(loss, shape)
    loss = ops.ReduceSum()(loss)
    if reduction == "sum":
        return loss
    return loss / total if total else loss * float("nan")


def _of_probabilities(
    owner: str, input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    """The loss of probabilities."""
    if target.shape != input.shape or input.ndim == 0:
        raise ValueError(
            f"For '{owner}', 'target' must have the shape {input.shape} of 'input' when it holds "
            f"probabilities, but got {target.shape}."
        )
    rows, wanted = _matrix(input), _matrix(target)
    if smoothing:
        wanted = wanted * (1.0 - smoothing) + smoothing / rows.shape[1]
    if weight is not None:
        wanted = wanted * _class_weights(owner, weight, rows.shape[1])
    loss = -ops.ReduceSum()(log_softmax(rows, -1) * wanted, 1)
    if reduction == "none":
        return reshaping.reshape(loss, input.shape[:1] + input.shape[2:] if input.ndim > 1 else ())
    loss = ops.ReduceSum()(loss)
    return loss if reduction == "sum" else loss / max(rows.shape[0], 1)
