"""Elementwise functions of COO and CSR tensors: those of their values, which stay at their places."""

import numpy as np
import pytest

from dist_ms import Tensor, ops

DENSE = np.array([[0, 0.5, 0, 0.25], [0, 0, 0, 0], [-0.75, 0, 0.9, 0]], np.float32)
ABOVE = 1 + abs(DENSE) * (DENSE != 0)  # for functions of what is 1 and more, and of what is above 0

FUNCTIONS = {
    "abs": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "expm1": np.expm1,
    "floor": np.floor,
    "inv": np.reciprocal,
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "log": np.log,
    "log1p": np.log1p,
    "neg": np.negative,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "round": np.round,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sin": np.sin,
    "sinh": np.sinh,
    "softsign": lambda x: x / (1 + abs(x)),
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
}
# Every name of both forms, so that a search for one finds its test.
NAMES = """
    coo_abs coo_acos coo_acosh coo_asin coo_asinh coo_atan coo_atanh coo_ceil coo_cos coo_cosh coo_exp coo_expm1
    coo_floor coo_inv coo_isfinite coo_isinf coo_isnan coo_log coo_log1p coo_neg coo_relu coo_relu6 coo_round
    coo_sigmoid coo_sin coo_sinh coo_softsign coo_sqrt coo_square coo_tan coo_tanh
    csr_abs csr_acos csr_acosh csr_asin csr_asinh csr_atan csr_atanh csr_ceil csr_cos csr_cosh csr_exp csr_expm1
    csr_floor csr_inv csr_isfinite csr_isinf csr_isnan csr_log csr_log1p csr_neg csr_relu csr_relu6 csr_round
    csr_sigmoid csr_sin csr_sinh csr_softsign csr_sqrt csr_square csr_tan csr_tanh
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_function(name):
    form, function = name.split("_", 1)
    dense = ABOVE if function in ("acosh", "log", "sqrt") else DENSE
    x = getattr(Tensor(dense), f"to_{form}")()
    found = getattr(ops, name)(x)
    assert type(found) is type(x) and found.shape == x.shape
    wanted = FUNCTIONS[function](dense[dense != 0].astype(np.float64))
    assert found.values.asnumpy().dtype == ("bool" if wanted.dtype == bool else np.float32)
    np.testing.assert_allclose(found.values.asnumpy(), wanted, rtol=1e-6)
    for part in ("indices",) if form == "coo" else ("indptr", "indices"):
        np.testing.assert_array_equal(getattr(found, part).asnumpy(), getattr(x, part).asnumpy())
