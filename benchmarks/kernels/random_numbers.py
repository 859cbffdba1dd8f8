"""Random numbers: free ones, those that follow from a seed, and the parameters of a large layer."""

from collections.abc import Callable, Iterator

from kernels import Case

SIZE = 1 << 20
WEIGHTS = (4096, 4096)


def ours() -> Iterator[Case]:
    """Operations of dist_ms.ops without and with a seed, and initializers."""
    import dist_ms as ms
    from dist_ms import ops
    from dist_ms.common import initializer as of

    draws = {
        "rand": (lambda seed: ops.rand(SIZE, seed=seed), 4),
        "randn": (lambda seed: ops.randn(SIZE, seed=seed), 4),
        "randint": (lambda seed: ops.randint(0, 10, (SIZE,), seed=seed), 8),
    }
    for name, (draw, item) in draws.items():
        yield Case(name, lambda draw=draw: draw(None), item * SIZE)
        yield Case(f"{name}, seeded", lambda draw=draw: draw(7), item * SIZE)
    yield Case("randperm 100000", lambda: ops.randperm(100_000), 800_000)
    weights, half = ms.Tensor(abs(ops.randn(256, 1024).asnumpy())), ops.full((SIZE,), 0.3)
    yield Case("bernoulli", lambda: ops.bernoulli(half, half), 8 * SIZE)
    yield Case("multinomial", lambda: ops.multinomial(weights, 10, True), 4 * 256 * 1024)
    yield Case("multinomial without replacement", lambda: ops.multinomial(weights, 10, False), 4 * 256 * 1024)
    traffic = 4 * WEIGHTS[0] * WEIGHTS[1]
    for kind in (of.HeUniform(), of.HeNormal(), of.TruncatedNormal(0.02, 0.0, -0.04, 0.04)):
        name = type(kind).__name__
        yield Case(f"{name} {WEIGHTS}", lambda kind=kind: of.initializer(kind, WEIGHTS).init_data(), traffic)


def torch() -> Iterator[Case]:
    """The same of torch; its draws always follow from the seed."""
    import torch

    draws: dict[str, Callable] = {
        "rand": lambda: torch.rand(SIZE),
        "randn": lambda: torch.randn(SIZE),
        "randint": lambda: torch.randint(0, 10, (SIZE,)),
    }
    for name, draw in draws.items():
        yield Case(name, draw)
        yield Case(f"{name}, seeded", draw)
    yield Case("randperm 100000", lambda: torch.randperm(100_000))
    weights, half = torch.randn(256, 1024).abs(), torch.full((SIZE,), 0.3)
    yield Case("bernoulli", lambda: torch.bernoulli(half))
    yield Case("multinomial", lambda: torch.multinomial(weights, 10, True))
    yield Case("multinomial without replacement", lambda: torch.multinomial(weights, 10, False))
    init = torch.nn.init
    yield Case(f"HeUniform {WEIGHTS}", lambda: init.kaiming_uniform_(torch.empty(WEIGHTS)))
    yield Case(f"HeNormal {WEIGHTS}", lambda: init.kaiming_normal_(torch.empty(WEIGHTS)))
    yield Case(f"TruncatedNormal {WEIGHTS}", lambda: init.trunc_normal_(torch.empty(WEIGHTS), 0.0, 0.02, -0.04, 0.04))
