"""The 200 most common operations, a line each: forward, and with the gradients of what the second column names."""

import re
from collections.abc import Iterator

from survey import TYPES, Row, expression

# What the expressions call their inputs.
INPUTS = {
    "x": "normal 512x1024",
    "y": "normal 512x1024",
    "p": "positive 512x1024",
    "q": "inside 512x1024",
    "u": "unit 512x1024",
    "r": "rows 512x1024",
    "m": "bool 512x1024",
    "n": "bool 512x1024",
    "i": "whole 512x1024",
    "j": "whole 512x1024",
    "k": "index1024 512",
    "c": "index10 4096",
    "g": "index512 512x1024",
    "h": "index1024 512x1024",
    "v": "normal 1024",
    "w": "normal 512",
    "b": "normal 16x64x96",
    "d": "normal 16x96x48",
    "e": "normal 16x64x48",
    "a": "normal 64x96",
    "f": "normal 96x48",
    "z": "normal 64x48",
    "s": "definite 128x128",
    "t": "normal 128x128",
    "o": "normal 16x32x32x32",
    "l": "normal 16x128x256",
    "flow": "inside 16x24x24x2",
    "scores": "normal 4096x10",
    "logits": "normal 4096x256",
    "classes": "index256 4096",
    "ab": "normal 20000",
    "ac": "normal 32x16x64x64",
    "ad": "positive 32",
    "ae": "normal 256x1024",
    "af": "normal 64x2x2",
}
FLOATS, WIDE = TYPES, ("float32",)

# expression | inputs whose gradients are taken together | the expression for dist_ms where it is another one
ELEMENTWISE = """
T.abs(x) | x
T.acos(q) | q
T.acosh(1 + p) |
T.asin(q) | q
T.asinh(x) | x
T.atan(x) | x
T.atanh(q) | q
T.atan2(x, y) | x y
T.ceil(x) |
T.cos(x) | x
T.cosh(x) | x
T.erf(x) | x
T.erfc(x) |
T.erfinv(q) | q
T.exp(x) | x
T.exp2(x) |
T.expm1(x) | x
T.floor(x) |
T.frac(x) |
T.log(p) | p
T.log10(p) |
T.log1p(p) | p
T.log2(p) |
T.neg(x) | x
T.reciprocal(p) | p
T.round(x) |
T.rsqrt(p) | p
T.sigmoid(x) | x
T.sign(x) |
T.sin(x) | x
T.sinc(x) |
T.sinh(x) | x
T.sqrt(p) | p
T.square(x) | x
T.tan(q) | q
T.tanh(x) | x
T.trunc(x) |
T.nan_to_num(x) |
T.isnan(x) |
T.isinf(x) |
T.isfinite(x) |
T.logical_not(m) |
T.add(x, y) | x y
x + v | x v
T.sub(x, y) | x y
T.mul(x, y) | x y
x * v | x v
T.div(x, p) | x p
T.pow(x, 2) | x
T.pow(p, 0.5) | p
T.pow(p, y) | p y
T.fmod(x, p) |
T.remainder(x, p) |
T.maximum(x, y) | x y
T.minimum(x, y) | x y
T.hypot(x, y) || ops.hypot(x, y)
T.logaddexp(x, y) | x y
T.xlogy(x, p) | x p
T.lerp(x, y, 0.3) | x y
T.addcmul(x, y, p) | x y p
T.addcdiv(x, y, p) | x y p
T.clamp(x, -0.5, 0.5) | x
T.where(m, x, y) | x y
T.eq(x, y) |
T.ne(x, y) |
T.lt(x, y) |
T.ge(x, y) |
T.isclose(x, y) |
T.logical_and(m, n) |
T.logical_or(m, n) |
T.logical_xor(m, n) |
T.bitwise_and(i, j) |
T.bitwise_or(i, j) |
T.bitwise_xor(i, j) |
i + j |
i * j |
i // j |
x + 1 | x
x * 2 | x
1 / p | p
"""
ACTIVATIONS = """
F.relu(x) | x
F.relu6(x) | x
F.leaky_relu(x, 0.1) | x
F.elu(x) | x
F.selu(x) | x
F.gelu(x) | x
F.gelu(x, approximate='tanh') | x
F.silu(x) | x
F.mish(x) | x
F.softplus(x) | x
F.softsign(x) | x | ops.softsign(x)
F.logsigmoid(x) | x
F.hardsigmoid(x) | x
F.hardswish(x) | x
F.hardtanh(x) | x
F.hardshrink(x) | x
F.softshrink(x) | x
F.tanhshrink(x) | x | ops.tanhshrink(x)
F.glu(x) | x
F.threshold(x, 0.1, 0.0) | x
F.softmax(x, -1) | x
F.softmax(x, 0) | x
F.log_softmax(x, -1) | x
F.dropout(x, 0.3) | x
F.normalize(x) | x
F.layer_norm(x, (1024,)) | x
F.group_norm(o, 8) | o
F.batch_norm(o, None, None, training=True) | o | F.batch_norm(o, ms.mint.zeros(32), ms.mint.ones(32), training=True)
F.cosine_similarity(x, y) | x y | ops.cosine_similarity(x, y)
"""
REDUCTIONS = """
T.sum(x) | x
T.sum(x, 0) | x
T.sum(x, 1) | x
T.sum(o, (0, 2, 3)) | o
T.mean(x) | x
T.mean(x, 1) | x
T.mean(o, (2, 3)) | o
T.prod(x, 1) |
T.var(x, 1) | x
T.std(x, 1) | x
T.max(x) | x
T.max(x, 1) |
T.amax(x, 1) | x
T.amax(x, 0) |
T.min(x, 1) |
T.argmax(x, 1) |
T.argmin(x, 0) |
T.norm(x) | x
T.logsumexp(x, 1) | x
T.all(m, 1) |
T.any(m) |
T.count_nonzero(x) |
T.median(x, 1) |
T.kthvalue(x, 3, 1) |
T.topk(x, 5) |
T.sort(x, dim=1) |
T.argsort(x, dim=1) |
T.cumsum(x, 1) | x
T.cumsum(x, 0) |
T.cumprod(q, 1) |
T.cummax(x, 1) |
T.unique(i) |
T.bincount(c) |
T.histc(ab, 50) |
T.searchsorted(T.linspace(-3, 3, 1000), ab) |
T.nansum(x, 1) |
T.cdist(b, b) | b
T.trace(t) |
"""
MOVEMENT = """
x.T.contiguous() | x
T.permute(o, (0, 2, 3, 1)).contiguous() | o
T.cat((x, y), 1) | x y
T.cat((x, y), 0) | x y
T.stack((x, y), 0) | x y
T.stack((x, y), -1) | x y
T.split(x, 256, 1) |
T.chunk(x, 4, 0) |
T.flip(x, (1,)) | x
T.roll(x, 3, 1) | x
T.tile(x, (2, 2)) | x
T.repeat_interleave(x, 2, 0) | x
T.broadcast_to(v, (512, 1024)).contiguous() | v
T.tril(x) | x
T.triu(x) | x
T.diag(w) |
T.gather(x, 1, h) | x
T.scatter(x, 1, h, y) |
T.scatter_add(x, 0, g, y) | x y
T.index_select(x, 1, k) | x
T.index_select(x, 0, k // 2) | x
T.index_add(x, 0, k // 2, y) |
T.masked_select(x, m) |
x.masked_fill(m, 0.0) | x
T.nonzero(m) |
x[k // 2] | x
x[:, 5:500] | x
x[::2] | x
x.reshape(-1).clone() | x
x.float() |
i.float() |
x.int() |
F.one_hot(c, 10) |
F.embedding(c, scores) | scores
F.embedding(classes, logits) | logits
F.pad(o, (1, 1, 1, 1)) | o
F.pad(o, (1, 1, 1, 1), mode='reflect') | o
F.pad(o, (2, 2, 2, 2), mode='replicate') | o
F.interpolate(o, scale_factor=2, mode='nearest') | o | F.interpolate(o, scale_factor=2.0, mode='nearest')
F.interpolate(o, size=(64, 64), mode='bilinear') | o
F.interpolate(o, size=(48, 48), mode='bicubic') | o
F.grid_sample(o, flow, align_corners=False) | o
F.pixel_shuffle(o, 2) | o
F.unfold(o, 3, padding=1) | o
F.fold(l, (32, 32), 2, stride=2) | l
T.meshgrid(v, v) || T.meshgrid(v, v, indexing='ij')
"""
CREATION = """
T.zeros((512, 1024), dtype=dtype) |
T.ones((512, 1024), dtype=dtype) |
T.full((512, 1024), 0.5, dtype=dtype) |
T.zeros_like(ac) |
T.ones_like(x) |
T.arange(0, 500000) |
T.linspace(0, 1, 500000) |
T.eye(700) |
T.rand(512, 1024) |
T.randn(512, 1024) |
T.randint(0, 10, (512, 1024)) |
T.randperm(100000) |
T.normal(0.0, 1.0, (512, 1024)) |
T.bernoulli(u) |
T.multinomial(ae.abs(), 8, True) |
"""
ALGEBRA = """
T.matmul(a, f) | a f
T.bmm(b, d) | b d
T.baddbmm(e, b, d) | e b d
T.addmm(z, a, f) | z a f
T.mm(a, f) |
T.mv(x, v) | x v
T.dot(v, v) |
T.outer(w, v) | w v
T.einsum('bij,bjk->bik', b, d) | b d
T.kron(af[0], t) || ops.kron(af[0], t)
"""
# PyTorch has these in float32 alone.
FACTORISATIONS = """
T.inverse(s) | s
T.linalg.qr(t) |
T.linalg.cholesky(s) || ops.cholesky(s)
T.linalg.svd(t) || ops.svd(t, full_matrices=True)
T.logdet(s) | s | ops.logdet(s)
"""
LOSSES = """
F.mse_loss(x, y) | x
F.l1_loss(x, y) | x
F.smooth_l1_loss(x, y) | x
F.huber_loss(x, y) | x | ops.huber_loss(x, y)
F.binary_cross_entropy(u, r) | u
F.binary_cross_entropy_with_logits(x, u) | x
F.cross_entropy(logits, classes) | logits
F.nll_loss(logits, classes) | logits
F.kl_div(x, r, reduction='mean') | x
F.soft_margin_loss(x, T.sign(y)) | x
F.scaled_dot_product_attention(ac, ac, ac) || ops.flash_attention_score(ac, ac, ac, 16, input_layout='BNSD')[3]
"""


def rows() -> Iterator[Row]:
    """Yield the operations in float32 and, where both sides have it, bfloat16."""
    for table in (ELEMENTWISE, ACTIVATIONS, REDUCTIONS, MOVEMENT, CREATION, ALGEBRA, FACTORISATIONS, LOSSES):
        for line in table.strip().splitlines():
            text, wanted, own = (*(part.strip() for part in line.split("|")), "")[:3]
            names = {name: INPUTS[name] for name in INPUTS if name in _words(f"{text} {own}")}
            types = FLOATS if table is not FACTORISATIONS and (names or "dtype" in text) else WIDE
            if names and all(INPUTS[name].split()[0] in ("bool", "whole") for name in names):
                types = WIDE
            yield from expression("operations", text, names, wanted, own, types)


def _words(text: str) -> set[str]:
    """The names in an expression that nothing precedes with a dot."""
    return set(re.findall(r"(?<![\w.'])[a-z]+\b(?!\s*=[^=])", text))
