"""The NumPy twins of the optimizer rules: each returns the new weights and states."""

import numpy as np

from tests.reference import adam


def _gradient(p, g, decay, scale):
    return g * scale + decay * p


def amsgrad(p, g, m, v, largest, lr, decay, scale, beta1, new1, new2, eps, nesterov):
    _, m, v = adam(p, g, m, v, lr, 1 - new1, 1 - new2, eps, decay, nesterov, scale)
    largest = np.maximum(largest, v)
    ahead = beta1 * m + new1 * _gradient(p, g, decay, scale) if nesterov else m
    return p - lr * ahead / (np.sqrt(largest) + eps), m, v, largest


def adagrad(p, g, h, lr, decay, scale, eps, grows):
    g = _gradient(p, g, decay, scale)
    h = h + g * g if grows else h
    return p - lr * g / (np.sqrt(h) + eps), h


def proximal_adagrad(p, g, h, lr, decay, scale, l1, l2):
    g = _gradient(p, g, decay, scale)
    h = h + g * g
    rate = lr / np.sqrt(h)
    ahead = p - rate * g
    return np.sign(ahead) * np.maximum(np.abs(ahead) - l1 * rate, 0) / (1 + l2 * rate), h


def rmsprop(p, g, s, v, lr, decay, scale, new, momentum, eps):
    g = _gradient(p, g, decay, scale)
    s = s + (g * g - s) * new
    v = momentum * v + lr * g / np.sqrt(s + eps)
    return p - v, s, v


def centered_rmsprop(p, g, s, v, mean, lr, decay, scale, new, momentum, eps):
    g = _gradient(p, g, decay, scale)
    s, mean = s + (g * g - s) * new, mean + (g - mean) * new
    v = momentum * v + lr * g / np.sqrt(s - mean * mean + eps)
    return p - v, s, v, mean


def ftrl(p, g, n, z, lr, decay, scale, power, l1, l2):
    g = _gradient(p, g, decay, scale)
    after = (n + g * g) ** -power
    z = z + g - (after - n**-power) / lr * p
    return np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) / (after / lr + 2 * l2), 0), n + g * g, z


def lamb(p, g, m, v, lr, decay, scale, new1, new2, grow1, grow2, eps):
    g = g * scale
    m, v = m + (g - m) * new1, v + (g * g - v) * new2
    step = m * grow1 / (np.sqrt(v * grow2) + eps) + decay * p
    above, below = np.linalg.norm(p), np.linalg.norm(step)
    return p - lr * (above / below if above and below else 1) * step, m, v
