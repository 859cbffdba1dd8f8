"""Scaled dot-product attention by blocks, forward and backward, with and without a causal mask."""

from collections.abc import Iterator

import numpy as np

from kernels import Case

SHAPES = ((8, 8, 128, 64), (2, 8, 1024, 64), (1, 1, 4096, 64))


def _work(shape: tuple) -> float:
    batch, heads, length, size = shape
    return 7 * 2 * batch * heads * length**2 * size  # Seven products, counted as if nothing were masked.


def ours() -> Iterator[Case]:
    """The kernels on (batch, length, heads, size) memory, as a projection leaves it."""
    import ml_dtypes

    from dist_ms._ext import attention

    rng = np.random.default_rng(0)
    for dtype in (np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)):
        for shape in SHAPES:
            batch, heads, length, size = shape
            q, k, v, dout, out, dq, dk, dv = (
                rng.standard_normal((batch, length, heads, size), np.float32).astype(dtype).swapaxes(1, 2)
                for _ in range(8)
            )
            sums = np.empty((2, batch, heads, length), np.float32)
            for causal in (False, True):

                def run(q=q, k=k, v=v, d=dout, o=out, g=(dq, dk, dv), s=sums, high=0 if causal else None):
                    attention.forward(q, k, v, o, *s, 0.125, high=high)
                    attention.backward(d, q, k, v, o, *s, *g, 0.125, high=high)

                yield Case(f"attention{' causal' * causal} {shape}, {dtype}", run, work=_work(shape))


def torch() -> Iterator[Case]:
    """torch.nn.functional.scaled_dot_product_attention through autograd."""
    import torch

    for dtype in (torch.float32, torch.bfloat16):
        for shape in SHAPES:
            batch, heads, length, size = shape
            q, k, v, dout = (torch.randn(batch, length, heads, size, dtype=dtype).transpose(1, 2) for _ in range(4))
            for x in (q, k, v):
                x.requires_grad_()
            for causal in (False, True):

                def run(q=q, k=k, v=v, dout=dout, causal=causal):
                    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
                    torch.autograd.grad(out, (q, k, v), dout)

                yield Case(f"attention{' causal' * causal} {shape}, {str(dtype).partition('.')[2]}", run)
