"""Batch normalisation layers."""

from __future__ import annotations

from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_number, check_number_range, check_type, complaint
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import tensor
from dist_ms.ops.batch_norm import BatchNorm
from dist_ms.ops.geometry import check_data_format

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]


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

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True,
                 gamma_init: Any = "ones", beta_init: Any = "zeros", moving_mean_init: Any = "zeros",
                 moving_var_init: Any = "ones", use_batch_statistics: bool | None = None, data_format: str = "NCHW",
                 dtype: Any = mstype.float32) -> None:
        super().__init__()
        owner = self.cls_name
        self.num_features = check_features(num_features, owner)
        self.eps = check_number(eps, "eps", owner)
        check_number_range(momentum, "momentum", owner, 0, 1)
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
        self.bn_train = BatchNorm(True, eps, self.momentum)
        self.bn_infer = BatchNorm(False, eps)

    def construct(self, x: Tensor) -> Tensor:
        if tensor(self.cls_name, x, "x").ndim not in self._ranks:
            raise ValueError(f"For '{self.cls_name}', 'x' must have {' or '.join(map(str, self._ranks))} dimensions, "
                             f"but got shape {x.shape}.")
        follow = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        op = self.bn_train if follow else self.bn_infer
        params = self._params      # the statistics are written: never those cast for mixed precision
        return op.normalised(x, self.gamma, self.beta, params["moving_mean"], params["moving_variance"])[0]

    def extend_repr(self) -> str:
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={1.0 - self.momentum}, "
                f"gamma={self.gamma}, beta={self.beta}, moving_mean={self.moving_mean}, "
                f"moving_variance={self.moving_variance}")


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

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True,
                 gamma_init: Any = "ones", beta_init: Any = "zeros", moving_mean_init: Any = "zeros",
                 moving_var_init: Any = "ones", use_batch_statistics: bool | None = None,
                 dtype: Any = mstype.float32) -> None:
        super().__init__()
        self.bn2d = BatchNorm2d(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init,
                                moving_var_init, use_batch_statistics, "NCHW", dtype)

    def construct(self, input_x: Tensor) -> Tensor:
        shape = tensor("BatchNorm3d", input_x, "input_x").shape
        if len(shape) != 5:
            raise ValueError(f"For 'BatchNorm3d', 'input_x' must have 5 dimensions, but got shape {shape}.")
        from dist_ms.ops.reshaping import reshape

        planes = reshape(input_x, (*shape[:2], shape[2] * shape[3], shape[4]))
        return reshape(self.bn2d(planes), shape)
