"""Gradients of layers as operations: norms, biases, dropout."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.backward.backward import Backward

__all__ = [
    "BatchNormGrad",
    "BatchNormGradExt",
    "BatchNormGradGrad",
    "BiasAddGrad",
    "DropoutGrad",
    "DropoutGradExt",
    "GroupNormGrad",
    "InstanceNormGrad",
    "InstanceNormV2Grad",
    "L2NormalizeGrad",
    "LRNGrad",
    "LayerNormGrad",
    "LayerNormGradExt",
    "LayerNormGradGrad",
    "LayerNormGradV3",
    "RmsNormGrad",
]


class BiasAddGrad(Backward):
    """The gradient of a bias: the sum over all axes but that of channels.

    Args:
        data_format: "NCHW", "NHWC" or "NCDHW".

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.backward import BiasAddGrad
        >>> print(BiasAddGrad()(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [4. 6.]
    """

    options: ClassVar[dict[str, Any]] = {"data_format": "NCHW"}

    def compute(self, dout: Tensor) -> Tensor:
        channels = dout.ndim - 1 if self.data_format == "NHWC" else 1
        return dout.sum(axis=tuple(i for i in range(dout.ndim) if i != channels))


def _normed(x: Tensor, mean: Tensor, rstd: Tensor) -> Tensor:
    """What a norm makes of x before weight and bias."""
    return (x - mean) * rstd


def _as(saved: Tensor, computed: Tensor) -> Tensor:
    """A saved value, with the gradient of what it was computed from."""
    return saved + (computed - ops.stop_gradient(computed))


def _norm_grad(scaled: Tensor, normed: Tensor, rstd: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The gradient of x, of that of its normed values."""
    return rstd * (scaled - scaled.mean(axes, keep_dims=True) - normed * (scaled * normed).mean(axes, keep_dims=True))


class LayerNormGrad(Backward):
    """The gradients of LayerNorm with respect to x, gamma and beta, from the saved variance and mean."""

    options: ClassVar[dict[str, Any]] = {"begin_norm_axis": 1, "begin_params_axis": 1}
    epsilon = 1e-12

    def _rstd(self, variance: Tensor) -> Tensor:
        return ops.rsqrt(variance + self.epsilon)

    def compute(self, x: Tensor, dy: Tensor, variance: Tensor, mean: Tensor, gamma: Tensor) -> tuple[Tensor, ...]:
        axes = tuple(range(self.begin_norm_axis % x.ndim, x.ndim))
        ahead = tuple(range(self.begin_params_axis % x.ndim))
        saved = (*x.shape[: axes[0]], *(1 for _ in axes))
        rstd = self._rstd(ops.reshape(variance, saved))
        normed = _normed(x, ops.reshape(mean, saved), rstd)
        dx = _norm_grad(dy * gamma, normed, rstd, axes)
        return dx, (dy * normed).sum(axis=ahead), dy.sum(axis=ahead)


class LayerNormGradV3(LayerNormGrad):
    """The gradients of LayerNormV3 with respect to x, gamma and beta: `variance` is 1 over the saved deviation."""

    def _rstd(self, variance: Tensor) -> Tensor:
        return variance


class LayerNormGradExt(Backward):
    """The gradients of `layer_norm` with respect to input, weight and bias; `variance` is 1 over the deviation."""

    def compute(
        self,
        dy: Tensor,
        x: Tensor,
        normalized_shape: Any,
        mean: Tensor,
        variance: Tensor,
        gamma: Tensor,
        beta: Tensor,
        output_mask: Any = (1, 1, 1),
    ) -> tuple[Tensor | None, ...]:
        begin = x.ndim - len(normalized_shape)
        found = LayerNormGradV3(begin, begin)(x, dy, variance, mean, gamma)
        return tuple(g if wanted else None for g, wanted in zip(found, output_mask))


class LayerNormGradGrad(Backward):
    """The gradients of LayerNormGrad with respect to x, dy and gamma."""

    options: ClassVar[dict[str, Any]] = {"begin_norm_axis": 1, "begin_params_axis": 1}

    def compute(
        self,
        x: Tensor,
        dy: Tensor,
        variance: Tensor,
        mean: Tensor,
        gamma: Tensor,
        d_dx: Tensor,
        d_dg: Tensor,
        d_db: Tensor,
    ) -> tuple[Tensor, ...]:
        axes = tuple(range(self.begin_norm_axis % x.ndim, x.ndim))
        ahead = tuple(range(self.begin_params_axis % x.ndim))
        saved = (*x.shape[: axes[0]], *(1 for _ in axes))

        def first(x: Tensor, dy: Tensor, gamma: Tensor) -> tuple[Tensor, ...]:
            apart = x - _as(ops.reshape(mean, saved), x.mean(axes, keep_dims=True))
            spread = _as(ops.reshape(variance, saved), (apart * apart).mean(axes, keep_dims=True))
            rstd = ops.rsqrt(spread + LayerNormGrad.epsilon)
            normed = apart * rstd
            return (
                _norm_grad(dy * gamma, normed, rstd, axes),
                (dy * normed).sum(axis=ahead),
                dy.sum(axis=ahead),
            )

        return tuple(self.through(first, [x, dy, gamma], (d_dx, d_dg, d_db)))


class RmsNormGrad(Backward):
    """The gradients of RmsNorm with respect to x and gamma."""

    def compute(self, dy: Tensor, x: Tensor, rstd: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor]:
        axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
        normed, scaled = x * rstd, dy * gamma
        dx = rstd * (scaled - normed * (scaled * normed).mean(axes, keep_dims=True))
        return dx, (dy * normed).sum(axis=tuple(range(axes[0]))) if axes[0] else dy * normed


class _ChannelNorm:
    """Where the channels of an image are, and their sums."""

    def __init__(self, rank: int, data_format: str) -> None:
        self.channel = rank - 1 if data_format == "NHWC" else 1
        self.axes = tuple(i for i in range(rank) if i != self.channel)
        self.rank = rank

    def spread(self, values: Tensor) -> Tensor:
        """A value per channel in the image's dimensions."""
        return ops.reshape(values, tuple(-1 if i == self.channel else 1 for i in range(self.rank)))


def _batch_norm_grads(
    dout: Tensor, x: Tensor, scale: Tensor, mean: Tensor, rstd: Tensor, over: _ChannelNorm, trains: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, scale and bias of a norm of each channel."""
    normed = (x - over.spread(mean)) * over.spread(rstd)
    scaled = dout * over.spread(scale)
    dx = _norm_grad(scaled, normed, over.spread(rstd), over.axes) if trains else scaled * over.spread(rstd)
    return dx, (dout * normed).sum(axis=over.axes), dout.sum(axis=over.axes)


class BatchNormGrad(Backward):
    """The gradients of BatchNorm with respect to x, scale and bias, from the saved mean and variance."""

    options: ClassVar[dict[str, Any]] = {"is_training": False, "epsilon": 1e-5, "data_format": "NCHW"}

    def compute(
        self, dout: Tensor, x: Tensor, scale: Tensor, saved_mean: Tensor, saved_variance: Tensor, reserve: Any = None
    ) -> tuple[Tensor, ...]:
        over = _ChannelNorm(x.ndim, self.data_format)
        rstd = ops.rsqrt(saved_variance + self.epsilon)
        return _batch_norm_grads(dout, x, scale, saved_mean, rstd, over, self.is_training)


class BatchNormGradExt(Backward):
    """The gradients of `batch_norm` with respect to input, weight and bias."""

    options: ClassVar[dict[str, Any]] = {"training": False, "eps": 1e-5}

    def compute(
        self,
        dout: Tensor,
        input: Tensor,
        weight: Tensor | None = None,
        running_mean: Tensor | None = None,
        running_var: Tensor | None = None,
        saved_mean: Tensor | None = None,
        saved_rstd: Tensor | None = None,
        output_mask: Any = (1, 1, 1),
    ) -> tuple[Tensor | None, ...]:
        over = _ChannelNorm(input.ndim, "NCHW")
        mean, rstd = (saved_mean, saved_rstd) if self.training else (running_mean, ops.rsqrt(running_var + self.eps))
        scale = ops.ones((input.shape[1],), input.dtype) if weight is None else weight
        found = _batch_norm_grads(dout, input, scale, mean, rstd, over, self.training)
        return tuple(g if wanted else None for g, wanted in zip(found, output_mask))


class BatchNormGradGrad(Backward):
    """The gradients of BatchNormGrad with respect to x, dy and scale."""

    options: ClassVar[dict[str, Any]] = {"is_training": False, "epsilon": 1e-5, "data_format": "NCHW"}

    def compute(
        self,
        x: Tensor,
        dy: Tensor,
        scale: Tensor,
        saved_mean: Tensor,
        saved_variance: Tensor,
        dout_dx: Tensor,
        dout_dscale: Tensor,
        dout_dbias: Tensor,
    ) -> tuple[Tensor, ...]:
        over = _ChannelNorm(x.ndim, self.data_format)

        def first(x: Tensor, dy: Tensor, scale: Tensor) -> tuple[Tensor, ...]:
            mean, variance = saved_mean, saved_variance
            if self.is_training:
                mean = _as(saved_mean, x.mean(over.axes))
                apart = x - over.spread(mean)
                variance = _as(saved_variance, (apart * apart).mean(over.axes))
            rstd = ops.rsqrt(variance + self.epsilon)
            return _batch_norm_grads(dy, x, scale, mean, rstd, over, self.is_training)

        return tuple(self.through(first, [x, dy, scale], (dout_dx, dout_dscale, dout_dbias)))


class InstanceNormGrad(Backward):
    """The gradients of InstanceNorm with respect to x, gamma and beta."""

    options: ClassVar[dict[str, Any]] = {"epsilon": 0.0, "momentum": 0.1}

    def compute(
        self, dy: Tensor, x: Tensor, gamma: Tensor, save_mean: Tensor, save_variance: Tensor
    ) -> tuple[Tensor, ...]:
        axes, each = tuple(range(2, x.ndim)), (*x.shape[:2], *(1 for _ in x.shape[2:]))
        rstd = ops.rsqrt(ops.reshape(save_variance, each) + self.epsilon)
        normed = _normed(x, ops.reshape(save_mean, each), rstd)
        dx = _norm_grad(dy * ops.reshape(gamma, (1, -1, *each[2:])), normed, rstd, axes)
        return dx, (dy * normed).sum(axis=(0, *axes)), dy.sum(axis=(0, *axes))


class InstanceNormV2Grad(Backward):
    """The gradients of InstanceNormV2 with respect to x, gamma and beta, per image.

    In training `save_variance` is 1 over the deviation.
    """

    options: ClassVar[dict[str, Any]] = {"is_training": True, "epsilon": 1e-5}

    def compute(
        self,
        dy: Tensor,
        x: Tensor,
        gamma: Tensor,
        mean: Tensor,
        variance: Tensor,
        save_mean: Tensor,
        save_variance: Tensor,
    ) -> tuple[Tensor, ...]:
        axes = tuple(range(2, x.ndim))
        centre = save_mean if self.is_training else mean
        rstd = save_variance if self.is_training else ops.rsqrt(variance + self.epsilon)
        normed, scaled = _normed(x, centre, rstd), dy * gamma
        dx = _norm_grad(scaled, normed, rstd, axes) if self.is_training else scaled * rstd
        return dx, (dy * normed).sum(axis=axes, keepdims=True), dy.sum(axis=axes, keepdims=True)


class GroupNormGrad(Backward):
    """The gradients of `group_norm` with respect to input, weight and bias; `rstd` is 1 over the deviation."""

    def compute(
        self,
        dy: Tensor,
        x: Tensor,
        mean: Tensor,
        rstd: Tensor,
        gamma_opt: Tensor,
        num_groups: int,
        dx_is_require: bool = True,
        dgamma_is_require: bool = True,
        dbeta_is_require: bool = True,
    ) -> tuple[Tensor | None, ...]:
        grouped = (x.shape[0], num_groups, math.prod(x.shape[1:]) // num_groups)
        each, channels = (*mean.shape, 1), (1, -1, *(1 for _ in x.shape[2:]))
        axes = (0, *range(2, x.ndim))
        normed = _normed(ops.reshape(x, grouped), ops.reshape(mean, each), ops.reshape(rstd, each))
        scaled = ops.reshape(dy * ops.reshape(gamma_opt, channels), grouped)
        dx = ops.reshape(_norm_grad(scaled, normed, ops.reshape(rstd, each), (2,)), x.shape)
        found = dx, (dy * ops.reshape(normed, x.shape)).sum(axis=axes), dy.sum(axis=axes)
        wanted = (dx_is_require, dgamma_is_require, dbeta_is_require)
        return tuple(g if w else None for g, w in zip(found, wanted))


class L2NormalizeGrad(Backward):
    """The gradient of L2Normalize, from its input `x` and output `out`."""

    options: ClassVar[dict[str, Any]] = {"axis": 0, "epsilon": 1e-4}

    def compute(self, x: Tensor, out: Tensor, dout: Tensor) -> Tensor:
        norm = ops.sqrt(ops.maximum((x * x).sum(axis=self.axis, keepdims=True), self.epsilon))
        return (dout - out * (out * dout).sum(axis=self.axis, keepdims=True)) / norm


class LRNGrad(Backward):
    """The gradient of LRN; its output `y` is not read."""

    options: ClassVar[dict[str, Any]] = {"depth_radius": 5, "bias": 1.0, "alpha": 1.0, "beta": 0.5}

    def compute(self, grads: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.through(ops.LRN(**self.made()), [x], grads)[0]


class DropoutGrad(Backward):
    """The gradient of Dropout, from its mask."""

    options: ClassVar[dict[str, Any]] = {"keep_prob": 0.5}

    def compute(self, dy: Tensor, mask: Tensor) -> Tensor:
        return dy * ops.cast(mask, dy.dtype) / self.keep_prob


class DropoutGradExt(Backward):
    """The gradient of `dropout`, from a mask with a number per element; `p` is the chance to drop."""

    def compute(self, input: Tensor, mask: Tensor, p: float) -> Tensor:
        return input * ops.cast(mask, input.dtype) / (1 - p) if p < 1 else ops.zeros_like(input)
