"""Contractions made of matrix products against np.einsum, and large products by their own kernels."""

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.ops.linear_algebra import contraction


def shuffled(x, rng):
    """The array with its axes in another order in memory."""
    if not x.ndim:
        return x
    order = rng.permutation(x.ndim)
    return np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))


def some_term(letters, rng, most):
    return "".join(rng.permutation(list(letters))[: rng.integers(0, most + 1)])


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_contractions_of_any_letters(seed, dtype, monkeypatch):
    monkeypatch.setattr(contraction, "SMALL", 0)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        lengths = {c: int(rng.integers(0 if seed == 0 else 1, 5)) for c in "abcde"}
        terms = [some_term("abcde", rng, 4) for _ in range(rng.integers(2, 5))]
        known = "".join(dict.fromkeys("".join(terms)))
        result = some_term(known, rng, len(known))
        operands = [shuffled(np.asarray(rng.standard_normal([lengths[c] for c in t]), dtype), rng) for t in terms]
        found = np.asarray(contraction.contract(operands, terms, result))
        assert found.dtype == dtype
        wanted = contraction.plainly([o.astype(np.complex128) for o in operands], terms, result)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


EQUATIONS = {
    "btd,bsd->bts": ((4, 64, 32), (4, 48, 32)),
    "btd,bsd->tbs": ((4, 64, 32), (4, 48, 32)),
    "bhqd,bhkd->bhqk": ((2, 3, 40, 32), (2, 3, 36, 32)),
    "bqhd,bkhd->bhqk": ((2, 40, 3, 32), (2, 36, 3, 32)),
    "btd,bds->bts": ((4, 64, 32), (4, 32, 48)),
    "bhqd, bhdk -> bhqk": ((2, 3, 40, 32), (2, 3, 32, 36)),
    "btd,de->bte": ((4, 64, 32), (32, 40)),
    "i,j->ij": ((300,), (260,)),
    "ij,ij->": ((300, 260), (300, 260)),
    "ijk,jl,lk->il": ((40, 36, 8), (36, 30), (30, 8)),
}


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("dtype", [ms.float32, ms.float16, ms.bfloat16, ms.float64])
def test_einsum_of_large_tensors_and_its_gradient(equation, dtype):
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(s).astype(np.float32) for s in EQUATIONS[equation]]
    tensors = [ms.Tensor(x).astype(dtype) for x in arrays]
    rounded = [t.astype(ms.float64).asnumpy() for t in tensors]
    out = ops.einsum(equation, *tensors)
    assert out.dtype == dtype
    wanted = np.einsum(equation, *rounded)
    epsilon = {ms.float32: 1e-5, ms.float64: 1e-12, ms.float16: 2e-3, ms.bfloat16: 2e-2}[dtype]
    np.testing.assert_allclose(
        out.astype(ms.float64).asnumpy(), wanted, rtol=epsilon, atol=epsilon * np.abs(wanted).max()
    )
    if dtype in (ms.float32, ms.float64):
        grads = ms.grad(lambda *x: (ops.einsum(equation, *x) ** 2).sum(), tuple(range(len(tensors))))(*tensors)
        for i, grad in enumerate(grads):  # the change along a direction
            direction = rng.standard_normal(rounded[i].shape)
            moved = [x + 1e-4 * direction if k == i else x for k, x in enumerate(rounded)]
            back = [x - 1e-4 * direction if k == i else x for k, x in enumerate(rounded)]
            slope = ((np.einsum(equation, *moved) ** 2).sum() - (np.einsum(equation, *back) ** 2).sum()) / 2e-4
            found = (grad.asnumpy() * direction).sum()
            scale = np.abs(grad.asnumpy() * direction).sum()
            assert abs(found - slope) < (1e-4 if dtype == ms.float32 else 1e-6) * scale


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("largest", [5, 100, 2**31 - 1, 2**40])
def test_large_products_of_integers_wrap_as_sums_of_them_do(dtype, largest):
    rng = np.random.default_rng(1)
    low = 0 if np.dtype(dtype).kind == "u" else -largest
    a, b = (rng.integers(low, largest, s).astype(dtype) for s in ((70, 40), (40, 50)))
    np.testing.assert_array_equal(ops.matmul(ms.Tensor(a), ms.Tensor(b)).asnumpy(), np.matmul(a, b))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m, k, n", [(1, 300, 300), (300, 300, 1), (1, 100_000, 1), (70_000, 3, 1), (1, 3, 70_000)])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_products_with_a_vector(dtype, m, k, n, first, second):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((k, m) if first else (m, k)), rng.standard_normal((n, k) if second else (k, n))
    a, b = a.astype(dtype), b.astype(dtype)
    out = ops.MatMul(first, second)(ms.Tensor(a), ms.Tensor(b)).asnumpy()
    wanted = (a.T if first else a).astype(float) @ (b.T if second else b).astype(float)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4 if dtype == np.float32 else 1e-11)


def test_a_dense_layer_of_one_row():
    rng = np.random.default_rng(2)
    x, w, b = rng.standard_normal((1, 400)), rng.standard_normal((300, 400)), rng.standard_normal(300)
    out = ops.dense(*(ms.Tensor(v.astype(np.float32)) for v in (x, w, b))).asnumpy()
    np.testing.assert_allclose(out, x @ w.T + b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["outer", "ger"])
def test_outer_products_of_long_vectors(name):
    rng = np.random.default_rng(2)
    x, y = (rng.standard_normal(n).astype(np.float32) for n in (300, 400))
    out = getattr(ops, name)(ms.Tensor(x), ms.Tensor(y))
    np.testing.assert_array_equal(out.asnumpy(), np.outer(x, y))
    dx, dy = ms.grad(lambda a, b: getattr(ops, name)(a, b).sum(), (0, 1))(ms.Tensor(x), ms.Tensor(y))
    np.testing.assert_allclose(dx.asnumpy(), np.full(300, y.sum()), rtol=1e-4)
    np.testing.assert_allclose(dy.asnumpy(), np.full(400, x.sum()), rtol=1e-4)


@pytest.mark.parametrize(
    "equation, first, second, is_product",
    [
        ("ij,jk->ik", (2, 3), (3, 4), True),
        ("bcij, bcjk -> bcik", (2, 5, 2, 3), (2, 5, 3, 4), True),
        ("ij,jk->ki", (2, 3), (3, 4), False),
        ("ij,ji->ii", (3, 3), (3, 3), False),
        ("bij,bjk->bik", (1, 2, 3), (2, 3, 4), False),
        ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 4), False),
    ],
)
def test_what_is_a_product_of_matrices_as_they_are(equation, first, second, is_product):
    from dist_ms.ops.linear_algebra.einsum import _is_matmul

    a, b = ops.ones(first, ms.float32), ops.ones(second, ms.float32)
    assert _is_matmul(equation, a, b) == is_product
    assert not _is_matmul(equation, a, b.astype(ms.float16))
    assert not _is_matmul(equation, a.astype(ms.int32), b.astype(ms.int32))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_outer_products_of_16_bits_are_rounded_once(dtype):
    x, y = (np.random.default_rng(seed).standard_normal(size).astype(dtype) for seed, size in ((0, 70), (1, 130)))
    out = ops.ger(ms.Tensor(x), ms.Tensor(y)).asnumpy()
    assert out.dtype == dtype
    wanted = np.outer(x.astype(np.float32), y.astype(np.float32)).astype(dtype)
    np.testing.assert_array_equal(out.astype(np.float32), wanted.astype(np.float32))
