"""Attach to Tensor the methods that are a function with the tensor as its first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor

# Methods with the name and the further arguments of a function of `ops`.
_SAME = """
abs absolute acos acosh addbmm addcdiv addcmul addmm addmv addr adjoint allclose amax amin aminmax angle
approximate_equal arccos arccosh arcsin arcsinh arctan arctan2 arctanh argwhere asin asinh atan atan2 atanh
bernoulli bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm
ceil cholesky cholesky_inverse cholesky_solve clamp clip conj copysign cos cosh cov cross cummax cummin cumprod
deg2rad det diag diag_embed diagflat diagonal_scatter diff digamma div divide dot dsplit
eigvals eq equal erf erfc erfinv exp exp2 expand_dims expm1
fills fliplr flipud float_power floor floor_divide fmax fmin fmod frac
gather_elements gather_nd gcd ge geqrf ger greater greater_equal gt
heaviside histc hsplit hypot i0 igamma igammac imag index_fill index_put inner inplace_update inv inverse invert
is_complex is_floating_point isclose isfinite isinf isnan isneginf isposinf isreal
lcm ldexp le lerp less less_equal lgamma log log10 log1p log2 log_matrix_determinant logaddexp logaddexp2
logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logsumexp lstsq lt lu_solve
masked_fill masked_scatter masked_select matmul matrix_determinant matrix_power maximum minimum mm
moveaxis movedim msort mul multinomial multiply mvlgamma
nan_to_num nanmean nanmedian nanquantile ne neg negative nextafter nonzero norm not_equal
orgqr outer positive pow qr quantile rad2deg random_categorical ravel real reciprocal renorm
reverse reverse_sequence roll rot90 round rsqrt
select_scatter sgn sign signbit sin sinc sinh slice_scatter slogdet sqrt square subtract svd swapaxes swapdims
t tan tanh tensor_split top_k tril triu true_divide trunc type_as
unique_consecutive unique_with_pad unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsqueeze
view_as vsplit xdivy xlogy
sigmoid softmax hardshrink
""".split()

# Methods whose function has another name.
_OTHER = {
    "scatter_sub": "tensor_scatter_sub",
    "scatter_mul": "tensor_scatter_mul",
    "scatter_div": "tensor_scatter_div",
    "scatter_max": "tensor_scatter_max",
    "scatter_min": "tensor_scatter_min",
    "soft_shrink": "softshrink",
    "numel": "numel",
    "nelement": "numel",
}


def delegate(name: str, function: str) -> Callable:
    """A method that calls the function of `ops` with this name on the tensor; it is looked up when called."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return getattr(ops, function)(self, *args, **kwargs)

    method.__name__, method.__qualname__, method.delegated = name, f"Tensor.{name}", function
    method.__doc__ = f"See `dist_ms.ops.{function}`; the tensor is its first argument."
    return method


def attach() -> None:
    """Attach the methods."""
    for name in _SAME:
        setattr(Tensor, name, delegate(name, name))
    for name, function in _OTHER.items():
        if function:
            setattr(Tensor, name, delegate(name, function))


attach()
