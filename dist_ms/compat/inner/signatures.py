"""`mindspore.ops.signature`: what a primitive says of its inputs to MindSpore's type promotion.

A class with `__mindspore_signature__` keeps it; here operations promote types by their own rules, and those that write
to an input know it themselves.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

__all__ = ["Signature", "make_sig", "sig_dtype", "sig_kind", "sig_rw"]


class sig_rw(enum.Enum):
    """Whether an input is read or written."""

    RW_READ = 0
    RW_WRITE = 1
    RW_REF = 2
    RW_EMPTY_DEFAULT_VALUE = 3


class sig_kind(enum.Enum):
    """How an input is given."""

    KIND_POSITIONAL_KEYWORD = 0
    KIND_VAR_POSITIONAL = 1
    KIND_KEYWORD_ONLY = 2
    KIND_VAR_KEYWARD = 3
    KIND_EMPTY_DEFAULT_VALUE = 4


sig_dtype = enum.Enum("sig_dtype", {**{f"T{i or ''}": i for i in range(10)}, "T_EMPTY_DEFAULT_VALUE": 10})
sig_dtype.__doc__ = "Which inputs have one type: those with one of these letters."


class Signature(NamedTuple):
    """What is said of one input."""

    name: str
    rw: sig_rw
    kind: sig_kind
    default: Any
    dtype: Any


def make_sig(
    name: str = "var",
    rw: sig_rw = sig_rw.RW_READ,
    kind: sig_kind = sig_kind.KIND_POSITIONAL_KEYWORD,
    default: Any = sig_kind.KIND_EMPTY_DEFAULT_VALUE,
    dtype: Any = sig_dtype.T_EMPTY_DEFAULT_VALUE,  # type: ignore[attr-defined]
) -> Signature:
    """Say of an input how it is named, given, read and typed.

    Examples:
        >>> from dist_ms.compat.inner.signatures import make_sig, sig_rw
        >>> make_sig("parameter", sig_rw.RW_WRITE).rw.name
        'RW_WRITE'
    """
    return Signature(name, rw, kind, default, dtype)
