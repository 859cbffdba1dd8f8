"""BatchNorm with ReLU, and with a sum before it, in training; both sides in channels-last memory."""

from collections.abc import Iterator

import numpy as np

from kernels import Case

SHAPES = ((32, 64, 32, 32), (32, 256, 8, 8), (32, 256, 56, 56))


def ours() -> Iterator[Case]:
    """The fused kernels: statistics, result, gradients."""
    import ml_dtypes

    from dist_ms._ext import batch_norm

    rng = np.random.default_rng(0)
    for dtype in (np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)):
        for shape in SHAPES:
            x, y, dy, dx, r, dr = (
                np.moveaxis(rng.standard_normal((shape[0], *shape[2:], shape[1]), np.float32).astype(dtype), -1, 1)
                for _ in range(6)
            )
            gamma, beta, mean, rstd, dgamma, dbeta = rng.standard_normal((6, shape[1])).astype(np.float32)

            def relu(x=x, y=y, g=gamma, b=beta, m=mean, s=rstd):
                batch_norm.statistics(x, 1e-5, m, s)
                batch_norm.normalised(x, g, b, m, s, None, True, y)

            def relu_gradient(x=x, dy=dy, dx=dx, g=gamma, b=beta, m=mean, s=rstd, dg=dgamma, db=dbeta):
                batch_norm.backward_of_relu(dy, x, g, b, m, s, dx, dg, db)

            def sum_relu(x=x, y=y, r=r, g=gamma, b=beta, m=mean, s=rstd):
                batch_norm.statistics(x, 1e-5, m, s)
                batch_norm.normalised(x, g, b, m, s, r, True, y)

            def sum_gradient(x=x, y=y, dy=dy, dx=dx, dr=dr, g=gamma, m=mean, s=rstd, dg=dgamma, db=dbeta):
                batch_norm.backward_of_sum(dy, x, g, m, s, y, dx, dg, db, dr)

            name = f"{shape}, {dtype}"
            # x twice (statistics, result), the result once; then x and dy twice, dx once.
            yield Case(f"batch norm + relu {name}", lambda f=relu, g=relu_gradient: (f(), g()), 8 * x.nbytes)
            yield Case(f"batch norm + sum + relu {name}", lambda f=sum_relu, g=sum_gradient: (f(), g()), 11 * x.nbytes)


def torch() -> Iterator[Case]:
    """torch.nn.functional's, one after the other, through autograd."""
    import torch

    f = torch.nn.functional
    for dtype in (torch.float32, torch.bfloat16):
        for shape in SHAPES:
            x, r, dy = (torch.randn(shape, dtype=dtype).to(memory_format=torch.channels_last) for _ in range(3))
            x.requires_grad_()
            r.requires_grad_()
            gamma, beta = (torch.randn(shape[1]).requires_grad_() for _ in range(2))

            def run(x=x, r=r, dy=dy, gamma=gamma, beta=beta, adds=False):
                y = f.batch_norm(x, None, None, gamma, beta, True)
                y = f.relu(y + r if adds else y)
                torch.autograd.grad(y, (x, gamma, beta, r) if adds else (x, gamma, beta), dy)

            name = f"{shape}, {str(dtype).partition('.')[2]}"
            yield Case(f"batch norm + relu {name}", run)
            yield Case(f"batch norm + sum + relu {name}", lambda run=run: run(adds=True))
