"""Checks of the numbers that say where convolution and pooling windows lie."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_int, check_non_negative_int, check_positive_int, check_string, complaint
from dist_ms.ops.convolutions.windows import Pairs


def per_dimension(value: Any, rank: int, name: str, owner: str, length_error: type = TypeError) -> tuple[int, ...]:
    """A positive int, or a tuple of `rank` of them, as a tuple.

    Raises:
        TypeError: for another type; also for a tuple of another length, unless `length_error`
            is another error (MindSpore's layers and functions differ).
        ValueError: for 0 and below.
    """
    if isinstance(value, (tuple, list)):
        if len(value) != rank:
            for v in value:
                check_positive_int(v, name, owner)
            raise length_error(complaint(name, owner, f"a positive int or a tuple of {rank}", value))
        return tuple([check_positive_int(v, name, owner) for v in value])
    return (check_positive_int(value, name, owner),) * rank


def strides_of(value: Any, rank: int, name: str, owner: str, length_error: type = TypeError) -> tuple[int, ...]:
    """Like `per_dimension`, also in the form (1, 1, ...) with the batch and channel dimensions.

    Raises:
        TypeError: for another type or a tuple of another length.
        ValueError: for 0 and below, and for a batch or channel entry other than 1.
    """
    if isinstance(value, (tuple, list)) and len(value) == rank + 2:
        if tuple(value[:2]) != (1, 1):
            raise ValueError(complaint(name, owner, "1 in the batch and channel dimensions", value))
        value = value[2:]
    return per_dimension(value, rank, name, owner, length_error)


def padding_pairs(value: Any, rank: int, name: str, owner: str, symmetric: bool = False) -> Pairs:
    """The (before, after) pairs of a padding argument.

    Args:
        value: an int for all sides, or a tuple. With `symmetric` the tuple has an int per
            dimension, else one before and one after each: (top, bottom, left, right).
        rank: number of spatial dimensions.
        name: the argument's name.
        owner: the class or function it belongs to.
        symmetric: which of the two tuple forms is meant.

    Raises:
        TypeError: for another type.
        ValueError: for a tuple of another length, and for negative numbers.
    """
    if not isinstance(value, (tuple, list)):
        check_non_negative_int(check_int(value, name, owner), name, owner)
        return ((value, value),) * rank
    wanted = rank if symmetric else 2 * rank
    if symmetric and len(value) == 1:
        value = tuple(value) * rank
    if len(value) != wanted:
        raise ValueError(complaint(name, owner, f"an int of 0 or more, or a tuple of {wanted}", value))
    for v in value:
        check_non_negative_int(v, name, owner)
    if symmetric:
        return tuple([(v, v) for v in value])
    return tuple([(value[2 * i], value[2 * i + 1]) for i in range(rank)])


def mode_padding(pad_mode: str, value: Any, rank: int, name: str, owner: str, symmetric: bool = False) -> Pairs | None:
    """The padding of "valid" (none), "pad" (`value`) and "same" (None: known with the sizes).

    Raises:
        TypeError: for another type of padding.
        ValueError: for another mode, or padding other than 0 with "same" and "valid".
    """
    check_string(pad_mode, "pad_mode", owner, ["valid", "same", "pad"])
    pairs = padding_pairs(value, rank, name, owner, symmetric)
    if pad_mode == "pad":
        return pairs
    if any(n for pair in pairs for n in pair):
        raise ValueError(
            complaint(name, owner, f"0 when 'pad_mode' is {pad_mode!r}", value, "Use pad_mode='pad' to pad by hand.")
        )
    return None if pad_mode == "same" else ((0, 0),) * rank


def check_data_format(value: Any, owner: str, only: str) -> str:
    """Require the one data format of the CPU.

    Raises:
        ValueError: for another one.
    """
    if value != only:
        raise ValueError(
            complaint(
                "data_format",
                owner,
                f"{only!r}",
                repr(value),
                "Other formats need a GPU; memory is channels-last anyway.",
            )
        )
    return value
