"""Normalisation layers: batch, layer, group and instance norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import Kept
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import (
    check_bool,
    check_float,
    check_float_range,
    check_number,
    check_number_range,
    check_positive_int,
    check_type,
    complaint,
)
from dist_ms.common.error_classes import bools, reads, scalars
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import scalar, tensor
from dist_ms.ops.convolutions.geometry import check_data_format
from dist_ms.ops.layers.batch_norm import BatchNorm, follow
from dist_ms.ops.layers.group_norm import group_norm, normalised_instances
from dist_ms.ops.layers.layer_norm import LayerNorm as LayerNormPrimitive
from dist_ms.ops.shaping.reshaping import reshape

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
]


def check_features(value: Any, owner: str) -> int:
    """Require a number of channels of 1 or more."""
    if check_type(value, "num_features", owner, int) < 1:
        raise ValueError(complaint("num_features", owner, "an int of 1 or more", value))
    return value


class _BatchNorm(Cell):
    """What batch normalisation layers share.

    Parameters: `moving_mean`, `moving_variance` (no gradient), `gamma`, `beta`, all (num_features,).
    """

    _ranks: tuple = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.num_features = check_features(num_features, owner)
        self.eps = check_number(eps, "eps", owner)
        momentum = check_number_range(scalar(momentum), "momentum", owner, 0, 1)
        if isinstance(dtype, mstype.Number) and dtype not in mstype.float_type:
            raise TypeError(complaint("dtype", owner, "a float dtype", dtype))
        # The weight of the batch, as MindSpore keeps it; the argument is the weight of the past.
        self.momentum = 1 - momentum
        check_bool(affine, "affine", owner)
        if use_batch_statistics is not None and not isinstance(use_batch_statistics, bool):
            raise ValueError(complaint("use_batch_statistics", owner, "a bool or None", use_batch_statistics))
        self.use_batch_statistics = use_batch_statistics
        self.format = check_data_format(data_format, owner, "NCHW")
        self.moving_mean = Parameter(initializer(moving_mean_init, num_features, dtype), "mean", False)
        self.moving_variance = Parameter(initializer(moving_var_init, num_features, dtype), "variance", False)
        self.gamma = Parameter(initializer(gamma_init, num_features, dtype), "gamma", affine)
        self.beta = Parameter(initializer(beta_init, num_features, dtype), "beta", affine)
        self.bn_train = BatchNorm(True, eps, float(self.momentum))
        self.bn_infer = BatchNorm(False, eps)

    def construct(self, x: Tensor) -> Tensor:
        if not isinstance(x, Tensor) or x.ndim not in self._ranks:
            shape = tensor(x, "x", self.cls_name).shape
            raise ValueError(
                f"For '{self.cls_name}', 'x' must have {' or '.join(map(str, self._ranks))} dimensions, "
                f"but got shape {shape}."
            )
        follow = self.use_batch_statistics
        params = self._params  # the statistics are written: never those cast for mixed precision
        mean, variance = params["moving_mean"], params["moving_variance"]
        if self.training if follow is None else follow:
            return self.bn_train.trained(x, self.gamma, self.beta, mean, variance)[0]
        return self.bn_infer.normalised(x, self.gamma, self.beta, mean, variance)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={1.0 - self.momentum}, "
            f"gamma={self.gamma}, beta={self.beta}, moving_mean={self.moving_mean}, "
            f"moving_variance={self.moving_variance}"
        )


@bools("momentum")
@scalars("momentum")
class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W) per channel.

    (x - mean) / sqrt(variance + eps) gamma + beta; Ioffe and Szegedy, "Batch Normalization", 2015.
    In training the batch's mean and biased variance are used, and the moving ones follow:
    moving = momentum moving + (1 - momentum) batch, with the unbiased variance; otherwise the
    moving ones are used.

    Args:
        num_features: C.
        eps: added to the variance, in (0, 1].
        momentum: weight of the past in the moving statistics, in [0, 1].
        affine: whether gamma and beta are trained.
        gamma_init, beta_init, moving_mean_init, moving_var_init: Tensor, name, Initializer or number.
        use_batch_statistics: True or False to always or never use the batch's; None to follow
            `set_train`.
        data_format: "NCHW".
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (N, C, H, W) floats.

    Outputs:
        Tensor of the shape, dtype and memory layout of `x`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or `x` has other dimensions or channels.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.BatchNorm2d(1)(ms.Tensor([[[[2.0]]]])))
        [[[[1.99999]]]]
    """

    _ranks = (4,)


@bools("momentum")
@scalars("momentum")
class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L) per channel; see `BatchNorm2d`.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.BatchNorm1d(1).set_train()
        >>> print(layer(ms.Tensor([[1.0], [3.0]])))
        [[-0.999995]
         [ 0.999995]]
    """

    _ranks = (2, 3)


class BatchNorm3d(Cell):
    """Batch normalisation of (N, C, D, H, W) per channel; see `BatchNorm2d`.

    The parameters are those of the child cell `bn2d`, as in MindSpore.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.BatchNorm3d(2)(ms.ops.ones((1, 2, 3, 3, 3))).shape
        (1, 2, 3, 3, 3)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self.bn2d = BatchNorm2d(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            "NCHW",
            dtype,
        )

    def construct(self, x: Tensor) -> Tensor:
        shape = tensor(x, "x", "BatchNorm3d").shape
        if len(shape) != 5:
            raise ValueError(f"For 'BatchNorm3d', 'x' must have 5 dimensions, but got shape {shape}.")
        planes = reshape(x, (*shape[:2], shape[2] * shape[3], shape[4]))
        return reshape(self.bn2d(planes), shape)


@scalars("begin_norm_axis")
class LayerNorm(Cell):
    """Normalisation over the last dimensions of each sample.

    (x - mean) / sqrt(variance + epsilon) gamma + beta, biased variance; Ba, Kiros and Hinton,
    "Layer Normalization", 2016. Parameters are `gamma` and `beta` of shape `normalized_shape`.

    Args:
        normalized_shape: tuple or list of the lengths of gamma and beta.
        begin_norm_axis: the first dimension normalised over.
        begin_params_axis: the first dimension of gamma and beta.
        gamma_init, beta_init: Tensor, name, Initializer or number.
        epsilon: added to the variance.
        dtype: element type of the parameters.

    Inputs:
        input_x (Tensor): floats, of the shape `normalized_shape` from `begin_params_axis` on.

    Outputs:
        Tensor of the shape and dtype of `input_x`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.LayerNorm((2,), epsilon=0.0)(ms.Tensor([[1.0, 3.0]])))
        [[-1.  1.]]
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(complaint("normalized_shape", "LayerNorm", "a tuple or list of ints", normalized_shape))
        if not normalized_shape:
            raise ValueError(complaint("normalized_shape", "LayerNorm", "of at least one length", normalized_shape))
        self.normalized_shape = normalized_shape
        self.begin_norm_axis, self.begin_params_axis = begin_norm_axis, begin_params_axis
        self.epsilon = epsilon
        self.gamma = Parameter(initializer(gamma_init, normalized_shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, normalized_shape, dtype), name="beta")
        self.layer_norm = LayerNormPrimitive(begin_norm_axis, begin_params_axis, epsilon)

    def construct(self, input_x: Tensor) -> Tensor:
        return self.layer_norm.normalised(input_x, self.gamma, self.beta)

    def extend_repr(self) -> str:
        # "gamma" without "=": as MindSpore prints it.
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma{self.gamma}, beta={self.beta}"
        )


@reads(x="dtype")
class GroupNorm(Cell):
    """Normalisation of groups of channels of each sample; see `ops.group_norm`.

    Wu and He, "Group Normalization", 2018. Parameters are `gamma` and `beta` (num_channels,).

    Args:
        num_groups: number of groups, divides `num_channels`.
        num_channels: C.
        eps: added to the variance, a float.
        affine: whether gamma and beta are trained.
        gamma_init, beta_init: Tensor, name, Initializer or number.
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (N, C, ...) floats.

    Outputs:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or `x` has other channels.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.GroupNorm(1, 2)(ms.Tensor([[[1.0], [3.0]]])))
        [[[-0.999995]
          [ 0.999995]]]
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self.num_groups = check_positive_int(num_groups, "num_groups", "GroupNorm")
        self.num_channels = check_positive_int(num_channels, "num_channels", "GroupNorm")
        if num_channels % num_groups:
            raise ValueError(
                complaint("num_channels", "GroupNorm", f"a multiple of 'num_groups' {num_groups}", num_channels)
            )
        self.eps = check_float(eps, "eps", "GroupNorm")
        self.affine = check_bool(affine, "affine", "GroupNorm")
        self.gamma = Parameter(initializer(gamma_init, num_channels, dtype), "gamma", affine)
        self.beta = Parameter(initializer(beta_init, num_channels, dtype), "beta", affine)

    def construct(self, x: Tensor) -> Tensor:
        gamma, beta = self.gamma, self.beta
        if tensor(x, "x", "GroupNorm").ndim < 2:
            raise RuntimeError(f"For 'GroupNorm', 'x' must have at least 2 dimensions, but got shape {x.shape}.")
        if gamma._element != x._element:
            gamma, beta = ops.cast(gamma, x.dtype), ops.cast(beta, x.dtype)
        return group_norm(x, self.num_groups, gamma, beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """What instance normalisation layers share; the statistics are always those of the input."""

    _rank = 0

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.num_features = check_features(num_features, owner)
        self.eps = check_float_range(eps, "eps", owner, 0, 1, "(]")
        self.momentum = check_float_range(momentum, "momentum", owner, 0, 1)
        check_bool(affine, "affine", owner)
        for name, init in (("gamma_init", gamma_init), ("beta_init", beta_init)):
            if isinstance(init, Tensor) and init.dtype != mstype.float32:
                raise TypeError(complaint(name, owner, "of dtype Float32 if it is a Tensor", init.dtype))
        self.moving_mean = Parameter(initializer("zeros", num_features, dtype), "mean", False)
        self.moving_variance = Parameter(initializer("ones", num_features, dtype), "variance", False)
        self.gamma = Parameter(initializer(gamma_init, num_features, dtype), "gamma", affine)
        self.beta = Parameter(initializer(beta_init, num_features, dtype), "beta", affine)

    def construct(self, x: Tensor) -> Tensor:
        if tensor(x, "x", self.cls_name).ndim != self._rank:
            raise ValueError(f"For '{self.cls_name}', 'x' must have {self._rank} dimensions, but got shape {x.shape}.")
        kept = Kept()
        out = normalised_instances(x, self.gamma, self.beta, self.eps, kept)
        if self.training and kept.value is not None:
            self._follow(*kept.value, math.prod(x.shape[2:]))
        return out

    def _follow(self, mean: np.ndarray, rstd: np.ndarray, count: int) -> None:
        """Move the statistics toward the means over the samples, unbiased for the variance, of `count` numbers each."""
        wide = rstd.astype(np.float64)
        variance = np.maximum(1 / (wide * wide) - self.eps, 0) * (count / max(count - 1, 1))
        for name, batch in (("moving_mean", mean.astype(np.float64)), ("moving_variance", variance)):
            follow(self._params[name], batch.reshape(-1, self.num_features).mean(axis=0), self.momentum)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


class InstanceNorm2d(_InstanceNorm):
    """Normalisation of each channel of each sample of (N, C, H, W).

    Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", 2016. Parameters: `moving_mean`,
    `moving_variance` (followed in training, not used), `gamma`, `beta`.

    Args:
        num_features: C.
        eps: added to the variance.
        momentum: weight of the batch in the moving statistics, in [0, 1].
        affine: whether gamma and beta are trained.
        gamma_init, beta_init: Tensor, name, Initializer or number.
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (N, C, H, W) floats.

    Outputs:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or `x` has other dimensions or channels.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.InstanceNorm2d(1)(ms.Tensor([[[[1.0, 3.0]]]])))
        [[[[-0.999995  0.999995]]]]
    """

    _rank = 4


class InstanceNorm1d(_InstanceNorm):
    """Normalisation of each channel of each sample of (N, C, L); see `InstanceNorm2d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.InstanceNorm1d(1)(ms.Tensor([[[1.0, 3.0]]])))
        [[[-0.999995  0.999995]]]
    """

    _rank = 3


class InstanceNorm3d(_InstanceNorm):
    """Normalisation of each channel of each sample of (N, C, D, H, W); see `InstanceNorm2d`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.InstanceNorm3d(2)(ms.ops.ones((1, 2, 3, 3, 3))).shape
        (1, 2, 3, 3, 3)
    """

    _rank = 5
