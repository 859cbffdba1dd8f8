"""The arithmetic of recurrent steps on arrays, with what each keeps for its gradient.

A class holds the arrays of one run: `h[k]` is the hidden state that enters step k, `c[k]`
the cell state. Step k reads row t of the inputs; k and t differ when time runs backwards.
"""

from __future__ import annotations

import numpy as np


class Steps:
    """The arrays of one run.

    Args:
        steps: number of time steps.
        rows: N.
        width: length of the gates.
        size: length of the hidden state.
        dtype: working type.
        has_cell: whether there is a cell state.
    """

    def __init__(self, steps: int, rows: int, width: int, size: int, dtype: np.dtype, has_cell: bool) -> None:
        self.h = np.empty((steps + 1, rows, size), dtype)
        self.states = [self.h]
        if has_cell:
            self.c = np.empty((steps + 1, rows, size), dtype)
            self.states.append(self.c)
        self.gates = np.empty((steps, rows, width), dtype)

    def inner_gradients(self, dgates: np.ndarray) -> np.ndarray:
        """Where the gradients of W_hh h go: with those of the inputs' part, as they are equal."""
        return dgates

    def split(self, k: int, parts: int) -> list[np.ndarray]:
        """The gates of step k one by one."""
        return np.split(self.gates[k], parts, axis=1)


def _sigmoid(x: np.ndarray) -> None:
    """1 / (1 + exp(-x)) = (1 + tanh(x / 2)) / 2 in place: it never overflows."""
    x *= 0.5
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5


class TanhSteps(Steps):
    """h' = tanh(x + inner); the gates are not kept, as h' says all."""

    def __init__(self, steps: int, rows: int, width: int, size: int, dtype: np.dtype, has_cell: bool) -> None:
        super().__init__(steps, rows, 0, size, dtype, has_cell)
        self.new = np.empty((steps, rows, size), dtype)

    def activate(self, x: np.ndarray, out: np.ndarray) -> None:
        """Apply the activation."""
        np.tanh(x, out=out)

    def slope(self, y: np.ndarray) -> np.ndarray:
        """The activation's slope where its value is y."""
        return 1 - y * y

    def forward(self, k: int, x: np.ndarray, inner: np.ndarray) -> None:
        """Run step k."""
        inner += x
        self.activate(inner, self.h[k + 1])
        self.new[k] = self.h[k + 1]

    def backward(self, k: int, t: int, dstate: list, dgates: np.ndarray, dinner: np.ndarray) -> None:
        """Turn the gradient of the state after step k into that of the gates; `dstate` is then what is left."""
        np.multiply(dstate[0], self.slope(self.new[k]), out=dgates[t])
        dstate[0] = np.zeros_like(dstate[0])


class ReluSteps(TanhSteps):
    """h' = max(x + inner, 0)."""

    def activate(self, x: np.ndarray, out: np.ndarray) -> None:
        """Apply the activation."""
        np.maximum(x, 0, out=out)

    def slope(self, y: np.ndarray) -> np.ndarray:
        """The activation's slope where its value is y."""
        return (y > 0).astype(y.dtype)


class LstmSteps(Steps):
    """c' = f c + i g, h' = o tanh(c'), gates i, f, g, o."""

    def forward(self, k: int, x: np.ndarray, inner: np.ndarray) -> None:
        """Run step k."""
        gates = np.add(inner, x, out=self.gates[k])
        i, f, g, o = self.split(k, 4)
        _sigmoid(gates[:, : 2 * g.shape[1]])
        np.tanh(g, out=g)
        _sigmoid(o)
        c = np.multiply(f, self.c[k], out=self.c[k + 1])
        c += i * g
        np.tanh(c, out=self.h[k + 1])
        self.h[k + 1] *= o

    def backward(self, k: int, t: int, dstate: list, dgates: np.ndarray, dinner: np.ndarray) -> None:
        """Turn the gradients of the states after step k into those of the gates and of c before it."""
        i, f, g, o = self.split(k, 4)
        di, df, dg, do = np.split(dgates[t], 4, axis=1)
        c = self.c[k]
        dh, dc = dstate
        shape = np.tanh(f * c + i * g)
        dc += dh * o * (1 - shape * shape)
        np.multiply(dh * shape, o * (1 - o), out=do)
        np.multiply(dc * g, i * (1 - i), out=di)
        np.multiply(dc * c, f * (1 - f), out=df)
        np.multiply(dc * i, 1 - g * g, out=dg)
        dstate[0] = np.zeros_like(dh)
        dstate[1] = dc * f


class GruSteps(Steps):
    """h' = n + z (h - n), n = tanh(x_n + r inner_n), gates r, z, n."""

    def __init__(self, steps: int, rows: int, width: int, size: int, dtype: np.dtype, has_cell: bool) -> None:
        super().__init__(steps, rows, width, size, dtype, has_cell)
        self.inner_n = np.empty((steps, rows, size), dtype)

    def inner_gradients(self, dgates: np.ndarray) -> np.ndarray:
        """Where the gradients of W_hh h go: that of n differs by the factor r."""
        return np.empty_like(dgates)

    def forward(self, k: int, x: np.ndarray, inner: np.ndarray) -> None:
        """Run step k."""
        r, z, n = self.split(k, 3)
        both = 2 * n.shape[1]
        np.add(x[:, :both], inner[:, :both], out=self.gates[k][:, :both])
        _sigmoid(self.gates[k][:, :both])
        self.inner_n[k] = inner[:, both:]
        np.multiply(r, self.inner_n[k], out=n)
        n += x[:, both:]
        np.tanh(n, out=n)
        h = np.subtract(self.h[k], n, out=self.h[k + 1])
        h *= z
        h += n

    def backward(self, k: int, t: int, dstate: list, dgates: np.ndarray, dinner: np.ndarray) -> None:
        """Turn the gradient of the state after step k into those of the gates and what passes them by."""
        r, z, n = self.split(k, 3)
        dr, dz, dn = np.split(dgates[t], 3, axis=1)
        dh, both = dstate[0], 2 * n.shape[1]
        np.multiply(dh * (self.h[k] - n), z * (1 - z), out=dz)
        np.multiply(dh * (1 - z), 1 - n * n, out=dn)
        np.multiply(dn * self.inner_n[k], r * (1 - r), out=dr)
        dinner[t][:, :both] = dgates[t][:, :both]
        np.multiply(dn, r, out=dinner[t][:, both:])
        dstate[0] = dh * z


STEPS = {"tanh": TanhSteps, "relu": ReluSteps, "lstm": LstmSteps, "gru": GruSteps}
