"""NumPy twins of `dist_ms._ext.dnnl`, in float64 and straight from the formulas."""

import itertools

import numpy as np


def windows(x, kernel, stride, padding, dilation, outside=0.0):
    """Return all windows over the padded `x`: shape (N, C, *places, *kernel)."""
    axes = tuple(range(2, x.ndim))
    spans = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))
    padded = np.pad(x, ((0, 0), (0, 0), *padding), constant_values=outside)
    view = np.lib.stride_tricks.sliding_window_view(padded, spans, axis=axes)
    places = tuple(slice(None, None, s) for s in stride)
    elements = tuple(slice(None, None, d) for d in dilation)
    return view[(slice(None), slice(None), *places, *elements)]


def result_size(x_shape, kernel, stride, padding, dilation):
    """Return how many windows fit in each spatial dimension."""
    return tuple(
        (n + before + after - (k - 1) * d - 1) // s + 1
        for n, k, s, (before, after), d in zip(x_shape[2:], kernel, stride, padding, dilation, strict=True)
    )


def fold_windows(parts, x_shape, kernel, stride, padding, dilation):
    """Add up `parts`, shaped as `windows` returns them, where each element came from."""
    padded = np.zeros((*x_shape[:2], *(n + b + a for n, (b, a) in zip(x_shape[2:], padding, strict=True))))
    places = parts.shape[2 : len(x_shape)]
    for offset in itertools.product(*map(range, kernel)):
        region = tuple(
            slice(o * d, o * d + (p - 1) * s + 1, s)
            for o, d, p, s in zip(offset, dilation, places, stride, strict=True)
        )
        padded[(slice(None), slice(None), *region)] += parts[(..., *offset)]
    inside = tuple(slice(b, b + n) for n, (b, _) in zip(x_shape[2:], padding, strict=True))
    return padded[(slice(None), slice(None), *inside)]


def matmul(a, b, bias=None):
    """Return ``a @ b + bias``."""
    return np.matmul(np.float64(a), np.float64(b)) + (0 if bias is None else bias)


def conv_forward(x, w, bias, stride, padding, dilation, group):
    """Return the result of the convolution, each group on its own."""
    spatial = x.ndim - 2
    view = windows(np.float64(x), w.shape[2:], stride, padding, dilation)
    axes = (1, *range(2 + spatial, 2 + 2 * spatial))
    parts = [
        np.moveaxis(np.tensordot(part, filters, (axes, range(1, 2 + spatial))), -1, 1)
        for part, filters in zip(np.split(view, group, axis=1), np.split(np.float64(w), group), strict=True)
    ]
    out = np.concatenate(parts, axis=1)
    return out if bias is None else out + np.reshape(bias, (-1,) + (1,) * spatial)


def conv_backward_data(dy, w, x_shape, stride, padding, dilation, group):
    """Return the gradient of the convolution's input."""
    parts = []
    for part, filters in zip(np.split(np.float64(dy), group, axis=1), np.split(np.float64(w), group), strict=True):
        product = np.tensordot(part, filters, (1, 0))  # (N, *places, C / group, *kernel)
        parts.append(np.moveaxis(product, dy.ndim - 1, 1))
    parts = np.concatenate(parts, axis=1)
    return fold_windows(parts, x_shape, w.shape[2:], stride, padding, dilation)


def conv_backward_weights(x, dy, w_shape, stride, padding, dilation, group):
    """Return the gradients of the convolution's weights and bias."""
    spatial = x.ndim - 2
    view = windows(np.float64(x), w_shape[2:], stride, padding, dilation)
    axes = (0, *range(2, 2 + spatial))
    parts = [
        np.tensordot(grad, part, (axes, axes))
        for part, grad in zip(np.split(view, group, axis=1), np.split(np.float64(dy), group, axis=1), strict=True)
    ]
    return np.concatenate(parts), np.float64(dy).sum(axis=axes)


def pool_counts(x_shape, kernel, stride, padding, dilation):
    """Return how many elements of `x` each window has."""
    ones = np.ones((1, 1, *x_shape[2:]))
    view = windows(ones, kernel, stride, padding, dilation)
    return view.sum(axis=tuple(range(len(x_shape), view.ndim)))


def pool_forward(kind, x, kernel, stride, padding, dilation):
    """Return the result of the pooling."""
    outside = -np.inf if kind == "max" else 0.0
    view = windows(np.float64(x), kernel, stride, padding, dilation, outside)
    axes = tuple(range(x.ndim, view.ndim))
    if kind == "max":
        return view.max(axis=axes)
    if kind == "avg_padded":
        return view.mean(axis=axes)
    return view.sum(axis=axes) / pool_counts(x.shape, kernel, stride, padding, dilation)


def pool_backward(kind, dy, x, kernel, stride, padding, dilation):
    """Return the gradient of the pooling's input; the first of equal maxima gets all of it."""
    spatial = x.ndim - 2
    spread = (..., *(None,) * spatial)
    if kind == "max":
        view = windows(np.float64(x), kernel, stride, padding, dilation, -np.inf)
        places = view.shape[: x.ndim]
        first = view.reshape(*places, -1).argmax(axis=-1)
        share = (first[..., None] == np.arange(np.prod(kernel))).reshape(view.shape)
    else:
        share = np.ones(kernel) / np.prod(kernel)
        if kind == "avg":
            counts = pool_counts(x.shape, kernel, stride, padding, dilation)
            share = np.ones(kernel) / counts[spread]
    return fold_windows(np.float64(dy)[spread] * share, x.shape, kernel, stride, padding, dilation)
