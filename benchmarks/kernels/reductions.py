"""Reductions, scans, order and selection, each as a whole operation: reading a matrix or images once.

PyTorch's side is its function of the same name. Traffic counts the input and the results once.
"""

from collections.abc import Iterator

import numpy as np

from kernels import Case

MATRIX, IMAGES, FIRST, GROUPS = (2048, 2048), (32, 64, 56, 56), 10, 8


def _data() -> tuple:
    """A matrix, images, a vector and labels, the same on both sides."""
    rng = np.random.default_rng(0)
    x, images = (rng.standard_normal(shape, np.float32) for shape in (MATRIX, IMAGES))
    return x, images, rng.standard_normal(MATRIX[0], np.float32), rng.integers(0, MATRIX[1], MATRIX[0])


def ours() -> Iterator[Case]:
    """The operations of dist_ms."""
    import dist_ms as ms
    from dist_ms import mint, ops

    data = _data()
    x, images, vector, labels = (ms.Tensor(a) for a in data)
    mask, whole = x > 0, (x * 100).astype(ms.int32)
    one, both, picture = data[0].nbytes, 2 * data[0].nbytes, data[1].nbytes
    group_norm = mint.nn.functional.group_norm

    def gradient(function, x, dout):
        run = ops.GradOperation(sens_param=True)(function)
        return lambda: run(x, dout)

    runs = {
        "sum of all": (lambda: x.sum(), one),
        "sum over rows": (lambda: x.sum(0), one),
        "sum of rows": (lambda: x.sum(1), one),
        "sum of channels": (lambda: images.sum((2, 3)), picture),
        "sum but of channels": (lambda: images.sum((0, 2, 3)), picture),
        "mean of images": (lambda: images.mean(), picture),
        "product of rows": (lambda: x.prod(1), one),
        "largest of rows": (lambda: ops.amax(x, 1), one),
        "largest over rows": (lambda: ops.amax(x, 0), one),
        "argmax of rows": (lambda: x.argmax(1), one),
        "argmax over rows": (lambda: x.argmax(0), one),
        "norm": (lambda: x.norm(), one),
        "any of rows": (lambda: mask.any(1), one / 4),
        "logsumexp of rows": (lambda: ops.logsumexp(x, 1), one),
        "logsumexp of rows, gradient": (gradient(lambda x: ops.logsumexp(x, 1), x, vector), both),
        "cumsum along rows": (lambda: x.cumsum(1), both),
        "cumsum over rows": (lambda: x.cumsum(0), both),
        "cumprod along rows": (lambda: ops.cumprod(x, 1), both),
        "softmax over rows": (lambda: ops.softmax(x, 0), both),
        "softmax over rows, gradient": (gradient(lambda x: ops.softmax(x, 0), x, x), both),
        "softmax over channels": (lambda: ops.softmax(images, 1), 2 * picture),
        "topk": (lambda: ops.topk(x, FIRST, 1), one),
        "sort": (lambda: ops.sort(x, 1), both),
        "unique": (lambda: ops.unique(whole.reshape(-1)), both),
        "nonzero": (lambda: ops.nonzero(mask), one / 4 + both),
        "masked_select": (lambda: ops.masked_select(x, mask), 1.75 * one),
        "nll_loss, gradient": (gradient(lambda x: ops.nll_loss(x, labels), x, ms.Tensor(np.float32(1))), one),
        "adaptive_avg_pool2d to 1": (lambda: ops.adaptive_avg_pool2d(images, 1), picture),
        "adaptive_avg_pool2d to 7": (lambda: ops.adaptive_avg_pool2d(images, 7), picture),
        "group_norm": (lambda: group_norm(images, GROUPS), 2 * picture),
        "group_norm, gradient": (gradient(lambda x: group_norm(x, GROUPS), images, images), 4 * picture),
        "instance_norm, gradient": (gradient(lambda x: ops.instance_norm(x), images, images), 4 * picture),
    }
    for name, (run, traffic) in runs.items():
        yield Case(name, run, traffic)


def torch() -> Iterator[Case]:
    """PyTorch's functions."""
    import torch

    f = torch.nn.functional
    x, images, vector, labels = (torch.from_numpy(a) for a in _data())
    mask, whole = x > 0, (x * 100).int()

    def gradient(function, x, dout):
        x = x.clone().requires_grad_()
        return lambda: torch.autograd.grad(function(x), x, dout)

    runs = {
        "sum of all": lambda: x.sum(),
        "sum over rows": lambda: x.sum(0),
        "sum of rows": lambda: x.sum(1),
        "sum of channels": lambda: images.sum((2, 3)),
        "sum but of channels": lambda: images.sum((0, 2, 3)),
        "mean of images": lambda: images.mean(),
        "product of rows": lambda: x.prod(1),
        "largest of rows": lambda: x.amax(1),
        "largest over rows": lambda: x.amax(0),
        "argmax of rows": lambda: x.argmax(1),
        "argmax over rows": lambda: x.argmax(0),
        "norm": lambda: x.norm(),
        "any of rows": lambda: mask.any(1),
        "logsumexp of rows": lambda: torch.logsumexp(x, 1),
        "logsumexp of rows, gradient": gradient(lambda x: torch.logsumexp(x, 1), x, vector),
        "cumsum along rows": lambda: x.cumsum(1),
        "cumsum over rows": lambda: x.cumsum(0),
        "cumprod along rows": lambda: x.cumprod(1),
        "softmax over rows": lambda: x.softmax(0),
        "softmax over rows, gradient": gradient(lambda x: x.softmax(0), x, x),
        "softmax over channels": lambda: images.softmax(1),
        "topk": lambda: x.topk(FIRST, 1),
        "sort": lambda: x.sort(1),
        "unique": lambda: whole.unique(return_inverse=True),
        "nonzero": lambda: mask.nonzero(),
        "masked_select": lambda: torch.masked_select(x, mask),
        "nll_loss, gradient": gradient(lambda x: f.nll_loss(x, labels), x, torch.tensor(1.0)),
        "adaptive_avg_pool2d to 1": lambda: f.adaptive_avg_pool2d(images, 1),
        "adaptive_avg_pool2d to 7": lambda: f.adaptive_avg_pool2d(images, 7),
        "group_norm": lambda: f.group_norm(images, GROUPS),
        "group_norm, gradient": gradient(lambda x: f.group_norm(x, GROUPS), images, images),
        "instance_norm, gradient": gradient(f.instance_norm, images, images),
    }
    for name, run in runs.items():
        yield Case(name, run)
