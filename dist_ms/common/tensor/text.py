"""The printed forms of a tensor, equal to MindSpore's to the letter.

`str` is NumPy's text. `repr` is a text of MindSpore's own: floats in scientific notation,
one-dimensional tensors in full up to 1000 elements and in lines of 24 (12 for floats and
bools), others with at most six entries along each dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

_LONGEST_LINE = 1000  # elements of a one-dimensional tensor shown in full
_LONGEST = 6  # entries shown in full along a dimension of the others
_EDGE = 3  # entries shown on each side of "..."
_EARLY_EXPONENTS = tuple(int(n) for n in np.__version__.split(".")[:2]) >= (2, 3)


def tensor_repr(array: np.ndarray, dtype_text: str) -> str:
    """Return `Tensor(shape=[2], dtype=Float32, value= [...])`.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.common.tensor.text import tensor_repr
        >>> print(tensor_repr(np.array([[1, -20], [3, 4]]), "Int64"))
        Tensor(shape=[2, 2], dtype=Int64, value=
        [[  1, -20],
         [  3,   4]])
    """
    if array.ndim == 0:
        body = _short(array[()])
    elif array.size == 0:
        body = ""
    else:
        longest = _LONGEST_LINE if array.ndim == 1 else _LONGEST
        shown = array[np.ix_(*(_shown(n, longest) for n in array.shape))]
        texts = _texts(shown)
        body = _nested(
            texts,
            array.shape,
            longest,
            1,
            12 if array.dtype.kind in "fb" and array.ndim == 1 else 24,
        )
    return _framed(array, dtype_text, body)


def plain_repr(array: np.ndarray, dtype_text: str) -> str:
    """Return the form of tensors in memory that NumPy made: NumPy's text with commas.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.common.tensor.text import plain_repr
        >>> plain_repr(np.array([1.0, 2.5], np.float32), "Float32")
        'Tensor(shape=[2], dtype=Float32, value= [1. , 2.5])'
    """
    return _framed(array, dtype_text, _numpy_text(array, ", "))


def tensor_str(array: np.ndarray) -> str:
    """Return what `print` shows: NumPy's text.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.common.tensor.text import tensor_str
        >>> tensor_str(np.array([1.0, 2.5], np.float32))
        '[1.  2.5]'
    """
    if array.ndim or array.dtype.kind == "V":
        return _numpy_text(array, " ")
    value: Any = array[()]
    if array.dtype.kind == "f":
        return _scalar(value, "0")
    return _complex_scalar(value) if array.dtype.kind == "c" else str(value)


def _starts_at_limit(array: np.ndarray) -> bool:
    """Whether the smallest value is float32's 0.0001, which is a little less than 1e-4.

    Values below 1e-4 ask for exponents; NumPy 2 takes this one for equal to 1e-4.
    """
    sizes = np.abs(array[np.isfinite(array) & (array != 0)])
    return sizes.size > 0 and sizes.min() == np.float32(1e-4) and sizes.max() < 1e8


def _scientific(array: np.ndarray) -> Callable[[np.floating], str]:
    """Write all elements with exponents and as many digits as the longest needs, as NumPy does."""
    finite = array[np.isfinite(array)]
    parts = [np.format_float_scientific(v, np.get_printoptions()["precision"]).split("e")[0].split(".") for v in finite]
    before, after = (max(len(p[i]) for p in parts) for i in (0, 1))
    width = before + after + 5 if finite.size < array.size else 0

    def write(value: np.floating) -> str:
        if not np.isfinite(value):
            return str(value).rjust(width)
        return np.format_float_scientific(value, after, min_digits=after, pad_left=before, exp_digits=2)

    return write


def _scalar(value: np.floating, trim: Literal["k", ".", "0", "-"]) -> str:
    """A float as NumPy prints a single one: with an exponent below 1e-4 and from 1e16 on."""
    if value == 0 or 1e-4 <= abs(float(value)) < 1e16 or not np.isfinite(value):
        return np.format_float_positional(value, trim=trim)
    return np.format_float_scientific(value, trim="-" if trim == "-" else ".", exp_digits=2).replace(".e", "e")


def _complex_scalar(value: np.complexfloating) -> str:
    imaginary = _scalar(value.imag, "-")
    if value.real == 0 and not np.signbit(value.real):
        return f"{imaginary}j"
    sign = "" if imaginary.startswith("-") else "+"
    return f"({_scalar(value.real, '-')}{sign}{imaginary}j)"


def lazy_text(shape: tuple, dtype_text: str) -> str:
    """Return the form of a tensor that has no values, or not even a known shape."""
    gap = "\n" if len(shape) > 1 else ""
    body = "<uninitialized>" if min(shape, default=0) >= 0 else "" if gap else " "
    return f"Tensor(shape={list(shape)}, dtype={dtype_text}, value={gap}{body})"


def _framed(array: np.ndarray, dtype_text: str, body: str) -> str:
    gap = " " if array.ndim < 2 else "\n"
    return f"Tensor(shape={list(array.shape)}, dtype={dtype_text}, value={gap}{body})"


def _numpy_text(array: np.ndarray, separator: str) -> str:
    """NumPy's text, by the rules it had when MindSpore was made.

    A bfloat16, which is foreign to NumPy, has six decimals.
    """
    formatter: Any = None
    if array.dtype.kind == "V":
        formatter = {"all": lambda value: f"{float(value):f}"}
    elif array.dtype == np.float32 and array.size <= _LONGEST_LINE and _starts_at_limit(array):
        formatter = {"float_kind": _scientific(array)}
    # From 2.3 on NumPy writes float16 above 1e3 and float32 above 1e6 with exponents.
    legacy: Any = "2.2" if _EARLY_EXPONENTS and np.get_printoptions()["legacy"] is False else None
    return np.array2string(array, separator=separator, formatter=formatter, legacy=legacy)


def _shown(length: int, longest: int) -> np.ndarray:
    """The entries of a dimension that appear."""
    return np.arange(length) if length <= longest else np.r_[0:_EDGE, length - _EDGE : length]


def _texts(shown: np.ndarray) -> np.ndarray:
    """The entries as texts of equal width, in an array of the same shape."""
    kind = shown.dtype.kind
    flat = shown.reshape(-1)
    if kind == "f":
        digits, width = (4, 11) if shown.dtype.itemsize == 2 else (8, 15)
        texts = [_signed_nan(v, f"{v:.{digits}e}").rjust(width) for v in flat.tolist()]
    elif kind == "b":
        texts = [str(v).rjust(5) for v in flat.tolist()]
    elif kind == "c":
        texts = [_short(v) for v in flat]
    else:
        texts = [_short(v) for v in flat]
        width = max(len(t) for t in texts)
        texts = [t.rjust(width) for t in texts]
    return np.array(texts, object).reshape(shown.shape)


def _short(value: Any) -> str:
    """One element as C++ streams write it."""
    kind = value.dtype.kind
    if kind == "c":
        imaginary = _general(float(value.imag))
        return f"{_general(float(value.real))}{imaginary if imaginary[0] == '-' else '+' + imaginary}j"
    return _general(float(value)) if kind in "fV" else str(value.item())


def _general(value: float) -> str:
    return _signed_nan(value, f"{value:g}")


def _signed_nan(value: float, text: str) -> str:
    """C++ streams show the sign of a NaN."""
    return "-nan" if value != value and np.signbit(value) else text


def _nested(texts: np.ndarray, shape: tuple, longest: int, depth: int, per_line: int) -> str:
    """Brackets around the entries of a dimension: `shape` as it is, `texts` as far as shown."""
    cut = shape[0] > longest
    if texts.ndim == 1:
        if cut:
            return f"[{', '.join(texts[:_EDGE])} ... {', '.join(texts[_EDGE:])}]"
        lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
        return "[" + (", \n" + " " * depth).join(lines) + "]"
    rows = [_nested(row, shape[1:], longest, depth + 1, per_line) for row in texts]
    gap = "\n" + " " * depth
    separator: Callable[[list[str]], str] = ("," + gap).join
    if cut:
        return f"[{separator(rows[:_EDGE])},{gap}...{gap}{separator(rows[_EDGE:])}]"
    return f"[{separator(rows)}]"
