"""Layers whose weights are distributions: each call draws them anew, and the loss has the divergence from a prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_positive_int, check_type
from dist_ms.common.initializer import Normal as NormalValues
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer import Conv2d, get_activation
from dist_ms.nn.probability.distribution import Normal

__all__ = ["ConvReparam", "DenseLocalReparam", "DenseReparam", "NormalPosterior", "NormalPrior", "WithBNNLossCell"]


class NormalPrior(Cell):
    """A normal distribution with a fixed mean and standard deviation.

    Args:
        dtype: its type.
        mean: its mean.
        std: its standard deviation.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.probability.bnn_layers import NormalPrior
        >>> print(NormalPrior(std=1.0)("mean"))
        0.0
    """

    def __init__(self, dtype: Any = np.float32, mean: float = 0, std: float = 0.1) -> None:
        super().__init__()
        self.normal = Normal(mean, std, dtype=_type_of(dtype))

    def construct(self, *inputs: Any) -> Any:
        """Call a method of the distribution by its name."""
        return self.normal(*inputs)


class NormalPosterior(Cell):
    """A normal distribution per weight, with a trained mean and standard deviation.

    The standard deviation is softplus of a Parameter, plus 1e-6.

    Args:
        name: the first part of the Parameters' names.
        shape: shape of the weights.
        dtype: their type.
        loc_mean: mean of the first means.
        loc_std: standard deviation of the first means.
        untransformed_scale_mean: mean of what the standard deviations are first made of.
        untransformed_scale_std: standard deviation of the same.

    Raises:
        TypeError: if `name` is no str or `shape` no tuple or list.

    Examples:
        >>> from dist_ms.nn.probability.bnn_layers import NormalPosterior
        >>> NormalPosterior("w", (2, 3))("sample").shape
        (2, 3)
    """

    def __init__(
        self,
        name: str,
        shape: tuple | list,
        dtype: Any = np.float32,
        loc_mean: float = 0,
        loc_std: float = 0.1,
        untransformed_scale_mean: float = -5,
        untransformed_scale_std: float = 0.1,
    ) -> None:
        super().__init__()
        check_type(name, "name", "NormalPosterior", (str,))
        check_type(shape, "shape", "NormalPosterior", (tuple, list))
        dtype = _type_of(dtype)
        first = initializer(NormalValues(loc_std, loc_mean), shape, dtype)
        self.mean = Parameter(first, name=f"{name}_mean")
        first = initializer(NormalValues(untransformed_scale_std, untransformed_scale_mean), shape, dtype)
        self.untransformed_std = Parameter(first, name=f"{name}_untransformed_std")
        self.normal = Normal(dtype=dtype)

    def std_trans(self, std_pre: Tensor) -> Tensor:
        """Positive values: softplus, plus 1e-6."""
        return ops.log1p(ops.exp(std_pre)) + 1e-6

    def construct(self, *inputs: Any) -> Any:
        """Call a method of the distribution by its name, for these weights."""
        if inputs == ("sample",):
            inputs = ("sample", ())
        return self.normal(*inputs, self.mean, self.std_trans(self.untransformed_std))


def normal_posterior(name: str, shape: tuple) -> NormalPosterior:
    """A NormalPosterior with the usual first values."""
    return NormalPosterior(name=name, shape=shape)


def _type_of(dtype: Any) -> Any:
    return mstype.float32 if dtype is np.float32 else dtype


def _made(maker: Any) -> Cell:
    return maker() if isinstance(maker, type) else maker


def _distribute(layer: Any, shape: tuple, bias: int, priors: tuple[Any, Any], posteriors: tuple[Any, Any]) -> None:
    """Give a layer priors and posteriors of a weight and of a bias with a number of elements."""
    layer.weight_prior = _made(priors[0])
    layer.weight_posterior = posteriors[0](shape=shape, name="bnn_weight")
    layer.weight_posterior.mean.name = "weight_posterior.mean"
    layer.weight_posterior.untransformed_std.name = "weight_posterior.untransformed_std"
    if bias:
        layer.bias_prior = _made(priors[1])
        layer.bias_posterior = posteriors[1](shape=(bias,), name="bnn_bias")
        layer.bias_posterior.mean.name = "bias_posterior.mean"
        layer.bias_posterior.untransformed_std.name = "bias_posterior.untransformed_std"


def compute_kl_loss(self: Any) -> Tensor:
    """The divergences of the posteriors from the priors, as MindSpore takes them: KL(prior || posterior)."""
    pairs = [(self.weight_prior, self.weight_posterior)]
    if self.has_bias:
        pairs.append((self.bias_prior, self.bias_posterior))
    parts = [p("kl_loss", "Normal", q("mean"), q("sd")).sum() for p, q in pairs]
    return sum(parts[1:], parts[0])


class DenseReparam(Cell):
    """A dense layer that draws its weight and bias at each call.

    Args:
        in_channels: size of the inputs' last dimension.
        out_channels: size of the outputs' last dimension.
        activation: name or Cell of what follows.
        has_bias: whether there is a bias.
        weight_prior_fn: makes the prior of the weight.
        weight_posterior_fn: makes the posterior of the weight from `name` and `shape`.
        bias_prior_fn: makes the prior of the bias.
        bias_posterior_fn: makes the posterior of the bias.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.probability.bnn_layers import DenseReparam
        >>> layer = DenseReparam(3, 2)
        >>> layer(ms.ops.ones((4, 3))).shape, bool(layer.compute_kl_loss() > 0)
        ((4, 2), True)
    """

    weight_posterior: Cell
    bias_posterior: Cell
    compute_kl_loss = compute_kl_loss

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        activation: str | Cell | None = None,
        has_bias: bool = True,
        weight_prior_fn: Any = NormalPrior,
        weight_posterior_fn: Callable[..., Any] = normal_posterior,
        bias_prior_fn: Any = NormalPrior,
        bias_posterior_fn: Callable[..., Any] = normal_posterior,
    ) -> None:
        super().__init__()
        kind = type(self).__name__
        check_positive_int(in_channels, "in_channels", kind)
        check_positive_int(out_channels, "out_channels", kind)
        check_bool(has_bias, "has_bias", kind)
        self.in_channels, self.out_channels, self.has_bias = in_channels, out_channels, has_bias
        priors, posteriors = (weight_prior_fn, bias_prior_fn), (weight_posterior_fn, bias_posterior_fn)
        _distribute(self, (out_channels, in_channels), has_bias and out_channels, priors, posteriors)
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def construct(self, x: Tensor) -> Tensor:
        """Draw the weights and apply them."""
        return self._cell_finish(ops.matmul(x, self.weight_posterior("sample").T))

    def _cell_finish(self, out: Tensor) -> Tensor:
        if self.has_bias:
            out = out + self.bias_posterior("sample")
        return out if self.activation is None else self.activation(out)


class DenseLocalReparam(DenseReparam):
    """A dense layer that draws, of each row, the products with its weight instead of the weight.

    The arguments are those of DenseReparam.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.probability.bnn_layers import DenseLocalReparam
        >>> DenseLocalReparam(3, 2)(ms.ops.ones((4, 3))).shape
        (4, 2)
    """

    def construct(self, x: Tensor) -> Tensor:
        """Draw the products and add the bias."""
        mean = ops.matmul(x, self.weight_posterior("mean").T)
        spread = ops.sqrt(ops.matmul(ops.square(x), ops.square(self.weight_posterior("sd")).T))
        return self._cell_finish(mean + spread * ops.standard_normal(mean.shape))


class WithBNNLossCell(Cell):
    """A network and its loss: `dnn_factor` times the loss, plus `bnn_factor` times the divergences of its layers.

    Args:
        backbone: the network.
        loss_fn: the loss.
        dnn_factor: of the loss.
        bnn_factor: of the divergences.

    Raises:
        TypeError: if a factor is no number.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.probability.bnn_layers import DenseReparam, WithBNNLossCell
        >>> net = WithBNNLossCell(DenseReparam(3, 2), ms.nn.MSELoss(), 1.0, 0.01)
        >>> net(ms.ops.ones((4, 3)), ms.ops.ones((4, 2))).shape
        ()
    """

    def __init__(self, backbone: Cell, loss_fn: Cell, dnn_factor: float = 1, bnn_factor: float = 1) -> None:
        super().__init__(auto_prefix=False)
        for name, factor in (("dnn_factor", dnn_factor), ("bnn_factor", bnn_factor)):
            check_type(factor, name, "WithBNNLossCell", (int, float))
        self._backbone, self._loss_fn = backbone, loss_fn
        self.dnn_factor, self.bnn_factor = dnn_factor, bnn_factor

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone

    def construct(self, x: Tensor, label: Tensor) -> Tensor:
        """The sum of both parts of the loss."""
        loss = self._loss_fn(self._backbone(x), label) * self.dnn_factor
        for _, cell in self._backbone.cells_and_names():
            if isinstance(cell, (DenseReparam, ConvReparam)):
                loss = loss + cell.compute_kl_loss() * self.bnn_factor
        return loss


class ConvReparam(Conv2d):
    """A convolution that draws its weight and bias at each call.

    The arguments up to `has_bias` are those of Conv2d, the others those of DenseReparam.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.probability.bnn_layers import ConvReparam
        >>> ConvReparam(1, 2, 3)(ms.ops.ones((1, 1, 4, 4))).shape
        (1, 2, 4, 4)
    """

    compute_kl_loss = compute_kl_loss

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple,
        stride: int | tuple = 1,
        pad_mode: str = "same",
        padding: int | tuple = 0,
        dilation: int | tuple = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_prior_fn: Any = NormalPrior,
        weight_posterior_fn: Callable[..., Any] = normal_posterior,
        bias_prior_fn: Any = NormalPrior,
        bias_posterior_fn: Callable[..., Any] = normal_posterior,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias=has_bias
        )
        priors, posteriors = (weight_prior_fn, bias_prior_fn), (weight_posterior_fn, bias_posterior_fn)
        _distribute(self, self.weight.shape, has_bias and out_channels, priors, posteriors)

    def construct(self, x: Tensor) -> Tensor:
        """Draw the weights and apply them."""
        out = ops.conv2d(
            x,
            self.weight_posterior("sample"),
            None,
            self.stride,
            self.pad_mode,
            self.padding,
            self.dilation,
            self.group,
        )
        return out + self.bias_posterior("sample").reshape(1, -1, 1, 1) if self.has_bias else out
