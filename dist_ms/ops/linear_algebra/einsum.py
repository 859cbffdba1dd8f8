"""einsum: sums of products, said by letters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.checks import check_string
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.elementwise.arithmetic import conjugate
from dist_ms.ops.layout import converted
from dist_ms.ops.linear_algebra.contraction import contract, is_product, plainly
from dist_ms.ops.linear_algebra.matmul import matmul
from dist_ms.ops.linear_algebra.triangles import diagonal
from dist_ms.ops.primitive import Primitive, numpy_dtype, quiet
from dist_ms.ops.shaping.expanding import BroadcastTo
from dist_ms.ops.shaping.reshaping import reshape
from dist_ms.ops.shaping.transposing import transpose

__all__ = ["Einsum", "einsum"]

_F32 = np.dtype(np.float32)
_SPARE = "".join(map(chr, range(0x100, 0x180)))  # letters that stand for the dimensions of "..."


class Contraction(Primitive):
    """The sum of products of tensors whose dimensions have letters.

    Args:
        terms: the letters of each input; none comes twice in one input.
        result: the letters of the result.
    """

    def __init__(self, terms: tuple, result: str) -> None:
        self.terms, self.result = terms, result

    @quiet
    def forward(self, *operands: np.ndarray) -> np.ndarray:
        d = np.result_type(*operands) if all(o.dtype.kind != "V" for o in operands) else operands[0].dtype
        is_narrow = d.itemsize == 2 and d.kind in "fV"
        if is_narrow and all(o.dtype == d for o in operands) and is_product(operands, self.terms, self.result):
            return contract(operands, list(self.terms), self.result)
        wide = [converted(o, _F32) if is_narrow else o for o in operands]
        if len(wide) > 1 and all(o.dtype == wide[0].dtype for o in wide) and wide[0].dtype.kind in "fc":
            out = contract(wide, list(self.terms), self.result)
        else:
            out = plainly(wide, self.terms, self.result)
        return converted(np.asarray(out), d)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        grads: list = []
        for i, (x, term) in enumerate(zip(inputs, self.terms)):
            if not wanted(x):
                grads.append(None)
                continue
            others = [(conjugate(inputs[j]), self.terms[j]) for j in range(len(inputs)) if j != i]
            known = set(self.result).union(*[t for _, t in others])
            there = "".join(c for c in term if c in known)
            dx = Contraction((self.result, *[t for _, t in others]), there)(dout, *[o for o, _ in others])
            if there != term:  # letters that stand alone: every place got the same
                lengths = x.shape
                dx = reshape(dx, tuple([n if c in known else 1 for c, n in zip(term, lengths)]))
                dx = BroadcastTo(lengths)(dx)
            grads.append(dx)
        return tuple(grads)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Sum products of tensors over dimensions, which the equation gives letters.

    "ij,jk->ik" is the matrix product. Letters that are not in the result are summed over; a letter
    twice in one term takes the diagonal; "..." stands for further dimensions, which broadcast.
    Without "->" the result has the letters that come once, in alphabetical order.

    Args:
        equation: the terms of the operands, separated by commas, and of the result.
        operands: Tensors, or one tuple or list of them.

    Returns:
        Tensor.

    Raises:
        TypeError: if `equation` is no str, or an operand no Tensor.
        ValueError: if the equation is wrong or does not fit the operands.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.ops.einsum("ij->i", x), ms.ops.einsum("ii", x))
        [3. 7.] 5.0
    """
    check_string(equation, "equation", "einsum")
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    for o in operands:
        tensor(o, "operands", "einsum")
    if len(operands) == 2 and _is_matmul(equation, *operands):
        return matmul(*operands)
    terms, result = _parse(equation.replace(" ", ""), operands)
    inputs, names = [], []
    for o, term in zip(operands, terms):
        while len(set(term)) < len(term):
            o, term = _diagonal(equation, o, term)
        inputs.append(o)
        names.append(term)
    inputs = _broadcast(equation, inputs, names)
    missing = [c for c in result if not any(c in t for t in names)]
    if missing or len(set(result)) < len(result):
        raise ValueError(
            f"For 'einsum', each letter of the result must come once, and in a term, but got '{equation}'."
        )
    if len(inputs) == 1 and (len(names[0]) == len(result) or numpy_dtype(inputs[0]).kind == "f"):
        left = [c for c in names[0] if c in result]
        alone = tuple([i for i, c in enumerate(names[0]) if c not in result])
        x = ops.ReduceSum()(inputs[0], alone) if alone else inputs[0]
        return x if left == list(result) else transpose(x, tuple(left.index(c) for c in result))
    return Contraction(tuple(names), result)(*inputs)


def _is_matmul(equation: str, a: Tensor, b: Tensor) -> bool:
    """Whether two operands are matrices of one floating type that are multiplied as they are."""
    lead = _batch_letters(equation)
    if lead is None or not a.ndim == b.ndim == lead + 2 or a.dtype != b.dtype:
        return False
    return numpy_dtype(a).kind in "fV" and a.shape[:-2] == b.shape[:-2] and a.shape[-1] == b.shape[-2]


@lru_cache(maxsize=256)
def _batch_letters(equation: str) -> int | None:
    """How many letters stand before i, j and k in an equation like 'bij,bjk->bik', or None for another one."""
    found = re.fullmatch(r"([A-Za-z]*)([A-Za-z])([A-Za-z]),\1\3([A-Za-z])->\1\2\4", equation.replace(" ", ""))
    if found is None:
        return None
    letters = "".join(found.groups())
    return len(found[1]) if len(set(letters)) == len(letters) else None


def _parse(equation: str, operands: tuple) -> tuple[list[str], str]:
    """The letters of each operand and of the result, with "..." replaced by spare letters."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands) or not operands:
        raise ValueError(
            f"For 'einsum', 'equation' must have one term per operand, but got '{equation}' for "
            f"{len(operands)} operands."
        )
    if not all(c.isalpha() and c.isascii() for t in [*terms, right] for c in t.replace("...", "", 1)):
        raise ValueError(
            f"For 'einsum', 'equation' must be made of letters, ',', '->' and '...', but got '{equation}'."
        )
    widest, out = 0, []
    for o, term in zip(operands, terms):
        extra = o.ndim - len(term.replace("...", ""))
        if extra < 0 or (extra and "..." not in term):
            raise ValueError(
                f"For 'einsum', the term '{term}' must name all dimensions of its operand, but got the shape {o.shape}."
            )
        widest = max(widest, extra)
        out.append(term.replace("...", _SPARE[-extra:] if extra else ""))
    if arrow:
        return out, right.replace("...", _SPARE[-widest:] if widest else "")
    counts = "".join(out)
    named = "".join(sorted({c for c in counts if counts.count(c) == 1 and c not in _SPARE}))
    return out, (_SPARE[-widest:] if widest else "") + named


def _diagonal(equation: str, x: Tensor, term: str) -> tuple[Tensor, str]:
    """Replace two dimensions with one letter by their diagonal."""
    letter = next(c for c in term if term.count(c) > 1)
    first = term.index(letter)
    second = term.index(letter, first + 1)
    if x.shape[first] != x.shape[second]:
        raise ValueError(
            f"For 'einsum', the dimensions '{letter}' of one operand must be equal in '{equation}', "
            f"but got the shape {x.shape}."
        )
    return diagonal(x, 0, first, second), term[:first] + term[first + 1 : second] + term[second + 1 :] + letter


def _broadcast(equation: str, inputs: list, names: list) -> list:
    """Check that a letter has one length, and repeat dimensions of length 1."""
    lengths: dict[str, int] = {}
    for x, term in zip(inputs, names):
        for c, n in zip(term, x.shape):
            if lengths.setdefault(c, n) == 1:
                lengths[c] = n
            elif n not in (1, lengths[c]):
                raise ValueError(
                    f"For 'einsum', the dimensions '{c}' must have one length in '{equation}', "
                    f"but got {lengths[c]} and {n}."
                )
    return [
        x if all(lengths[c] == n for c, n in zip(term, x.shape)) else BroadcastTo(tuple([lengths[c] for c in term]))(x)
        for x, term in zip(inputs, names)
    ]


class Einsum(Primitive):
    """`einsum` as a primitive: `Einsum(equation)(inputs)`."""

    def __init__(self, equation: str) -> None:
        self.equation = equation

    def __call__(self, inputs: Any) -> Tensor:
        return einsum(self.equation, *inputs)
