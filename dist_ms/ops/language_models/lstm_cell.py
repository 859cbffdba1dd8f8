"""One step of an LSTM that also returns its gates."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_float, check_string, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import one_dtype
from dist_ms.ops.primitive import Primitive

__all__ = ["BasicLSTMCell"]


class BasicLSTMCell(Primitive):
    """A step of an LSTM (Zaremba, Sutskever and Vinyals, "Recurrent Neural Network Regularization", 2014).

    With i, j, f and o the quarters of (x, h) w + b: c' = c sigmoid(f + forget_bias) + sigmoid(i) tanh(j) and
    h' = tanh(c') sigmoid(o).

    Args:
        keep_prob: 1.0: nothing is dropped.
        forget_bias: added to f.
        state_is_tuple: accepted: states are passed and returned one by one.
        activation: "tanh".

    Call:
        x (Tensor): (N, D), of a float type.
        h, c (Tensor): (N, H), the states.
        w (Tensor): (D + H, 4 H).
        b (Tensor): (4 H,).

    Returns:
        tuple of c', h', sigmoid(i), tanh(j), sigmoid(f + forget_bias), sigmoid(o) and tanh(c'), each (N, H).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an option is another, or a shape does not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x, state = ms.ops.ones((2, 3)), ms.ops.zeros((2, 4))
        >>> c, h, *gates = ms.ops.BasicLSTMCell()(x, state, state, ms.ops.ones((7, 16)), ms.ops.zeros(16))
        >>> h.shape, len(gates)
        ((2, 4), 5)
    """

    def __init__(
        self, keep_prob: float = 1.0, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: str = "tanh"
    ) -> None:
        if check_float(keep_prob, "keep_prob", self.name) != 1:
            raise ValueError(complaint("keep_prob", self.name, "1.0", keep_prob, "Drop parts of 'x' with ops.dropout."))
        self.forget_bias = check_float(forget_bias, "forget_bias", self.name)
        self.state_is_tuple = check_bool(state_is_tuple, "state_is_tuple", self.name)
        self.activation = check_string(activation, "activation", self.name, ["tanh"])

    def __call__(self, x: Tensor, h: Tensor, c: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        one_dtype(self.name, "fV", x=x, h=h, c=c, w=w, b=b)
        if x.ndim != 2 or h.ndim != 2 or h.shape[0] != x.shape[0] or c.shape != h.shape:
            raise ValueError(complaint("h", self.name, "(N, H), as 'c', for 'x' (N, D)", f"{h.shape} for {x.shape}"))
        size = h.shape[1]
        for name, given, shape in (("w", w, (x.shape[1] + size, 4 * size)), ("b", b, (4 * size,))):
            if given.shape != shape:
                raise ValueError(complaint(name, self.name, f"of shape {shape}", given.shape))
        i, j, f, o = ops.split(ops.matmul(ops.concat((x, h), 1), w) + b, size, 1)
        i, j, f, o = ops.sigmoid(i), ops.tanh(j), ops.sigmoid(f + self.forget_bias), ops.sigmoid(o)
        new = c * f + i * j
        tanh = ops.tanh(new)
        return new, tanh * o, i, j, f, o, tanh
