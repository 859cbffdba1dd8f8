"""Gradients of activations as operations: ReluGrad, GeLUGrad, SoftmaxGrad and their kin."""

from __future__ import annotations

from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.backward.backward import REQUIRED, Backward

__all__ = [
    "EluGrad",
    "EluGradExt",
    "FastGeLUGrad",
    "GeLUGrad",
    "GeluGradExt",
    "GluGrad",
    "HShrinkGrad",
    "HSigmoidGrad",
    "HSwishGrad",
    "HardtanhGrad",
    "LeakyReLUGradExt",
    "LogSigmoidGrad",
    "LogSoftmaxGrad",
    "LogitGrad",
    "MishGradExt",
    "PReLUGrad",
    "ReLU6Grad",
    "ReluGrad",
    "SeluGrad",
    "SiLUGrad",
    "SigmoidGrad",
    "SoftShrinkGrad",
    "SoftmaxGrad",
    "SoftplusGrad",
    "SoftplusGradExt",
    "SwigluGrad",
    "TanhGrad",
    "ThresholdGrad",
]


class ReluGrad(Backward):
    """The gradient of ReLU.

    Call:
        y_backprop (Tensor): the gradient of its output.
        x (Tensor): its input or output.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.backward import ReluGrad
        >>> print(ReluGrad()(ms.Tensor([1.0, 2.0]), ms.Tensor([-1.0, 1.0])))
        [0. 2.]
    """

    def compute(self, y_backprop: Tensor, x: Tensor) -> Tensor:
        return ops.select(x > 0, y_backprop, ops.zeros_like(y_backprop))


class ReLU6Grad(Backward):
    """The gradient of ReLU6."""

    def compute(self, y_backprop: Tensor, x: Tensor) -> Tensor:
        return self.through(ops.ReLU6(), [x], y_backprop)[0]


class GeLUGrad(Backward):
    """The gradient of GeLU, in the form with tanh; its output `y` is not read."""

    def compute(self, dy: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.through(ops.GeLU(), [x], dy)[0]


class GeluGradExt(Backward):
    """The gradient of `gelu`, with erf or in the form with tanh."""

    def compute(self, grad: Tensor, input: Tensor, approximate: str = "none") -> Tensor:
        return self.through(lambda x: ops.gelu(x, approximate), [input], grad)[0]


class FastGeLUGrad(Backward):
    """The gradient of FastGeLU."""

    def compute(self, dy: Tensor, x: Tensor) -> Tensor:
        return self.through(ops.FastGeLU(), [x], dy)[0]


class SiLUGrad(Backward):
    """The gradient of SiLU."""

    def compute(self, dout: Tensor, x: Tensor) -> Tensor:
        return self.through(ops.SiLU(), [x], dout)[0]


class MishGradExt(Backward):
    """The gradient of Mish."""

    def compute(self, dout: Tensor, x: Tensor) -> Tensor:
        return self.through(ops.Mish(), [x], dout)[0]


class HSigmoidGrad(Backward):
    """The gradient of HSigmoid."""

    def compute(self, grads: Tensor, input_x: Tensor) -> Tensor:
        return self.through(ops.HSigmoid(), [input_x], grads)[0]


class HSwishGrad(Backward):
    """The gradient of HSwish."""

    def compute(self, y_grad: Tensor, x: Tensor) -> Tensor:
        return self.through(ops.HSwish(), [x], y_grad)[0]


class HShrinkGrad(Backward):
    """The gradient of HShrink."""

    options: ClassVar[dict[str, Any]] = {"lambd": 0.5}

    def compute(self, gradients: Tensor, features: Tensor) -> Tensor:
        return self.through(ops.HShrink(self.lambd), [features], gradients)[0]


class SoftShrinkGrad(Backward):
    """The gradient of SoftShrink."""

    options: ClassVar[dict[str, Any]] = {"lambd": 0.5}

    def compute(self, input_grad: Tensor, input_x: Tensor) -> Tensor:
        return self.through(ops.SoftShrink(self.lambd), [input_x], input_grad)[0]


class HardtanhGrad(Backward):
    """The gradient of Hardtanh: none at the limits themselves."""

    def compute(self, dout: Tensor, input: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
        inside = ops.logical_and(input > min_val, input < max_val)
        return ops.select(inside, dout, ops.zeros_like(dout))


class ThresholdGrad(Backward):
    """The gradient of Threshold."""

    def compute(self, grad_output: Tensor, input: Tensor, threshold: float) -> Tensor:
        return ops.select(input > threshold, grad_output, ops.zeros_like(grad_output))


class LeakyReLUGradExt(Backward):
    """The gradient of LeakyReLU, from its input, or its output where `is_result`."""

    def compute(self, dy: Tensor, input: Tensor, negative_slope: float = 0.01, is_result: bool = False) -> Tensor:
        return ops.select(input > 0, dy, dy * negative_slope)


class EluGrad(Backward):
    """The gradient of Elu with alpha 1, from its output."""

    def compute(self, dout: Tensor, out: Tensor) -> Tensor:
        return ops.select(out < 0, dout * (out + 1), dout)


class EluGradExt(Backward):
    """The gradient of Elu, from its input, or its output where `is_result`."""

    def compute(self, dout: Tensor, x_or_out: Tensor, alpha: float = 1.0, is_result: bool = False) -> Tensor:
        slope = x_or_out + alpha if is_result else ops.exp(x_or_out) * alpha
        return ops.select(x_or_out > 0, dout, dout * slope)


class SeluGrad(Backward):
    """The gradient of SeLU, from its output."""

    def compute(self, gradient: Tensor, result: Tensor) -> Tensor:
        scale, steep = 1.0507009873554805, 1.7580993408473766  # lambda, and lambda times alpha
        return ops.select(result < 0, gradient * (result + steep), gradient * scale)


class SigmoidGrad(Backward):
    """The gradient of Sigmoid, from its output."""

    def compute(self, y: Tensor, dy: Tensor) -> Tensor:
        return dy * y * (1 - y)


class TanhGrad(Backward):
    """The gradient of Tanh, from its output."""

    def compute(self, y: Tensor, dy: Tensor) -> Tensor:
        return dy * (1 - y * y)


class LogSigmoidGrad(Backward):
    """The gradient of LogSigmoid; what its forward pass kept is not read."""

    def compute(self, dy: Tensor, input: Tensor, buffer: Tensor) -> Tensor:
        return dy * ops.sigmoid(-input)


class SoftplusGrad(Backward):
    """The gradient of Softplus."""

    def compute(self, gradients: Tensor, features: Tensor) -> Tensor:
        return gradients * ops.sigmoid(features)


class SoftplusGradExt(Backward):
    """The gradient of softplus(beta x) / beta, which is x where beta x is above the threshold."""

    def compute(self, dout: Tensor, x: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
        return ops.select(x * beta > threshold, dout, dout * ops.sigmoid(x * beta))


class SoftmaxGrad(Backward):
    """The gradient of Softmax over the last axis, from its output."""

    def compute(self, y: Tensor, dy: Tensor) -> Tensor:
        return y * (dy - (y * dy).sum(axis=-1, keepdims=True))


class LogSoftmaxGrad(Backward):
    """The gradient of LogSoftmax, from its output."""

    options: ClassVar[dict[str, Any]] = {"axis": -1}

    def compute(self, logits: Tensor, grad: Tensor) -> Tensor:
        return grad - ops.exp(logits) * grad.sum(axis=self.axis, keepdims=True)


class LogitGrad(Backward):
    """The gradient of Logit."""

    options: ClassVar[dict[str, Any]] = {"eps": -1.0}

    def compute(self, grad: Tensor, input: Tensor) -> Tensor:
        slope = grad / (input * (1 - input))
        if self.eps < 0:
            return slope
        inside = ops.logical_and(input >= self.eps, input <= 1 - self.eps)
        return ops.select(inside, slope, ops.zeros_like(slope))


class PReLUGrad(Backward):
    """The gradients of PReLU with respect to its input and its slopes."""

    def compute(self, dy: Tensor, x: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
        return tuple(self.through(ops.PReLU(), [x, weight], dy))


class GluGrad(Backward):
    """The gradient of `glu`."""

    options: ClassVar[dict[str, Any]] = {"axis": REQUIRED}

    def compute(self, grads: Tensor, x: Tensor) -> Tensor:
        return self.through(lambda v: ops.glu(v, self.axis), [x], grads)[0]


class SwigluGrad(Backward):
    """The gradient of the SiLU of one half times the other half."""

    def compute(self, grad_output: Tensor, input: Tensor, dim: int = -1) -> Tensor:
        def swiglu(x: Tensor) -> Tensor:
            gate, value = ops.chunk(x, 2, dim)
            return ops.silu(gate) * value

        return self.through(swiglu, [input], grad_output)[0]
