"""Layers that collect what the second-order optimizer Thor reads.

Chen et al., "THOR, Trace-based Hardware-adaptive Layer-Oriented Natural Gradient Descent
Computation", 2021. While `thor` is true, a call stores the covariance of its inputs in
`matrix_a`, and its gradient that of the output's gradients in `matrix_g`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import complaint
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.activation import get_activation
from dist_ms.nn.layer.conv import Conv2d
from dist_ms.nn.layer.dense import Dense
from dist_ms.nn.layer.embedding import Embedding, EmbeddingLookup
from dist_ms.ops.arguments import not_of
from dist_ms.ops.convolutions.geometry import mode_padding
from dist_ms.ops.convolutions.windows import same_padding, windows
from dist_ms.ops.primitive import Primitive

__all__ = ["Conv2dThor", "DenseThor", "EmbeddingLookupThor", "EmbeddingThor"]


def _make_matrices(layer: Any, **matrices: np.ndarray) -> None:
    """Give a layer its matrices, and the hook that writes those of gradients."""
    layer.thor = True
    for name, value in matrices.items():
        setattr(layer, name, Parameter(Tensor(value.astype(np.float32)), name=name, requires_grad=False))
    layer._watch = ops.InsertGradientOf(layer.save_gradient)


def _counts(ids: Tensor, vocab_size: int) -> Tensor:
    """How often each row of a table is looked up."""
    flat = ids.asnumpy().reshape(-1)
    counts = np.bincount(flat[(flat >= 0) & (flat < vocab_size)], minlength=vocab_size)
    return Tensor(counts.astype(np.float32))


def save_gradient(self: Any, dout: Tensor) -> Tensor:
    """Store dout^T dout / len(dout) in `matrix_g` and return `dout`: a method of the layers of rows."""
    rows = ops.reshape(dout, (-1, dout.shape[-1]))
    self.matrix_g = ops.MatMul(transpose_a=True)(rows, rows) * (1.0 / dout.shape[0])
    return dout


class DenseThor(Dense):
    """A dense layer for Thor; see `Dense`, with weights of sigma 0.01 and biases of 0.

    Further parameters are `matrix_a` (in_channels, in_channels) and `matrix_g` (out_channels,
    out_channels), which start as identities and are not trained.

    Args:
        in_channels, out_channels, weight_init, bias_init, has_bias, activation: as in `Dense`.

    Inputs:
        x (Tensor): (N, in_channels).

    Outputs:
        Tensor (N, out_channels).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or a shape does not agree.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.DenseThor(3, 4)
        >>> layer(ms.ops.ones((2, 3))).shape
        (2, 4)
    """

    save_gradient = save_gradient

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        activation: Any = None,
    ) -> None:
        for name, init in (("weight_init", weight_init), ("bias_init", bias_init)):
            if init is None:
                raise TypeError(complaint(name, "DenseThor", "a Tensor, name, Initializer or number", "None"))
        if not isinstance(activation, (Cell, Primitive)):
            activation = get_activation(activation)
        super().__init__(in_channels, out_channels, weight_init, bias_init, has_bias, activation)
        _make_matrices(self, matrix_a=np.eye(in_channels), matrix_g=np.eye(out_channels))

    def construct(self, x: Tensor) -> Tensor:
        out = ops.dense(x, self.weight)
        if self.thor:
            self.matrix_a = ops.MatMul(transpose_a=True)(x, x) * (1.0 / self.in_channels)
            out = self._watch(out)
        if self.has_bias:
            out = ops.bias_add(out, self.bias)
        return self.activation(out) if self.activation_flag else out

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        return f"{text}, has_bias={self.has_bias}" if self.has_bias else text


class EmbeddingThor(Embedding):
    """An embedding layer for Thor; see `Embedding`.

    Further parameters are `matrix_a` (vocab_size,), how often each row is looked up, and `matrix_g`
    (embedding_size, embedding_size); both start as zeros and are not trained.

    Args:
        vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx: as in
            `Embedding`. With `use_one_hot` nothing is collected.

    Inputs:
        ids (Tensor): int32 or int64, any shape.

    Outputs:
        Tensor of the shape of `ids` with `embedding_size` appended.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.EmbeddingThor(5, 4)
        >>> layer(ms.Tensor([[1, 2, 2]])).shape
        (1, 3, 4)
        >>> print(layer.matrix_a.asnumpy())
        [0. 1. 2. 0. 0.]
    """

    save_gradient = save_gradient

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = mstype.float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__(vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx)
        _make_matrices(self, matrix_a=np.zeros(vocab_size), matrix_g=np.zeros((embedding_size, embedding_size)))

    def construct(self, ids: Tensor) -> Tensor:
        not_of(ids, "BHIL", "ids", self.cls_name)
        if self.use_one_hot or not self.thor:
            return super().construct(ids)
        self.matrix_a = _counts(ids, self.vocab_size)
        rows = super().construct(ops.reshape(ids, (-1,)))
        return ops.reshape(self._watch(rows), (*ids.shape, self.embedding_size))


class EmbeddingLookupThor(EmbeddingLookup):
    """An embedding layer for Thor with a float16 table; see `EmbeddingLookup`.

    Further parameters are `matrix_a` (vocab_size,), how often each row is looked up, and `matrix_g`
    (embedding_size, embedding_size); both start as zeros and are not trained. As in MindSpore, they
    are written with target "DEVICE" only.

    Args:
        vocab_size, embedding_size, param_init, target, slice_mode, manual_shapes, max_norm, sparse: as in
            `EmbeddingLookup`.

    Inputs:
        indices (Tensor): int32 or int64, any shape.

    Outputs:
        Tensor float16 of the shape of `indices` with `embedding_size` appended.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an argument is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.EmbeddingLookupThor(5, 4)(ms.Tensor([[1, 2]])).dtype
        mindspore.float16
    """

    save_gradient = save_gradient

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
    ) -> None:
        super().__init__(
            vocab_size, embedding_size, param_init, target, slice_mode, manual_shapes, max_norm, sparse, mstype.float16
        )
        _make_matrices(self, matrix_a=np.zeros(vocab_size), matrix_g=np.zeros((embedding_size, embedding_size)))

    def construct(self, indices: Tensor) -> Tensor:
        rows = super().construct(indices)
        if self.target == "CPU" or not self.thor:
            return rows
        self.matrix_a = _counts(indices, self.vocab_size)
        return self._watch(rows)


class Conv2dThor(Conv2d):
    """A convolution for Thor; see `Conv2d`, with weights of sigma 0.01 and biases of 0.

    Further parameters are `matrix_a_cov` (k, k) and `matrix_g_cov` (out_channels, out_channels), which are not trained;
    k is the number of elements of a filter. `a_normalizer` and `g_normalizer` stay 1, as both are means. A call
    stores the mean over images of the sum over windows of their elements' products (Grosse and Martens, "A
    Kronecker-factored Approximate Fisher Matrix for Convolution Layers", 2016), and its gradient those of the
    output's gradients, over the number of windows.

    Args:
        in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, has_bias, weight_init, bias_init:
            as in `Conv2d`.
        group: 1.

    Inputs:
        x (Tensor): (N, C, H, W).

    Outputs:
        Tensor (N, out_channels, H', W').

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or `group` is not 1.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.Conv2dThor(3, 4, 3)
        >>> layer(ms.ops.ones((2, 3, 8, 8))).shape, layer.matrix_a_cov.shape
        ((2, 4, 8, 8), (27, 27))
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
        )
        if group != 1:
            raise ValueError(complaint("group", "Conv2dThor", "1", group))
        rows = in_channels * math.prod(self.kernel_size)
        matrices = {"matrix_a_cov": np.zeros((rows, rows)), "matrix_g_cov": np.zeros((out_channels, out_channels))}
        _make_matrices(self, a_normalizer=np.ones(1), g_normalizer=np.ones(1), **matrices)

    def _store_inputs(self, x: Tensor) -> None:
        """The products of the elements of windows."""
        pads = mode_padding(self.pad_mode, self.padding, 2, "padding", "Conv2dThor")
        if pads is None:
            pads = same_padding(x.shape[2:], self.kernel_size, self.stride, self.dilation)
        view = windows(x.asnumpy(), self.kernel_size, self.stride, pads, self.dilation)
        rows = np.moveaxis(view, 1, 3).reshape(-1, self.matrix_a_cov.shape[0])
        self.matrix_a_cov = Tensor((rows.T @ rows / x.shape[0]).astype(np.float32))

    def save_gradient(self, dout: Tensor) -> Tensor:
        """Store the mean over images and windows of the products of the gradients, times the images."""
        rows = np.moveaxis(dout.asnumpy(), 1, 3).reshape(-1, self.out_channels)
        self.matrix_g_cov = Tensor((rows.T @ rows / len(rows)).astype(np.float32))
        return dout

    def construct(self, x: Tensor) -> Tensor:
        if not self.thor:
            return super().construct(x)
        self._store_inputs(x)
        return self._watch(super().construct(x))

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}, bias_init={self.bias_init}"
        )
