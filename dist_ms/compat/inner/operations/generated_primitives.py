"""Primitives that MindSpore generates for functions in PyTorch's form: `ops.auto_generate.AddExt` and its kin.

Here the functions are what exists; each of these calls one, with its inputs in the same order: those that the
function takes by keyword only come last.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.ops.extended_names import by_name
from dist_ms.ops.primitive import Primitive

# Their functions have the same name, in small letters.
_ALIKE = """
    AddExt Addbmm AddcdivExt AddcmulExt Addmm Addmv AnyExt Arange Baddbmm BincountExt BroadcastToView Chunk ChunkView
    CosineEmbeddingLoss CumminExt CumsumExt DiagExt DiagonalView EinsumExt Embedding EqualExt ExpandAs
    ExpandDimsView FFT FFT2 FFTN FlattenExt Frac FullLike GatherNdExt GeluExt HFFT HFFT2 HFFTN Hardtanh
    HistcExt IFFT IFFT2 IFFTN IHFFT IHFFT2 IHFFTN IRFFT IRFFT2 IRFFTN IndexAddExt IndexSelect L1LossExt
    LogSoftmaxExt MSELossExt MeanExt MishExt Mm Mv Narrow NarrowView OnesLikeExt Outer PixelShuffle
    ProdExt RFFT RFFT2 RFFTN ScatterAddExt SelectExtView SoftplusExt SortExt SubExt SumExt Swiglu TExt Take Threshold
    TopkExt TransposeExtView TrilExt UnstackExtView ViewAs ZerosLikeExt
"""
# Those of others: "primitive=function".
_OTHERS = """
    AcosExt=acos AcoshExt=acosh AsinExt=asin AsinhExt=asinh Atan2Ext=atan2 AtanExt=atan Exp2=exp2 Log10=log10 Log2=log2
    AddScalar=add_ext SubScalar=sub_ext Muls=mul Divs=div BatchMatMulExt=bmm MatMulExt=matmul_ext
    BitwiseAndScalar=bitwise_and BitwiseAndTensor=bitwise_and BitwiseOrScalar=bitwise_or BitwiseOrTensor=bitwise_or
    BitwiseXorScalar=bitwise_xor BitwiseXorTensor=bitwise_xor BitwiseNot=bitwise_not
    EqScalar=eq LessScalar=less GreaterEqualScalar=greater_equal FloorDivScalar=floor_divide
    FmodScalar=fmod FmodTensor=fmod PowScalarTensor=pow PowTensorScalar=pow
    RemainderScalarTensor=remainder_ext RemainderTensorScalar=remainder_ext RemainderTensorTensor=remainder_ext
    XLogYScalarOther=xlogy_ext XLogYScalarSelf=xlogy LogAddExp=logaddexp LogAddExp2=logaddexp2
    ClampScalar=clamp ClampTensor=clamp MaskedFillScalar=masked_fill LeakyReLUExt=leaky_relu_ext
    MatrixInverseExt=inverse_ext IsNegInf=isneginf LerpScalar=lerp
    Max=max_ext Min=min_ext MedianExt=median_ext
    MaxDim=max_ext MinDim=min_ext MedianDim=median_ext ArgMaxExt=argmax_ext ArgMinExt=argmin_ext
    SplitTensor=split_ext SplitTensorView=split_ext SplitWithSize=split_ext SplitWithSizeView=split_ext
    RepeatInterleaveInt=repeat_interleave_ext RepeatInterleaveTensor=repeat_interleave_ext
    TraceExt=trace_ext TransposeView=permute View=reshape LinalgVectorNorm=vector_norm_ext
    FFTShift=fftshift IFFTShift=ifftshift
"""
# Those of a tensor's methods that change it in place.
_IN_PLACE = """
    InplaceMul=mul_ InplaceMuls=mul_
    InplaceDiv=div_ InplaceDivs=div_ InplaceFloor=floor_ InplaceExp=exp_ InplaceLog=log_ InplaceTanh=tanh_
    InplaceSign=sign_ InplaceZero=zero_ InplaceFillScalar=fill_ InplaceFillTensor=fill_ InplaceCopy=copy_
    InplaceMaskedFillScalar=masked_fill_ InplaceMaskedFillTensor=masked_fill_
    InplaceClampScalar=clamp_ InplaceClampTensor=clamp_ InplaceFloorDivide=floor_divide_
    InplaceFloorDivides=floor_divide_ InplaceErfinv=erfinv_ InplaceScatterAdd=scatter_add_
"""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


_FUNCTIONS = {name: _snake(name) for name in _ALIKE.split()} | _pairs(_OTHERS)
_METHODS = _pairs(_IN_PLACE)


def _primitive(name: str, function: Callable, called: str) -> type:
    parameters = [] if isinstance(function, Primitive) else list(inspect.signature(function).parameters.values())
    by_place = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    rest = not parameters or any(p.kind == p.VAR_POSITIONAL for p in parameters)
    by_word = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if rest or len(args) <= by_place:
            return function(*args, **kwargs)
        further = args[by_place:]
        if len(further) > len(by_word):
            raise TypeError(
                f"For '{name}', there must be at most {by_place + len(by_word)} inputs, but got {len(args)}."
            )
        return function(*args[:by_place], **dict(zip(by_word, further)), **kwargs)

    return type(name, (Primitive,), {"__call__": __call__, "__doc__": f"The function `{called}`, as a primitive."})


@functools.cache
def __getattr__(name: str) -> type:
    if name in _METHODS and hasattr(Tensor, _METHODS[name]):
        return _primitive(name, getattr(Tensor, _METHODS[name]), f"Tensor.{_METHODS[name]}")
    if name in _FUNCTIONS:
        return _primitive(name, by_name(_FUNCTIONS[name]), _FUNCTIONS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_FUNCTIONS, *_METHODS})
