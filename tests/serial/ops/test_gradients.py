"""Every differentiable operation's gradient, first and second, against finite differences in float64."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.gradcheck import check_gradient

INDEX = ms.Tensor([[0, 2, 1], [1, 1, 0]])
ROWS = ms.Tensor([1, 0, 1])
MASK = ms.Tensor([[True, False, True], [False, True, True]])


def any_sign(*shape):
    """Normal numbers, none near 0."""
    return lambda rng: (x := rng.standard_normal(shape)) + np.sign(x) * 0.1


def positive(*shape):
    """Numbers from 0.5 to 2."""
    return lambda rng: rng.uniform(0.5, 2, shape)


def fraction(*shape):
    """Numbers from -0.9 to 0.9."""
    return lambda rng: rng.uniform(-0.9, 0.9, shape)


def spread(*shape):
    """Different numbers at least 0.1 apart, in random order."""
    return lambda rng: (rng.permutation(int(np.prod(shape))).reshape(shape) - np.prod(shape) / 2) * 0.3 + 0.05


def square(n, batch=()):
    """Matrices with an inverse."""
    return lambda rng: rng.standard_normal((*batch, n, n)) * 0.3 + np.eye(n) * 2


A, P, F, S = any_sign(2, 3), positive(2, 3), fraction(2, 3), spread(2, 3)

ELEMENTWISE = {
    "abs": (ops.abs, A),
    "neg": (ops.neg, A),
    "square": (ops.square, A),
    "sign": (ops.sign, A),
    "sqrt": (ops.sqrt, P),
    "rsqrt": (ops.rsqrt, P),
    "reciprocal": (ops.reciprocal, A),
    "inv": (ops.inv, A),
    "exp": (ops.exp, A),
    "exp2": (ops.exp2, A),
    "expm1": (ops.expm1, A),
    "log": (ops.log, P),
    "log1p": (ops.log1p, P),
    "log2": (ops.log2, P),
    "log10": (ops.log10, P),
    "logit": (ops.logit, lambda rng: rng.uniform(0.1, 0.9, (2, 3))),
    "logit eps": (lambda x: ops.logit(x, 0.2), lambda rng: np.array([0.1, 0.5, 0.7, 0.95])),
    "sin": (ops.sin, A),
    "cos": (ops.cos, A),
    "tan": (ops.tan, F),
    "asin": (ops.asin, F),
    "acos": (ops.acos, F),
    "atan": (ops.atan, A),
    "sinh": (ops.sinh, A),
    "cosh": (ops.cosh, A),
    "tanh": (ops.tanh, A),
    "asinh": (ops.asinh, A),
    "acosh": (ops.acosh, lambda rng: rng.uniform(1.2, 3, (2, 3))),
    "atanh": (ops.atanh, F),
    "sinc": (ops.sinc, A),
    "rad2deg": (ops.rad2deg, A),
    "deg2rad": (ops.deg2rad, A),
    "erf": (ops.erf, A),
    "erfc": (ops.erfc, A),
    "erfinv": (ops.erfinv, F),
    "lgamma": (ops.lgamma, P),
    "lgamma below 0": (ops.lgamma, lambda rng: np.array([-0.4, -1.3, -2.6])),
    "digamma": (ops.digamma, P),
    "polygamma": (lambda x: ops.polygamma(ms.Tensor(2), x), P),
    "mvlgamma": (lambda x: ops.mvlgamma(x + 2, 3), P),
    "floor": (ops.floor, A),
    "ceil": (ops.ceil, A),
    "trunc": (ops.trunc, A),
    "round": (ops.round, A),
    "frac": (ops.frac, A),
    "rint": (ops.rint, A),
    "clamp": (lambda x: ops.clamp(x, -0.5, 0.5), A),
    "clamp min": (lambda x: ops.clamp(x, min=0.2), A),
    "nan_to_num": (ops.nan_to_num, A),
    "pow 3": (lambda x: x**3, A),
    "pow -2": (lambda x: x**-2, A),
    "pow 0.5": (lambda x: x**0.5, P),
    "2 pow": (lambda x: 2**x, A),
    "copysign": (lambda x: ops.copysign(x, -1.0), A),
    "1 - x": (lambda x: 1 - x, A),
    "2 / x": (lambda x: 2 / x, A),
    "x % 3": (lambda x: x % 3, A),
    "cast": (lambda x: x.astype(ms.float64) * 2, A),
    "real": (ops.real, A),
    "conj": (ops.conj, A),
}

BINARY = {
    "add": ops.add,
    "sub": ops.sub,
    "mul": ops.mul,
    "div": ops.div,
    "squared difference": ops.squared_difference,
    "div_no_nan": ops.DivNoNan(),
    "mul_no_nan": ops.MulNoNan(),
    "xdivy": ops.xdivy,
    "floor_div": ops.floor_divide,
    "floor_mod": ops.floor_mod,
    "fmod": ops.fmod,
    "truncate_div": ops.truncate_div,
    "pow": ops.pow,
    "atan2": ops.atan2,
    "hypot": ops.hypot,
    "maximum": ops.maximum,
    "minimum": ops.minimum,
    "fmax": ops.fmax,
    "fmin": ops.fmin,
    "xlogy": ops.xlogy,
    "logaddexp": ops.logaddexp,
    "logaddexp2": ops.logaddexp2,
    "ldexp": ops.ldexp,
    "subtract": lambda x, y: ops.subtract(x, y, alpha=2),
    "lerp": lambda x, y: ops.lerp(x, y, x * y),
    "clamp tensors": lambda x, y: ops.clamp(x + 0 * y, y * 0.9, y * 1.1),
    "addcmul": lambda x, y: ops.addcmul(x, y, x, 0.5),
    "addcdiv": lambda x, y: ops.addcdiv(x, y, x, 0.5),
    "where": lambda x, y: ops.where(MASK[0], x, y),
}

SHAPES = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (3,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,))]

SHAPING = {
    "reshape": lambda x: ops.reshape(x, (3, -1)),
    "expand_dims": lambda x: ops.expand_dims(x, -2),
    "squeeze": lambda x: ops.squeeze(x[:1]),
    "flatten": ops.flatten,
    "transpose": lambda x: ops.transpose(x, (-1, 0)),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "movedim": lambda x: ops.movedim(x, 0, 1),
    "broadcast_to": lambda x: ops.broadcast_to(x, (2, -1, 3)),
    "tile": lambda x: ops.tile(x, (2, 1, 3)),
    "tile short": lambda x: ops.tile(x, (3,)),
    "repeat_interleave": lambda x: ops.repeat_interleave(x, 2, 1),
    "repeats": lambda x: ops.repeat_interleave(x, (1, 0, 3), 1),
    "flip": lambda x: ops.flip(x, (0, 1)),
    "roll": lambda x: ops.roll(x, (1, 2), (0, 1)),
    "roll flat": lambda x: ops.roll(x, 2),
    "rot90": lambda x: ops.rot90(x, 3, (0, 1)),
    "reverse_sequence": lambda x: ops.reverse_sequence(x, ms.Tensor([2, 3]), 1),
    "concat": lambda x: ops.cat((x, x * 2), -1),
    "stack": lambda x: ops.stack((x, x * 2), 1),
    "block_diag": lambda x: ops.block_diag(x, x * 2),
    "split": lambda x: ops.split(x, [1, 2], 1),
    "one part": lambda x: ops.split(x, 1, 1)[1],
    "Split": lambda x: ops.Split(1, 3)(x),
    "unstack": lambda x: ops.unstack(x, 1),
    "meshgrid": lambda x: ops.meshgrid(x[0], x[1]),
    "tril": lambda x: ops.tril(x, 1),
    "triu": ops.triu,
    "diagonal": lambda x: ops.diagonal(x, 1),
    "diag_embed": lambda x: ops.diag_embed(x, -1, 0, 2),
    "diag": ops.diag,
    "diagflat": ops.diagflat,
    "trace": ops.trace,
    "pad": lambda x: ops.pad(x, (1, 2, 0, 1), value=3.0),
    "pad cut": lambda x: ops.pad(x, (-1, 1)),
    "pad reflect": lambda x: ops.pad(x, (2, 1), "reflect"),
    "pad replicate": lambda x: ops.pad(x, (2, 1), "replicate"),
    "pad circular": lambda x: ops.pad(x, (2, 1), "circular"),
    "mirror_pad": lambda x: ops.mirror_pad(x, ms.Tensor([[1, 2], [0, 3]]), "SYMMETRIC"),
    "clone": lambda x: x.clone(),
    "Identity": ops.Identity(),
    "diff": ops.diff,
    "trapz": ops.trapz,
    "kron": lambda x: ops.kron(x, x),
    "diagonal_scatter": lambda x: ops.diagonal_scatter(x, x[0, :2] * 2),
    "vander": lambda x: ops.vander(x[0]),
}

REDUCING = {
    "sum": ops.sum,
    "sum 0": lambda x: ops.sum(x, 0),
    "sum keep": lambda x: ops.ReduceSum(True)(x, (0, -1)),
    "mean": ops.mean,
    "mean 1": lambda x: ops.mean(x, -1),
    "prod": ops.prod,
    "prod 1": lambda x: ops.prod(x, 1, True),
    "max": lambda x: ops.max(x)[0],
    "max 1": lambda x: ops.max(x, 1)[0],
    "min 0": lambda x: ops.min(x, 0, True)[0],
    "amax": lambda x: ops.amax(x, (0, 1)),
    "amin": lambda x: ops.amin(x, 1),
    "method max": lambda x: x.max(axis=0),
    "logsumexp": lambda x: ops.logsumexp(x, 1),
    "std": lambda x: ops.std(x, 1, 1),
    "var": ops.var,
    "var_mean": lambda x: ops.var_mean(x, 1),
    "norm": ops.norm,
    "norm 3": lambda x: ops.vector_norm(x, 3, 1),
    "norm 1": lambda x: ops.vector_norm(x, 1, 0),
    "norm inf": lambda x: ops.vector_norm(x, float("inf"), 1),
    "matrix norm 1": lambda x: ops.matrix_norm(x, 1),
    "matrix norm -inf": lambda x: ops.matrix_norm(x, -float("inf")),
    "L2Loss": ops.L2Loss(),
    "LpNorm": ops.LpNorm(1, 3),
    "median": lambda x: ops.median(x, 1)[0],
    "quantile": lambda x: ops.quantile(x, 0.3, 1),
    "nansum": ops.nansum,
    "nanmean": ops.nanmean,
    "cumsum": lambda x: ops.cumsum(x, 1),
    "CumSum": lambda x: ops.CumSum(True, True)(x, 0),
    "cumprod": lambda x: ops.cumprod(x, 1),
    "CumProd": lambda x: ops.CumProd(True, True)(x, 1),
    "cummax": lambda x: ops.cummax(x, 1)[0],
    "cummin": lambda x: ops.cummin(x, 0)[0],
    "logcumsumexp": lambda x: ops.logcumsumexp(x, 1),
    "CumulativeLogsumexp": lambda x: ops.CumulativeLogsumexp(False, True)(x, 1),
    "sort": lambda x: ops.sort(x, 0, True)[0],
    "topk": lambda x: ops.topk(x, 2, 1, False)[0],
    "cov": ops.cov,
    "renorm": lambda x: ops.renorm(x, 2, 0, 0.5),
    "dist": lambda x: ops.dist(x, x * x),
    "clip_by_norm": lambda x: ops.clip_by_norm(x, 0.5),
    "addn": lambda x: ops.addn([x, x * 2, x * x]),
    "clip_by_value": lambda x: ops.clip_by_value(x, -0.4, 0.4),
    "cdist": lambda x: ops.cdist(x, x * 2 + 1),
    "pdist": ops.pdist,
    "square_sum": lambda x: ops.SquareSumAll()(x, x * 2),
    "global norm": lambda x: ops.clip_by_global_norm([x * 1.0], 0.5) if x.dtype == ms.float32 else x,
}

PICKING = {
    "index": lambda x: x[1],
    "slices": lambda x: x[::-1, 1:],
    "mixed": lambda x: x[..., None, ROWS],
    "mask": lambda x: x[MASK],
    "pairs": lambda x: x[[0, 1, 1], [2, 0, 0]],
    "gather 0": lambda x: ops.gather(x, ROWS, 0),
    "gather 1": lambda x: ops.gather(x, INDEX, 1),
    "gather batch": lambda x: ops.gather(x, INDEX, 1, 1),
    "gather_d": lambda x: ops.gather_d(x, 1, INDEX),
    "gather_nd": lambda x: ops.gather_nd(x, ms.Tensor([[0, 1], [0, 1]])),
    "take": lambda x: ops.take(x, ms.Tensor([0, 4, 4])),
    "index_select": lambda x: ops.index_select(x, 1, ms.Tensor([2, 2])),
    "EmbeddingLookup": lambda x: ops.EmbeddingLookup()(x, ms.Tensor([3, 4, 3, 9]), 3),
    "masked_select": lambda x: ops.masked_select(x, MASK[0]),
    "masked_fill": lambda x: ops.masked_fill(x, MASK, 0.5),
    "segment sum": lambda x: ops.unsorted_segment_sum(x, ms.Tensor([1, -1]), 3),
    "segment max": lambda x: ops.unsorted_segment_max(x, ms.Tensor([1, 1]), 2) if x.dtype == ms.float32 else x,
    "segment prod": lambda x: ops.unsorted_segment_prod(x, ms.Tensor([1, 1]), 2),
    "slice": lambda x: ops.slice(x, (0, 1), (2, -1)),
    "strided_slice": lambda x: ops.strided_slice(x, (1, 2), (-3, 0), (-1, -2)),
    "narrow": lambda x: ops.narrow(x, 1, 1, 2),
}

PUTTING = {
    "scatter_nd": lambda x, u: ops.scatter_nd(ms.Tensor([[0], [0]]), x, (3, 3)) + ops.sum(u),
    "update": lambda x, u: ops.tensor_scatter_update(x, ms.Tensor([[0, 1]]), u[:1]),
    "update twice": lambda x, u: ops.tensor_scatter_update(x, ms.Tensor([[0, 1], [0, 1]]), u),
    "elements twice": lambda x, u: ops.tensor_scatter_elements(x, ms.Tensor([[2, 2]]), u[None], 1),
    "add": lambda x, u: ops.tensor_scatter_add(x, ms.Tensor([[0, 1], [0, 1]]), u),
    "sub": lambda x, u: ops.tensor_scatter_sub(x, ms.Tensor([[0, 1], [0, 1]]), u),
    "mul": lambda x, u: ops.tensor_scatter_mul(x, ms.Tensor([[0, 1], [0, 1]]), u),
    "div": lambda x, u: ops.tensor_scatter_div(x, ms.Tensor([[0, 1], [1, 1]]), u),
    "max": lambda x, u: ops.tensor_scatter_max(x, ms.Tensor([[0, 1], [1, 1]]), u),
    "min": lambda x, u: ops.tensor_scatter_min(x, ms.Tensor([[0, 1], [1, 1]]), u),
    "elements": lambda x, u: ops.tensor_scatter_elements(x, ms.Tensor([[2], [0]]), ops.reshape(u, (2, 1)), 1),
    "elements add": lambda x, u: ops.tensor_scatter_elements(x, ms.Tensor([[2, 2]]), u[None], 1, "add"),
    "scatter": lambda x, u: ops.scatter(x, 0, ms.Tensor([[1, 0]]), u[None]),
    "index_add": lambda x, u: x.index_add(1, ms.Tensor([0, 0]), ops.stack((u, u)), alpha=2),
    "index_put": lambda x, u: ops.index_put(x, (ms.Tensor([0, 1]), ms.Tensor([2, 0])), u),
    "index_put add": lambda x, u: ops.index_put(x, (ms.Tensor([0, 0]), ms.Tensor([2, 2])), u, True),
    "index_fill": lambda x, u: ops.index_fill(x, 1, ms.Tensor([0]), u[0]) * u[1],
    "select_scatter": lambda x, u: ops.select_scatter(x, u, 1, 2),
    "slice_scatter": lambda x, u: ops.slice_scatter(x, ops.reshape(u, (2, 1)), 1, 1, 2),
    "masked_scatter": lambda x, u: ops.masked_scatter(x, MASK[0], ops.cat((u, u * 2, u))),
    "masked_fill": lambda x, u: ops.masked_fill(x, MASK, u[0]) * u[1],
}

PRODUCTS = {
    "matmul": (ops.matmul, A, any_sign(3, 4)),
    "MatMul ta": (ops.MatMul(True), any_sign(3, 2), any_sign(3, 4)),
    "MatMul tb": (ops.MatMul(False, True), A, any_sign(4, 3)),
    "MatMul both": (ops.MatMul(True, True), any_sign(3, 2), any_sign(4, 3)),
    "vector left": (ops.matmul, any_sign(3), any_sign(2, 3, 2)),
    "vector right": (ops.matmul, any_sign(2, 2, 3), any_sign(3)),
    "vectors": (ops.matmul, any_sign(3), any_sign(3)),
    "batch": (ops.matmul, any_sign(2, 1, 2, 3), any_sign(4, 3, 2)),
    "tall": (ops.matmul, any_sign(2, 2, 3), any_sign(3, 2)),
    "empty": (ops.matmul, any_sign(2, 0), any_sign(0, 3)),
    "BatchMatMul": (ops.BatchMatMul(True, True), any_sign(2, 3, 2), any_sign(2, 4, 3)),
    "mv": (ops.mv, A, any_sign(3)),
    "dot": (ops.dot, any_sign(2, 2, 3), any_sign(2, 3, 2)),
    "outer": (ops.outer, any_sign(2), any_sign(3)),
    "ger": (ops.ger, any_sign(2), any_sign(3)),
    "inner": (ops.inner, A, any_sign(4, 3)),
    "vecdot": (ops.vecdot, A, A),
    "tensor_dot": (lambda x, y: ops.tensor_dot(x, y, ((1, 0), (0, 2))), A, any_sign(3, 2, 2)),
    "batch_dot": (lambda x, y: ops.batch_dot(x, y, (1, 2)), any_sign(2, 3, 2), any_sign(2, 2, 3)),
    "cross": (ops.cross, A, any_sign(1, 3)),
    "kron": (ops.kron, A, any_sign(2)),
    "addmm": (lambda x, y: ops.addmm(x[0, 0], x, y, beta=2, alpha=3), A, any_sign(3, 2)),
    "addbmm": (lambda x, y: ops.addbmm(x[0], x, y), any_sign(2, 2, 3), any_sign(2, 3, 3)),
    "einsum matmul": (lambda x, y: ops.einsum("ij,jk->ik", x, y), A, any_sign(3, 2)),
    "einsum lone": (lambda x, y: ops.einsum("ij,k->i", x, y), A, any_sign(4)),
    "einsum dots": (lambda x, y: ops.einsum("...i,...j->...ji", x, y), any_sign(2, 1, 3), any_sign(4, 2)),
    "einsum diagonal": (lambda x, y: ops.einsum("iij,j->i", x, y), any_sign(2, 2, 3), any_sign(3)),
    "einsum implicit": (lambda x, y: ops.einsum("ba,cb", x, y), A, any_sign(4, 2)),
    "inverse": (lambda x, y: ops.inverse(x) * y, square(2), any_sign(2)),
    "det": (lambda x, y: ops.det(x) * y, square(3), any_sign(2)),
    "slogdet": (lambda x, y: ops.slogdet(x)[1] * y, square(3, (2,)), any_sign(2)),
    "logdet": (lambda x, y: ops.logdet(ops.matmul(x, x.swapaxes(-1, -2))) * y, square(3, (2,)), any_sign(2)),
    "matrix_power": (lambda x, y: ops.matrix_power(x, -3) * y, square(2), any_sign(2)),
}


def run(fn, *makers, order=2):
    rng = np.random.default_rng(7)
    check_gradient(fn, *[make(rng) for make in makers], order=order, tolerance=2e-6)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    run(*ELEMENTWISE[name])


@pytest.mark.parametrize("name", BINARY)
def test_binary_over_shapes(name):
    for first, second in SHAPES:
        run(BINARY[name], positive(*first), positive(*second))


@pytest.mark.parametrize("name", ["add", "mul", "div", "maximum", "atan2", "floor_mod", "hypot"])
def test_binary_with_signs(name):
    run(BINARY[name], any_sign(3, 2), any_sign(2))


@pytest.mark.parametrize("name", SHAPING)
def test_shaping(name):
    run(SHAPING[name], A)


@pytest.mark.parametrize("name", REDUCING)
def test_reducing(name):
    run(REDUCING[name], S)


@pytest.mark.parametrize("name", PICKING)
def test_picking(name):
    run(PICKING[name], A)


@pytest.mark.parametrize("name", PUTTING)
def test_putting(name):
    run(PUTTING[name], S, lambda rng: rng.permutation([1.37, -1.12]))


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    run(*PRODUCTS[name])


def test_singular_value_norms_have_a_first_gradient():
    for order in (2, -2, "nuc"):
        run(lambda x, o=order: ops.matrix_norm(x, o), square(3), order=1)


def test_products_with_zeros():
    for x in ([0.0, 2.0, 3.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]):
        run(ops.prod, lambda rng, x=x: np.array(x))
        run(lambda t: ops.cumprod(t, 0), lambda rng, x=x: np.array(x))
        run(lambda t: ops.unsorted_segment_prod(t, ms.Tensor([0, 0, 0]), 1), lambda rng, x=x: np.array(x), order=1)


def test_equal_elements_share_the_gradient():
    x = ms.Tensor([1.0, 3.0, 3.0])
    assert ms.grad(ops.ReduceMax())(x).asnumpy().tolist() == [0, 0.5, 0.5]
    assert ms.grad(lambda t: ops.max(t, 0)[0])(x).asnumpy().tolist() == [0, 1, 0]
    dx, dy = ms.grad(ops.maximum, (0, 1))(x, ms.Tensor([1.0, 2.0, 4.0]))
    assert dx.asnumpy().tolist() == [0.5, 1, 0]
    assert dy.asnumpy().tolist() == [0.5, 0, 1]


def test_gradient_at_the_origin_is_finite():
    assert ms.grad(ops.norm)(ms.Tensor([0.0, 0.0])).asnumpy().tolist() == [0, 0]
    assert ms.grad(lambda x: x**2)(ms.Tensor([0.0])).asnumpy().tolist() == [0]
    assert ms.grad(ops.abs)(ms.Tensor([0.0])).asnumpy().tolist() == [0]


def test_integer_inputs_get_integer_gradients():
    dx, dy = ms.grad(ops.mul, (0, 1))(ms.Tensor([1, 2], ms.int32), ms.Tensor([3.0, 4.0]))
    assert (dx.dtype, dy.dtype) == (ms.int32, ms.float32)
    assert dx.asnumpy().tolist() == [3, 4]


def test_questions_have_no_gradient():
    x = ms.Tensor([1.0, 3.0])
    for fn in (lambda t: (t > 1).astype(ms.float32), lambda t: ops.argmax(t).astype(ms.float32), ops.isnan):
        assert ms.grad(fn)(x).asnumpy().tolist() == [0, 0]
