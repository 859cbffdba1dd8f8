"""Products with vectors, contractions and factorisations, as operations."""

from collections.abc import Iterator

import numpy as np

from kernels import Case

CONTRACTIONS = {
    "btd,bsd->bts": ((32, 128, 256), (32, 128, 256)),
    "btd,de->bte": ((32, 128, 256), (256, 256)),
    "bqhd,bkhd->bhqk": ((8, 128, 8, 64), (8, 128, 8, 64)),
}
N = 512


def _arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A square matrix, a positive definite one and right-hand sides."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((N, N), np.float32)
    return a, a @ a.T + N * np.eye(N, dtype=np.float32), rng.standard_normal((N, 64), np.float32)


def ours() -> Iterator[Case]:
    """Operations of dist_ms.ops."""
    import dist_ms as ms
    from dist_ms import ops

    rng = np.random.default_rng(0)
    m, x = (ms.Tensor(rng.standard_normal(s, np.float32)) for s in ((2048, 2048), (2048,)))
    yield Case("matrix times vector", lambda: ops.mv(m, x), 2048 * 2048 * 4)
    yield Case("vector times matrix", lambda: ops.matmul(x, m), 2048 * 2048 * 4)
    yield Case("outer product", lambda: ops.outer(x, x), 2048 * 2048 * 4)
    ids = ms.Tensor(rng.integers(-9, 9, (256, 256)))
    yield Case("product of int64", lambda: ops.matmul(ids, ids), 0, 2 * 256**3)
    for equation, shapes in CONTRACTIONS.items():
        first, second = (ms.Tensor(rng.standard_normal(s, np.float32)) for s in shapes)
        work = 2 * first.size * shapes[1][-1 if equation.endswith("e") else 1]
        yield Case(f"einsum {equation}", lambda e=equation, a=first, b=second: ops.einsum(e, a, b), 0, work)
    a, positive, b = (ms.Tensor(v) for v in _arrays())
    yield Case(f"inverse {N}", lambda: ops.inverse(a), 0, 2 * N**3)
    yield Case(f"solve {N}", lambda: ops.matrix_solve(a, b), 0, 2 / 3 * N**3)
    yield Case(f"slogdet {N}", lambda: ops.slogdet(a), 0, 2 / 3 * N**3)
    yield Case(f"cholesky {N}", lambda: ops.cholesky(positive), 0, N**3 / 3)
    yield Case(f"qr {N}", lambda: ops.qr(a), 0, 8 / 3 * N**3)
    yield Case("svd 200", lambda v=a[:200, :200]: ops.svd(v), 0, 22 * 200**3)


def torch() -> Iterator[Case]:
    """The same functions of torch and torch.linalg."""
    import torch

    m, x = torch.randn(2048, 2048), torch.randn(2048)
    yield Case("matrix times vector", lambda: m @ x)
    yield Case("vector times matrix", lambda: x @ m)
    yield Case("outer product", lambda: torch.outer(x, x))
    ids = torch.randint(-9, 9, (256, 256))
    yield Case("product of int64", lambda: ids @ ids)
    for equation, shapes in CONTRACTIONS.items():
        first, second = (torch.randn(s) for s in shapes)
        yield Case(f"einsum {equation}", lambda e=equation, a=first, b=second: torch.einsum(e, a, b))
    a, positive, b = map(torch.from_numpy, _arrays())
    linalg = torch.linalg
    yield Case(f"inverse {N}", lambda: linalg.inv(a))
    yield Case(f"solve {N}", lambda: linalg.solve(a, b))
    yield Case(f"slogdet {N}", lambda: linalg.slogdet(a))
    yield Case(f"cholesky {N}", lambda: linalg.cholesky(positive))
    yield Case(f"qr {N}", lambda: linalg.qr(a))
    yield Case("svd 200", lambda v=a[:200, :200]: linalg.svd(v, full_matrices=False))
