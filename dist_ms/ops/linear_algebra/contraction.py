"""Sums of products of arrays whose dimensions have letters, made of matrix products."""

from __future__ import annotations

import math

import numpy as np

from dist_ms.ops.elementwise.arithmetic import mul
from dist_ms.ops.linear_algebra.array_products import SMALL, outer_product, product


def contract(operands: list[np.ndarray], terms: list[str], result: str) -> np.ndarray:
    """The sum of products of two or more float arrays of one dtype.

    Args:
        operands: the arrays.
        terms: the letters of their dimensions; none comes twice in one.
        result: the letters of the result, each of them in a term.
    """
    lengths = {c: n for o, t in zip(operands, terms) for c, n in zip(t, o.shape)}
    if math.prod(lengths.values()) < SMALL:
        return plainly(operands, terms, result)
    operands, terms = list(operands), list(terms)
    for i, j in _order(operands, terms, result):
        others = "".join(t for k, t in enumerate(terms) if k not in (i, j)) + result
        into = result if len(terms) == 2 else "".join(dict.fromkeys(c for c in terms[i] + terms[j] if c in others))
        out = _pair(operands[i], terms[i], operands[j], terms[j], into, lengths)
        for k in sorted((i, j), reverse=True):
            del operands[k], terms[k]
        operands.append(out)
        terms.append(into)
    return operands[0]


def is_product(operands: tuple, terms: tuple, result: str) -> bool:
    """Whether a contraction is one large product of matrices, which sums 16-bit numbers in float32 and rounds once."""
    if (
        len(terms) != 2
        or math.prod({c: n for o, t in zip(operands, terms) for c, n in zip(t, o.shape)}.values()) < SMALL
    ):
        return False
    first, second, kept = set(terms[0]), set(terms[1]), set(result)
    has_free = bool(kept - (first & second))
    return not (first ^ second) - kept and bool((first & second) - kept) and has_free


def plainly(operands: list[np.ndarray], terms: tuple | list, result: str) -> np.ndarray:
    """The same by NumPy, for few elements and for any dtype it knows."""
    letters = {c: i for i, c in enumerate(sorted({c for t in terms for c in t}))}
    pairs = [part for o, t in zip(operands, terms) for part in (o, [letters[c] for c in t])]
    return np.einsum(*pairs, [letters[c] for c in result], optimize=len(operands) > 1)


def _order(operands: list, terms: list, result: str) -> list[tuple]:
    """Which two operands to contract, again and again; what comes of them goes to the end."""
    if len(operands) == 2:
        return [(0, 1)]
    letters = {c: chr(97 + i) if i < 26 else chr(39 + i) for i, c in enumerate(dict.fromkeys("".join(terms)))}
    written = ",".join("".join(letters[c] for c in t) for t in terms) + "->" + "".join(letters[c] for c in result)
    steps = np.einsum_path(written, *operands, optimize="greedy")[0][1:]
    if all(len(step) == 2 for step in steps):
        return steps
    return [(0, 1)] * (len(operands) - 1)


def _pair(a: np.ndarray, first: str, b: np.ndarray, second: str, result: str, lengths: dict) -> np.ndarray:
    """The contraction of two arrays."""
    a, first = _without(a, first, second + result)
    b, second = _without(b, second, first + result)
    batch = [c for c in result if c in first and c in second]
    inner = [c for c in first if c in second and c not in result]
    rows = [c for c in result if c in first and c not in second]
    columns = [c for c in result if c in second and c not in first]
    if rows and columns and result.rindex(rows[-1]) > result.rindex(columns[-1]):  # then the result lies as it is read
        a, first, rows, b, second, columns = b, second, columns, a, first, rows
    if not inner and a.ndim == b.ndim == 1 and rows and columns:
        return outer_product(a, b)
    if not inner:
        return mul.forward(_spread(a, first, result), _spread(b, second, result))
    if not rows and not columns and batch:
        return plainly([a, b], [first, second], result)
    # One order of the inner letters for both; that of the larger operand, which then need not be copied.
    inner = [c for c in (first if a.size >= b.size else second) if c in inner]
    lead = [lengths[c] for c in batch]
    left = _grouped(a, first, batch, rows, inner, lengths)
    right = _grouped(b, second, batch, inner, columns, lengths)
    out = product(left, right).reshape([*lead, *(lengths[c] for c in rows), *(lengths[c] for c in columns)])
    there = [*batch, *rows, *columns]
    return out if there == list(result) else out.transpose([there.index(c) for c in result])


def _without(x: np.ndarray, term: str, wanted: str) -> tuple[np.ndarray, str]:
    """An array summed over the letters that are wanted nowhere else."""
    alone = tuple(i for i, c in enumerate(term) if c not in wanted)
    return (x.sum(alone), "".join(c for c in term if c in wanted)) if alone else (x, term)


def _spread(x: np.ndarray, term: str, result: str) -> np.ndarray:
    """An array with a dimension for each letter of the result, of length 1 where it has none."""
    x = x.transpose([term.index(c) for c in result if c in term])
    return x[tuple(slice(None) if c in term else None for c in result)]


def _grouped(x: np.ndarray, term: str, batch: list, rows: list, columns: list, lengths: dict) -> np.ndarray:
    """An array (*batch, rows, columns), where a dimension stands for each of the two groups of letters."""
    x = x.transpose([term.index(c) for c in (*batch, *rows, *columns)])
    if len(rows) == len(columns) == 1:
        return x
    lead, sizes = x.shape[: len(batch)], [math.prod(lengths[c] for c in group) for group in (rows, columns)]
    return x.reshape(*lead, *sizes)
