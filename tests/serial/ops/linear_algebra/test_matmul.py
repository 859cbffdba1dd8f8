"""MatMul, BatchMatMul and the products made of them; products.py, products_added.py, einsum.py, decompositions.py."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

rng = np.random.default_rng(0)


def normal(*shape, dtype="float64"):
    return rng.standard_normal(shape).astype(dtype)


SHAPES = [
    ((2, 3), (3, 4)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((3,), (3,)),
    ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (4, 3, 2)),
    ((3,), (2, 3, 4)),
    ((2, 2, 3), (3,)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((4, 1, 2, 3), (1, 5, 3, 2)),
]


@pytest.mark.parametrize("a, b", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_matmul(a, b, dtype):
    x, y = (normal(*s) * 3 for s in (a, b))
    x, y = x.astype(dtype), y.astype(dtype)
    same(ops.matmul(ms.Tensor(x), ms.Tensor(y)), x @ y, 1e-5)
    same(ms.Tensor(x) @ ms.Tensor(y), x @ y, 1e-5)


@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
@pytest.mark.parametrize("size", [3, 40])
def test_large_products_go_through_onednn(ta, tb, size):
    """40 x 50 x 60 is above the limit where oneDNN takes over, 3 x 4 x 5 below."""
    m, k, n = size, size + 10, size + 20
    a, b = normal(m, k, dtype="float32"), normal(k, n, dtype="float32")
    x, y = a.T.copy() if ta else a, b.T.copy() if tb else b
    same(ops.MatMul(ta, tb)(ms.Tensor(x), ms.Tensor(y)), a @ b, 1e-4)
    x, y = np.stack([x] * 3), np.stack([y] * 3)
    same(ops.BatchMatMul(ta, tb)(ms.Tensor(x), ms.Tensor(y)), np.stack([a @ b] * 3), 1e-4)


def test_strides_of_all_kinds():
    a = normal(3, 60, 50, dtype="float32")
    for view in (
        a.swapaxes(1, 2),
        a[:, ::2],
        a[:, ::-1],
        a[:, :, ::-1],
        a[::-1],
        np.broadcast_to(a[0], a.shape),
        a[:, 5:45, 3:],
    ):
        x = ms.Tensor.from_numpy(view)
        same(ops.matmul(x, ops.swapaxes(x, 1, 2)), view @ view.swapaxes(1, 2), 1e-4)
        same(ops.matmul(x, ops.swapaxes(x[0], 0, 1)), view @ view[0].T, 1e-4)


VIEWS = {
    "rows": lambda a: a,
    "columns": lambda a: np.asfortranarray(a),
    "rows apart": lambda a: np.hstack([a, a])[:, : a.shape[1]],
    "every other": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "one row": lambda a: np.broadcast_to(a[:1], a.shape),
    "one column": lambda a: np.broadcast_to(a[:, :1], a.shape),
}


@pytest.mark.parametrize("of_a", VIEWS)
@pytest.mark.parametrize("of_b", VIEWS)
@pytest.mark.parametrize("dtype", [ms.float32, ms.bfloat16])
def test_every_algorithm_takes_views_of_all_kinds(of_a, of_b, dtype):
    draw = np.random.default_rng(7)
    for m, k, n in ((1, 300, 400), (300, 400, 1), (8, 300, 200), (64, 64, 64), (200, 128, 200), (300, 1, 300)):
        a, b = (draw.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
        a, b = (VIEWS[way](ms.Tensor(x).astype(dtype).asnumpy()) for way, x in ((of_a, a), (of_b, b)))
        found = ops.matmul(ms.Tensor.from_numpy(a), ms.Tensor.from_numpy(b)).float().asnumpy()
        a, b = a.astype(np.float64), b.astype(np.float64)
        error = np.abs(found - a @ b)
        assert (error <= (1e-5 if dtype == ms.float32 else 1e-2) * (np.abs(a) @ np.abs(b) + 1)).all()


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_half_types(dtype):
    a = normal(40, 50, dtype="float32")
    x = ms.Tensor(a).astype(dtype)
    out = ops.matmul(x, x.T)
    assert out.dtype == dtype
    np.testing.assert_allclose(out.float().asnumpy(), a @ a.T, rtol=0.05, atol=0.2)


def test_matmul_errors():
    x, y = ms.Tensor(normal(2, 3)), ms.Tensor(normal(2, 3))
    with pytest.raises(RuntimeError, match="For 'matmul', the last dimension of 'input' must equal"):
        ops.matmul(x, y)
    with pytest.raises(ValueError, match="For 'MatMul', the inner lengths .* but got 3 and 2"):
        ops.MatMul()(x, y)
    with pytest.raises(ValueError, match="must have 2 dimensions, but got 3 and 3"):
        ops.mm(ms.Tensor(normal(1, 2, 3)), ms.Tensor(normal(1, 3, 2)))
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        ops.bmm(ms.Tensor(normal(2)), x)
    with pytest.raises(ValueError, match="at least 1 dimension"):
        ops.matmul(ms.Tensor(1.0), x)
    with pytest.raises(ValueError, match="must broadcast"):
        ops.matmul(ms.Tensor(normal(2, 2, 3)), ms.Tensor(normal(3, 3, 2)))
    for a, b in ((x, x.T.astype(ms.float32)), (tensor([[True]]), tensor([[True]])), (x, 2), (2, x)):
        with pytest.raises(TypeError, match="For '(MatMul|matmul)'"):
            ops.matmul(a, b)
    with pytest.raises(TypeError):
        x @ 2


def test_only_wanted_gradients_are_computed():
    a, b = ms.Tensor(normal(2, 3)), ms.Tensor(normal(3, 2))
    same(ms.grad(lambda t: ops.matmul(t, b))(a), np.ones((2, 2)) @ b.asnumpy().T)
    same(ms.grad(lambda t: ops.matmul(a, t))(b), a.asnumpy().T @ np.ones((2, 2)))


def test_named_products():
    a, b, v = normal(2, 3), normal(4, 3), normal(3)
    x, y, w = ms.Tensor(a), ms.Tensor(b), ms.Tensor(v)
    same(ops.mv(x, w), a @ v)
    same(ops.inner(x, y), np.inner(a, b))
    same(ops.inner(x, ms.Tensor(2.0).double()), a * 2)
    same(ops.outer(w, w), np.outer(v, v))
    same(ops.ger(w, w), np.outer(v, v))
    same(ops.vecdot(x, x), (a * a).sum(-1))
    same(ops.dot(x, ops.transpose(y, (1, 0))), a @ b.T)
    same(ops.addmm(w[:2, None], x, ops.transpose(y, (1, 0)), beta=2, alpha=3), 2 * v[:2, None] + 3 * a @ b.T)
    same(ops.addmv(ms.Tensor(np.ones(2)), x, w), 1 + a @ v)
    same(ops.addr(x, w[:2], w), a + np.outer(v[:2], v))
    c, d = normal(5, 2, 3), normal(5, 3, 4)
    same(ops.addbmm(ms.Tensor(np.ones((2, 4))), ms.Tensor(c), ms.Tensor(d)), 1 + (c @ d).sum(0))
    same(ops.baddbmm(ms.Tensor(np.ones((2, 4))), ms.Tensor(c), ms.Tensor(d), beta=2), 2 + c @ d)
    for fn in (
        lambda: ops.mv(w, w),
        lambda: ops.ger(x, w),
        lambda: ops.inner(x, w[:2]),
        lambda: ops.dot(w, w),
        lambda: ops.addbmm(x, x, x),
    ):
        with pytest.raises(ValueError, match="For '"):
            fn()


def test_products_over_chosen_dimensions():
    a, b = normal(2, 3, 4), normal(4, 3, 2)
    x, y = ms.Tensor(a), ms.Tensor(b)
    for axes in (1, ((2,), (0,)), ((0, 1), (2, 1)), ((0, 1, 2), (2, 1, 0)), 0):
        same(ops.tensor_dot(x, y, axes), np.tensordot(a, b, axes), 1e-6)
    same(ops.batch_dot(x, x, (2, 2)), a @ a.swapaxes(1, 2))
    same(ops.batch_dot(x[:, 0], x[:, 0]), (a[:, 0] * a[:, 0]).sum(1, keepdims=True))
    same(ops.kron(x, y), np.kron(a, b))
    same(ops.kron(x, y[0]), np.kron(a, b[0]))
    same(ops.cross(ms.Tensor(a[0, :, :3]), ms.Tensor(a[1, :, 1:])), np.cross(a[0, :, :3], a[1, :, 1:], axis=0))
    same(ops.matrix_power(ms.Tensor(a[0, :3, :3]), 5), np.linalg.matrix_power(a[0, :3, :3], 5), 1e-5)
    same(ops.matrix_power(ms.Tensor(a[0, :3, :3]), 0), np.eye(3))
    same(ops.diff(x, 2, 1), np.diff(a, 2, 1))
    same(ops.diff(x, 1, -1, x[:, :, :1], x[:, :, :2]), np.diff(a, 1, -1, a[:, :, :1], a[:, :, :2]))
    same(ops.trapz(x, dx=2.0, dim=0), (a[0] + a[1]))
    same(ops.trapz(x, ms.Tensor(np.array([0, 1, 4.0])), dim=1), ((a[:, 0] + a[:, 1]) + 3 * (a[:, 1] + a[:, 2])) / 2)
    same(ops.vander(ms.Tensor(a[0, 0]), 3), np.vander(a[0, 0], 3))
    for fn in (
        lambda: ops.tensor_dot(x, x, 2),
        lambda: ops.batch_dot(x, y),
        lambda: ops.cross(x[:, :2], x[:, :2]),
        lambda: ops.matrix_power(x, 2),
        lambda: ops.vander(x),
    ):
        with pytest.raises(ValueError, match="For '"):
            fn()
    with pytest.raises(RuntimeError, match="For 'diff', 'n'"):
        ops.diff(x, -1)


EQUATIONS = [
    "ij,jk->ik",
    "ij,jk",
    "ij->ji",
    "ij->",
    "ij->j",
    "ij",
    "ii",
    "ii->i",
    "i,i->i",
    "i,j->ij",
    "...ij,...jk->...ik",
    "bij,bjk->bik",
    "b...,b...->b...",
    "ij,ij->",
    "iij->j",
    "ij,k,kl->il",
    "i...->...",
    "ba",
]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation):
    lengths = dict(zip("ijklab", (2, 3, 4, 5, 2, 3)))
    terms = equation.split("->")[0].split(",")
    operands = [normal(*[lengths[c] for c in t.replace("...", "kl")]) for t in terms]
    same(ops.einsum(equation, *[ms.Tensor(o) for o in operands]), np.einsum(equation, *operands), 1e-6)
    same(ops.Einsum(equation)([ms.Tensor(o) for o in operands]), np.einsum(equation, *operands), 1e-6)


def test_einsum_broadcasts_and_takes_half_types():
    a, b = normal(5, 1, 2, 3), normal(4, 3, 2)
    same(ops.einsum("...ij,...jk", ms.Tensor(a), ms.Tensor(b)), np.einsum("...ij,...jk", a, b), 1e-6)
    out = ops.einsum("ij,kj->ik", ms.Tensor(b[0]).bfloat16(), ms.Tensor(b[0]).bfloat16())
    assert out.dtype == ms.bfloat16


@pytest.mark.parametrize("equation", ["ij,jk", "ij->ik", "ij->ii", "i", "ij;", "ii", "ijk"])
def test_einsum_errors(equation):
    with pytest.raises(ValueError, match="For 'einsum'"):
        ops.einsum(equation, ms.Tensor(normal(2, 3)))
    with pytest.raises(TypeError):
        ops.einsum(ms.Tensor(1.0), "i")


def test_decompositions():
    a = normal(2, 3, 3) + 2 * np.eye(3)
    x = ms.Tensor(a)
    same(ops.inverse(x), np.linalg.inv(a), 1e-6)
    same(ops.MatrixInverse(adjoint=True)(x), np.linalg.inv(a).swapaxes(1, 2), 1e-6)
    same(ops.det(x), np.linalg.det(a), 1e-6)
    for found, wanted in zip(ops.slogdet(x), np.linalg.slogdet(a)):
        same(found, wanted, 1e-6)
    same(ops.logdet(ms.Tensor(a[0] @ a[0].T)), np.log(np.linalg.det(a[0] @ a[0].T)), 1e-6)
    with pytest.raises(ValueError, match="must hold square matrices"):
        ops.det(ms.Tensor(normal(2, 3)))
    with pytest.raises(ValueError, match="must have an inverse"):
        ops.inverse(tensor([[1.0, 1], [1, 1]]))
    with pytest.raises(TypeError, match="must be float or complex"):
        ops.inverse(tensor([[1]]))


def test_second_gradient_of_singular_values_is_refused():
    with pytest.raises(RuntimeError, match="second-order gradient of singular values is not supported"):
        ms.grad(ms.grad(lambda x: ops.matrix_norm(x, "nuc")))(ms.Tensor(normal(2, 2)))


def test_elementwise_products():
    x, y = tensor([1.0, 2.0]), tensor([3.0, 5.0])
    equal(ops.lerp(x, y, 0.5), [2, 3.5])
    equal(ops.lerp(x, y, tensor([0.0, 1.0])), [1, 5])
    equal(ops.addcmul(x, x, y, 2), [7, 22])
    equal(ops.addcdiv(x, y, x, 2), [7, 7])
    equal(ops.ldexp(x, tensor([1, 2])), [2, 8])
    with pytest.raises(TypeError, match="For 'lerp'"):
        ops.lerp(x, y, "a")
    equal(ops.lerp(x, tensor([[1.0], [2.0]]), 0.5), [[1, 1.5], [1.5, 2]])
    equal(ops.lerp(x, y, ms.Tensor([0.5, 0.25], ms.float64)), [2, 2.75])
    equal(ops.addcmul(x, y, tensor([[1.0], [2.0]]), 0.5), [[2.5, 4.5], [4, 7]])
    equal(ops.addcmul(tensor([1, 2]), tensor([3, 4]), tensor([5, 6]), 0.5), [8.5, 14])
    assert ops.addcmul(tensor([1, 2]), tensor([3, 4]), tensor([5, 6]), 2).dtype == ms.int64
    with pytest.raises(ValueError, match="For 'lerp', the shapes of the operands must broadcast"):
        ops.lerp(x, tensor([1.0, 2.0, 3.0]), 0.5)
    with pytest.raises(ValueError, match="For 'addcmul', the shapes of the operands must broadcast"):
        ops.addcmul(x, y, tensor([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("m, n", [(1, 1), (3, 5), (300, 400), (1, 70_000), (70_000, 1), (0, 4), (4, 0)])
def test_a_column_times_a_row(m, n, dtype):
    dtype = getattr(ms, dtype)
    a, b = ms.Tensor(normal(m, 3)).astype(dtype)[:, 1:2], ms.Tensor(normal(2, n)).astype(dtype)[1:]
    found = ops.matmul(a, b)
    assert found.dtype == dtype
    wanted = a.astype(ms.float64).asnumpy() * b.astype(ms.float64).asnumpy()
    if dtype == ms.bfloat16:
        np.testing.assert_allclose(found.astype(ms.float64).asnumpy(), wanted, rtol=2**-8)
    else:
        assert (found.asnumpy() == wanted.astype(found.asnumpy().dtype)).all()
