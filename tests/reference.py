"""NumPy twins of the kernels in `dist_ms._ext`, in float64 and straight from the formulas.

oneDNN's twins stand in `reference_dnnl.py`.
"""

import math

import numpy as np

erf = np.frompyfunc(math.erf, 1, 1)


def relu(x):
    return np.where(np.isnan(x), x, np.maximum(x, 0))


def relu_gradient(dy, y):
    return np.where(y <= 0, 0, dy)


def gelu(x, tanh):
    if tanh:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + erf(x / np.sqrt(2)).astype(np.float64))


def gelu_gradient(dy, x, tanh):
    if tanh:
        t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
        inner = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2)
        return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t**2) * inner)
    below = 0.5 * (1 + erf(x / np.sqrt(2)).astype(np.float64))
    return dy * (below + x * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sigmoid_gradient(dy, y):
    return dy * y * (1 - y)


def silu(x):
    return x * sigmoid(x)


def silu_gradient(dy, x):
    s = sigmoid(x)
    return dy * s * (1 + x * (1 - s))


def softplus(x, a, b):
    return np.where(a * x > b, x, (np.log1p(np.exp(-np.abs(a * x))) + np.maximum(a * x, 0)) / a)


def mish(x):
    return x * np.tanh(softplus(x, 1, np.inf))


def mish_slope(x):
    t = np.tanh(softplus(x, 1, np.inf))
    return t + x * sigmoid(x) * (1 - t**2)


def fast_gelu_slope(x, a):
    return sigmoid(a * x) + a * x * sigmoid(a * x) * (1 - sigmoid(a * x))


def hard_swish(x):
    return np.where(x <= -3, 0, x * np.clip(x + 3, 0, 6) / 6)


def clip_slope(x, a, b, c, d):
    return np.select([x == a, x == b, (x > a) & (x < b)], [c, d, 1.0], 0.0)


# Functions that the activation kernel knows by name: value and slope, of x and the options.
ELEMENTWISE = {
    "fast_gelu": (lambda x, a: x * sigmoid(a * x), fast_gelu_slope),
    "mish": (mish, mish_slope),
    "softplus": (softplus, lambda x, a, b: np.where(a * x > b, 1, sigmoid(a * x))),
    "log_sigmoid": (lambda x: -softplus(-x, 1, np.inf), lambda x: sigmoid(-x)),
    "exponential_linear": (
        lambda x, a, b, c: np.where(x > 0, a * x, b * np.expm1(c * x)),
        lambda x, a, b, c: np.where(x > 0, a, b * c * np.exp(c * x)),
    ),
    "softsign": (lambda x: x / (1 + np.abs(x)), lambda x: 1 / (1 + np.abs(x)) ** 2),
    "leaky_relu": (lambda x, a: np.where(x > 0, x, a * x), lambda x, a: np.select([x > 0, x < 0], [1, a], (1 + a) / 2)),
    "hard_sigmoid": (lambda x: np.clip(x / 6 + 0.5, 0, 1), lambda x: np.where(np.abs(x) < 3, 1 / 6, 0)),
    "hard_swish": (hard_swish, lambda x: np.select([x < -3, x > 3], [0, 1], (2 * x + 3) / 6)),
    "clip": (lambda x, a, b, c, d: np.minimum(np.maximum(x, a), b), clip_slope),
    "hard_shrink": (lambda x, a: np.where(np.abs(x) > a, x, 0), lambda x, a: np.where(np.abs(x) > a, 1, 0)),
    "soft_shrink": (lambda x, a: x - np.clip(x, -a, a), lambda x, a: np.where(np.abs(x) > a, 1, 0)),
    "threshold": (lambda x, a, b: np.where(x > a, x, b), lambda x, a, b: np.where(x > a, 1, 0)),
}


def tanh_gradient(dy, y):
    return dy * (1 - y**2)


def philox_words(counter, key):
    """Return the four words of Philox4x32-10 for counters (n, 4) and a key of two words."""
    low, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    c0, c1, c2, c3 = np.asarray(counter, np.uint64).T
    k0, k1 = np.uint64(key[0]), np.uint64(key[1])
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> low) ^ c1 ^ k0, p1 & mask, (p0 >> low) ^ c3 ^ k1, p0 & mask
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32)


def dropout(x, keep_prob, seed, offset):
    """Return (out, mask)."""
    groups = np.arange(-(-x.size // 4), dtype=np.uint64)
    counter = np.empty((groups.size, 4), np.uint64)
    counter[:, 0], counter[:, 1] = groups & np.uint64(0xFFFFFFFF), groups >> np.uint64(32)
    counter[:, 2], counter[:, 3] = offset & 0xFFFFFFFF, offset >> 32
    words = philox_words(counter, (seed & 0xFFFFFFFF, seed >> 32)).reshape(-1)[: x.size]
    mask = (words.astype(np.float64) < np.floor(keep_prob * 2.0**32)).reshape(x.shape)
    return np.where(mask, x / keep_prob, 0), mask


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def softmax_gradient(dy, y):
    return y * (dy - (dy * y).sum(axis=1, keepdims=True))


def log_softmax(x):
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def log_softmax_gradient(dy, y):
    return dy - np.exp(y) * dy.sum(axis=1, keepdims=True)


def cross_entropy(logits, labels, ignore_index):
    """Return (loss per row, logprob)."""
    logprob = log_softmax(logits)
    kept = labels != ignore_index
    picked = logprob[np.arange(len(labels)), np.where(kept, labels, 0)]
    return np.where(kept, -picked, 0), logprob


def cross_entropy_gradient(dloss, logprob, labels, ignore_index):
    kept = labels != ignore_index
    onehot = np.zeros_like(logprob)
    onehot[np.arange(len(labels)), np.where(kept, labels, 0)] = 1
    return np.where(kept[:, None], dloss[:, None] * (np.exp(logprob) - onehot), 0)


def statistics(x, axes, eps):
    """Return (mean, 1 / sqrt(biased variance + eps)) over `axes`, which stay as size 1."""
    mean = x.mean(axis=axes, keepdims=True)
    return mean, 1 / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + eps)


def normalise(x, mean, rstd, gamma, beta):
    return (x - mean) * rstd * gamma + beta


def normalise_gradient(dy, x, mean, rstd, gamma, statistic_axes, parameter_axes):
    """Return (dx, dgamma, dbeta) of `normalise` when mean and rstd are those of x."""
    xhat = (x - mean) * rstd
    g = dy * gamma
    averages = g.mean(axis=statistic_axes, keepdims=True)
    products = (g * xhat).mean(axis=statistic_axes, keepdims=True)
    dx = rstd * (g - averages - xhat * products)
    return dx, (dy * xhat).sum(axis=parameter_axes), dy.sum(axis=parameter_axes)


def gather(table, ids):
    return table[ids]


def scatter_add(d_out, ids, d_table):
    result = d_table.copy()
    np.add.at(result, ids, d_out)
    return result


def sgd(p, g, accum, lr, momentum, dampening, weight_decay, nesterov, first_step, grad_scale):
    """Return (p, accum)."""
    g = g * grad_scale + weight_decay * p
    if accum is None:
        return p - lr * g, None
    accum = g if first_step else momentum * accum + (1 - dampening) * g
    return p - lr * (g + momentum * accum if nesterov else accum), accum


def adam(p, g, m, v, lr_t, beta1, beta2, eps, weight_decay, nesterov, grad_scale):
    """Return (p, m, v)."""
    g = g * grad_scale + weight_decay * p
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    step = beta1 * m + (1 - beta1) * g if nesterov else m
    return p - lr_t * step / (np.sqrt(v) + eps), m, v


def adam_weight_decay(p, g, m, v, lr, beta1, beta2, eps, weight_decay, grad_scale):
    """Return (p, m, v)."""
    g = g * grad_scale
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    return p - lr * (m / (np.sqrt(v) + eps) + weight_decay * p), m, v
