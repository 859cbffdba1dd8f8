"""Calls of gradient primitives with small arrays, for MindSpore and dist_ms alike; see recorded.npz beside."""

from __future__ import annotations

from typing import Any

import numpy as np

CASES: list[tuple[str, dict[str, Any], tuple]] = []

r = np.random.RandomState(0)


def f(*shape):
    """Floats of both signs."""
    return r.uniform(-2, 2, shape).astype(np.float32)


def p(*shape):
    """Floats between 0 and 1."""
    return r.uniform(0.2, 0.9, shape).astype(np.float32)


def i32(*values):
    return np.array(values, np.int32)


def i64(*values):
    return np.array(values, np.int64)


def c(name, *args, **options):
    """Add a call: the primitive's name, its inputs, its options."""
    CASES.append((name, options, args))


x = f(2, 3, 4, 5)
d = f(2, 3, 4, 5)
v = f(3, 4)
dv = f(3, 4)
u = p(3, 4)
m = f(4, 6)
dm = f(4, 6)
sig = 1 / (1 + np.exp(-v))
mean4 = m.mean(1, keepdims=True)
var4 = m.var(1, keepdims=True)
gam = p(6)
xm = x.mean((0, 2, 3))
xv = x.var((0, 2, 3))
g3 = p(3)


def smax(a, ax=-1):
    e = np.exp(a - a.max(ax, keepdims=True))
    return e / e.sum(ax, keepdims=True)


c("ReluGrad", dv, v)
c("ReLU6Grad", dv, v * 4)
c("SigmoidGrad", sig, dv)
c("TanhGrad", np.tanh(v), dv)
c("GeLUGrad", dv, v, v * 0.3)
c("FastGeLUGrad", dv, v)
c("EluGrad", dv, np.where(v > 0, v, np.exp(v) - 1))
c("SiLUGrad", dv, v)
c("HSigmoidGrad", dv, v * 2)
c("HSwishGrad", dv, v * 2)
c("HShrinkGrad", dv, v)
c("HShrinkGrad", dv, v, lambd=1.0)
c("SoftShrinkGrad", dv, v)
c("SoftShrinkGrad", dv, v, lambd=1.0)
c("LogSoftmaxGrad", np.log(smax(v)), dv)
c("LogSoftmaxGrad", np.log(smax(v, 0)), dv, axis=0)
c("SoftplusGrad", dv, v)
c("LogitGrad", dv, u)
c("LogitGrad", dv, u, eps=0.3)
c("PReLUGrad", d, x, g3)
c("GluGrad", f(3, 2), v, axis=-1)
c("GluGrad", f(2, 6), m, axis=0)
c("AbsGrad", v, dv)
c("ACosGrad", u, dv)
c("AsinGrad", u, dv)
c("AtanGrad", v, dv)
c("AcoshGrad", u, dv)
c("AsinhGrad", v, dv)
c("ReciprocalGrad", v, dv)
c("InvGrad", v, dv)
c("RsqrtGrad", u, dv)
c("SqrtGrad", dv, u)
c("MaximumGrad", v, u, dv)
c("MinimumGrad", v, u, dv)
c("MaximumGrad", v, f(4), dv)
c("MinimumGrad", v, f(3, 1), dv)
c("MaximumGradGrad", v, u, dv, f(3, 4))
c("MinimumGradGrad", v, u, dv, f(3, 4))
c("MaximumGrad", i32(1, 2, 3), i32(1, 5, 0), i32(1, 1, 1))
c("MaximumGrad", np.array([1.0, 2], np.float32), np.array([1.0, 3], np.float32), np.array([1.0, 1], np.float32))
c("MinimumGrad", np.array([1.0, 2], np.float32), np.array([1.0, 3], np.float32), np.array([1.0, 1], np.float32))
c("BiasAddGrad", d)
c("BiasAddGrad", dm)
c("BiasAddGrad", f(2, 3, 4))
c("BiasAddGrad", d, data_format="NHWC")
c("LayerNormGrad", m, dm, var4, mean4, gam)
c(
    "LayerNormGrad",
    m.reshape(4, 2, 3),
    dm.reshape(4, 2, 3),
    var4.reshape(4, 1, 1),
    mean4.reshape(4, 1, 1),
    gam.reshape(2, 3),
)
c("LayerNormGrad", m, dm, var4, mean4, gam, begin_norm_axis=-1, begin_params_axis=-1)
c("LayerNormGradGrad", m, dm, var4, mean4, gam, f(4, 6), f(6), f(6))
c("BatchNormGrad", d, x, g3, xm, 1 / np.sqrt(xv + 1e-5), xv, is_training=True)
c("BatchNormGrad", d, x, g3, xm, xv, xv, is_training=False)
c("BatchNormGrad", d, x, g3, xm, xv, xv, is_training=True)
c("BatchNormGradGrad", x, d, g3, xm, 1 / np.sqrt(xv + 1e-5), f(2, 3, 4, 5), f(3), f(3), is_training=True)
c("BatchNormGradGrad", x, d, g3, xm, xv, f(2, 3, 4, 5), f(3), f(3), is_training=False)
c("L2NormalizeGrad", v, v / np.sqrt((v**2).sum(1, keepdims=True) + 1e-4), dv, axis=1)
c("L2NormalizeGrad", v, v / np.sqrt((v**2).sum(0, keepdims=True) + 1e-4), dv)
xl = x
c("LRNGrad", d, x, x * 0.7)
c("LRNGrad", d, x, x * 0.7, depth_radius=2, bias=2.0, alpha=0.1, beta=0.75)
c(
    "InstanceNormV2Grad",
    d,
    x,
    np.tile(g3[None, :, None, None], (2, 1, 1, 1)),
    np.zeros((2, 3, 1, 1), np.float32),
    np.ones((2, 3, 1, 1), np.float32),
    x.mean((2, 3), keepdims=True),
    x.var((2, 3), keepdims=True),
)
mask = np.array([1, 0, 1, 1], np.float32)
c(
    "InstanceNormV2Grad",
    d,
    x,
    np.tile(g3[None, :, None, None], (2, 1, 1, 1)),
    p(2, 3, 1, 1),
    p(2, 3, 1, 1),
    x.mean((2, 3), keepdims=True),
    x.var((2, 3), keepdims=True),
    is_training=False,
)
c("DropoutGrad", f(4), mask, keep_prob=0.5)
c("DropoutGrad", f(4), mask, keep_prob=0.8)

# convolutions
w = f(4, 3, 3, 3)
do = f(2, 4, 4, 5)
c("Conv2DBackpropFilter", do, x, (4, 3, 3, 3), out_channel=4, kernel_size=3, pad_mode="same")
c("Conv2DBackpropFilter", f(2, 4, 2, 3), x, (4, 3, 3, 3), out_channel=4, kernel_size=3, pad_mode="valid")
x5 = f(1, 2, 4, 4, 4)
w5 = f(3, 2, 2, 2, 2)
c("Conv3DBackpropFilter", x5, f(1, 3, 3, 3, 3), (3, 2, 2, 2, 2), out_channel=3, kernel_size=2)
c("Conv3DBackpropInput", w5, f(1, 3, 3, 3, 3), (1, 2, 4, 4, 4), out_channel=3, kernel_size=2)


# pooling
def mp(a):
    n, ch, h, ww = a.shape
    return a[:, :, : h // 2 * 2, : ww // 2 * 2].reshape(n, ch, h // 2, 2, ww // 2, 2).max((3, 5))


def ap(a):
    n, ch, h, ww = a.shape
    return a[:, :, : h // 2 * 2, : ww // 2 * 2].reshape(n, ch, h // 2, 2, ww // 2, 2).mean((3, 5))


c("MaxPoolGrad", x, mp(x), f(2, 3, 2, 2), kernel_size=2, strides=2)
c("MaxPoolGrad", x, np.zeros((2, 3, 2, 3), np.float32), f(2, 3, 2, 3), kernel_size=2, strides=2, pad_mode="SAME")
c("AvgPoolGrad", x, ap(x), f(2, 3, 2, 2), kernel_size=2, strides=2)
c("AvgPoolGrad", x, np.zeros((2, 3, 2, 3), np.float32), f(2, 3, 2, 3), kernel_size=3, strides=2, pad_mode="SAME")
c("MaxPoolGradGrad", x, mp(x), d, kernel_size=2, strides=2)
y5 = x5.reshape(1, 2, 2, 2, 2, 2, 2, 2).max((3, 5, 7))
c("MaxPool3DGrad", x5, y5, f(1, 2, 2, 2, 2), kernel_size=2, strides=2)
c("MaxPool3DGradGrad", x5, y5, f(1, 2, 4, 4, 4), kernel_size=2, strides=2)
c("AvgPool3DGrad", (1, 2, 4, 4, 4), f(1, 2, 2, 2, 2), kernel_size=2, strides=2)
c(
    "AvgPool3DGrad",
    (1, 2, 4, 4, 4),
    f(1, 2, 3, 3, 3),
    kernel_size=2,
    strides=2,
    pads=1,
    pad_mode="pad",
    count_include_pad=False,
)
c("AvgPool3DGrad", (1, 2, 4, 4, 4), f(1, 2, 2, 2, 2), kernel_size=2, strides=2, divisor_override=3)


def am(a):
    n, ch, h, ww = a.shape
    out = np.zeros((n, ch, h // 2, ww // 2), np.int32)
    for q in np.ndindex(out.shape):
        b = a[q[0], q[1], q[2] * 2 : q[2] * 2 + 2, q[3] * 2 : q[3] * 2 + 2]
        k = b.argmax()
        out[q] = (q[2] * 2 + k // 2) * ww + q[3] * 2 + k % 2
    return out


amc = am(x) + (np.arange(3, dtype=np.int32) * 20)[None, :, None, None]
c("MaxPoolGradWithArgmax", x, f(2, 3, 2, 2), amc, kernel_size=2, strides=2)
c("MaxPoolGradWithArgmaxV2", x, f(2, 3, 2, 2), am(x).astype(np.int64), kernel_size=2, strides=2)
c("MaxPoolGradGradWithArgmax", x, d, amc, kernel_size=2, strides=2)


def am5(a):
    out = np.zeros((1, 2, 2, 2, 2), np.int32)
    for q in np.ndindex(out.shape):
        b = a[0, q[1], q[2] * 2 : q[2] * 2 + 2, q[3] * 2 : q[3] * 2 + 2, q[4] * 2 : q[4] * 2 + 2]
        k = np.unravel_index(b.argmax(), b.shape)
        out[q] = ((q[2] * 2 + k[0]) * 4 + q[3] * 2 + k[1]) * 4 + q[4] * 2 + k[2]
    return out


c("MaxPool3DGradWithArgmax", x5, f(1, 2, 2, 2, 2), am5(x5), ksize=2, strides=2, pads=0)
c("AdaptiveAvgPool2DGrad", f(2, 3, 2, 2), i64(2, 3, 4, 5))
c("AdaptiveAvgPool3DGrad", f(1, 2, 2, 2, 2), i32(1, 2, 4, 4, 4))
c("AdaptiveMaxPool2DGrad", f(2, 3, 2, 2), x, am(x).astype(np.int64))
c("AdaptiveMaxPool3DGrad", f(1, 2, 2, 2, 2), x5, am5(x5))
c(
    "MaxUnpool2DGrad",
    f(1, 1, 2, 2),
    f(1, 1, 4, 4),
    np.array([[[[0, 3], [9, 14]]]], np.int64),
    ksize=(1, 1, 2, 2),
    strides=(1, 1, 2, 2),
    pads=(1, 1, 0, 0),
)
c("FractionalAvgPoolGrad", i64(1, 4, 4, 1), f(1, 2, 2, 1), i64(0, 2, 4), i64(0, 2, 4))
xf = f(1, 4, 4, 1)
yf = xf.reshape(1, 2, 2, 2, 2, 1).max((2, 4))
c("FractionalMaxPoolGrad", xf, yf, f(1, 2, 2, 1), i64(0, 2, 4), i64(0, 2, 4))
c("FractionalMaxPool3DGradWithFixedKsize", x5, f(1, 2, 2, 2, 2), am5(x5))

# losses
t = (p(3, 4) > 0.5).astype(np.float32)
c("BinaryCrossEntropyGrad", u, t, dv, p(3, 4), reduction="none")
c("BinaryCrossEntropyGrad", u, t, np.float32(2), p(3, 4))
c("BinaryCrossEntropyGrad", u, t, np.float32(2), None, reduction="sum")
c("SigmoidCrossEntropyWithLogitsGrad", v, t, dv)
c("SmoothL1LossGrad", v, u, dv)
c("SmoothL1LossGrad", v, u, np.float32(2), reduction="mean")
c("SmoothL1LossGrad", v, u, dv, beta=0.5, reduction="none")
c("KLDivLossGrad", dv, v, u, reduction="none")
c("KLDivLossGrad", np.float32(2), v, u, reduction="mean")
c("KLDivLossGrad", np.float32(2), v, u, reduction="sum")
c("KLDivLossGrad", np.float32(2), v, u, reduction="batchmean")
c("NLLLossGrad", v, np.float32(1.5), i32(1, 0, 3), p(4), np.float32(2.5))
c("NLLLossGrad", v, f(3), i32(1, 0, 3), p(4), np.float32(2.5), reduction="none")
c("NLLLossGrad", v, np.float32(1.5), i32(1, 0, 3), p(4), np.float32(2.5), reduction="sum")
c("NLLLossGrad", v, np.float32(1.5), i32(1, 0, 3), p(4), np.float32(2.5), ignore_index=0)
c("MultiMarginLossGrad", np.float32(1.5), v, i64(1, 0, 3), p(4))
c("MultiMarginLossGrad", f(3), v, i64(1, 0, 3), None, reduction="none", p=2)

# pieces
c("SliceGrad", f(2, 2), v, (1, 1), (2, 2))
c("StridedSliceGrad", f(2, 2), (3, 4), (0, 1), (3, 4), (2, 2))
c("GatherDGradV2", v, 1, np.array([[0, 1], [2, 3], [1, 1]], np.int32), f(3, 2))
c("MaskedSelectGrad", v, v > 0, f(int((v > 0).sum())))
c("FlattenGrad", f(3, 4), (3, 2, 2))
c("MirrorPadGrad", f(5, 6), np.array([[1, 1], [1, 1]], np.int64), mode="REFLECT")
c("MirrorPadGrad", f(5, 6), np.array([[1, 1], [1, 1]], np.int64), mode="SYMMETRIC")
for mo in ("reflect", "edge", "circular"):
    c("PadV3Grad", f(1, 2, 5, 6), i64(1, 1, 1, 0), mode=mo)
c("TraceGrad", np.float32(2), i64(3, 4))
c("MedianGrad", np.float32(2), v, np.float32(v.ravel()[np.argsort(v.ravel())[5]]), i64(0), global_median=True)
c("MedianGrad", f(3, 1), v, np.sort(v, 1)[:, 1:2], np.argsort(v, 1)[:, 1:2].astype(np.int64), axis=1, keep_dims=True)
c("MedianGrad", f(3), v, np.sort(v, 1)[:, 1], np.argsort(v, 1)[:, 1].astype(np.int64), axis=1)
c("ResizeBilinearGrad", f(1, 2, 6, 8), f(1, 2, 3, 4))
c("ResizeBilinearGrad", f(1, 2, 6, 8), f(1, 2, 3, 4), align_corners=True)
c("ResizeBilinearGrad", f(1, 2, 6, 8), f(1, 2, 3, 4), half_pixel_centers=True)
c("ResizeNearestNeighborGrad", f(1, 2, 6, 8), (3, 4))
c("ResizeNearestNeighborGrad", f(1, 2, 6, 8), (3, 4), align_corners=True)
c("ResizeNearestNeighborV2Grad", f(1, 2, 6, 8), (3, 4))
c("ResizeNearestNeighborV2Grad", f(1, 2, 6, 8), (3, 4), half_pixel_centers=True)
c("ResizeBicubicGrad", f(1, 2, 6, 8), f(1, 2, 3, 4))
c("ResizeBicubicGrad", f(1, 2, 6, 8), f(1, 2, 3, 4), half_pixel_centers=True)
c("ResizeLinear1DGrad", f(1, 2, 6), f(1, 2, 3))
c("ResizeLinear1DGrad", f(1, 2, 6), f(1, 2, 3), coordinate_transformation_mode="half_pixel")
c("ResizeV2Grad", f(1, 2, 1, 8), f(8), np.array([1, 1, 1, 2], np.float32), i64(1, 2, 1, 4))
c("ResizeV2Grad", f(1, 2, 1, 8), f(8), np.array([1, 1, 1, 2], np.float32), i64(1, 2, 1, 4), mode="linear")
c(
    "ResizeV2Grad",
    f(1, 2, 1, 8),
    f(8),
    np.array([1, 1, 1, 2], np.float32),
    i64(1, 2, 1, 4),
    mode="linear",
    coordinate_transformation_mode="align_corners",
)
c("ResizeV2Grad", f(1, 2, 6, 8), f(8), np.array([1, 1, 2, 2], np.float32), i64(1, 2, 3, 4), mode="cubic")
c(
    "ResizeV2Grad",
    f(1, 2, 6, 8),
    f(8),
    np.array([1, 1, 2, 2], np.float32),
    i64(1, 2, 3, 4),
    mode="cubic",
    coordinate_transformation_mode="align_corners",
)
c("UpsampleNearest3DGrad", f(1, 2, 4, 4, 4), (1, 2, 2, 2, 2), (4, 4, 4), None)
c("UpsampleTrilinear3DGrad", f(1, 2, 4, 4, 4), (1, 2, 2, 2, 2), (4, 4, 4), None)
c("UpsampleTrilinear3DGrad", f(1, 2, 4, 4, 4), (1, 2, 2, 2, 2), (4, 4, 4), None, align_corners=True)
c("GridSampler2DGrad", f(1, 2, 3, 3), f(1, 2, 4, 4), f(1, 3, 3, 2) * 0.4)
c(
    "GridSampler2DGrad",
    f(1, 2, 3, 3),
    f(1, 2, 4, 4),
    f(1, 3, 3, 2) * 0.4,
    interpolation_mode="nearest",
    padding_mode="border",
    align_corners=True,
)
c("GridSampler3DGrad", f(1, 2, 3, 3, 3), f(1, 2, 4, 4, 4), f(1, 3, 3, 3, 3) * 0.4)
c("AffineGridGrad", f(1, 3, 4, 2), (1, 1, 3, 4))
c("AffineGridGrad", f(1, 3, 4, 2), (1, 1, 3, 4), align_corners=True)
c(
    "ROIAlignGrad",
    f(1, 2, 2, 2),
    np.array([[0, 0, 0, 2, 2]], np.float32),
    (1, 2, 4, 4),
    pooled_height=2,
    pooled_width=2,
    spatial_scale=1.0,
    sample_num=2,
)
c("LuUnpackGrad", np.tril(f(3, 3)), np.triu(f(3, 3)), f(3, 3), L_grad_flag=True, U_grad_flag=True)
c(
    "PdistGrad",
    f(3),
    v[:3],
    np.array([np.linalg.norm(v[0] - v[1]), np.linalg.norm(v[0] - v[2]), np.linalg.norm(v[1] - v[2])], np.float32),
)
c("IgammaGradA", p(3) * 3, p(3) * 2)
c("MvlgammaGrad", f(3), p(3) + 2, p=2)
c("SparseSegmentMeanGrad", f(2, 3), i32(0, 2, 1), i32(0, 0, 1), i32(4)[0])
c("SparseSegmentSqrtNGrad", f(2, 3), i32(0, 2, 1), i32(0, 0, 1), i32(4)[0])
c("SparseFillEmptyRowsGrad", i64(0, 2, 3), f(5))
c(
    "SparseSliceGrad",
    f(2),
    np.array([[0, 0], [1, 2], [2, 1]], np.int64),
    i64(0, 0),
    np.array([[0, 0], [1, 2]], np.int64),
)
c("ScaleAndTranslateGrad", f(1, 4, 4, 1), f(1, 3, 3, 1), np.array([1.2, 1.2], np.float32), np.array([0, 0], np.float32))
c(
    "DeformableOffsetsGrad",
    f(1, 1, 4, 4),
    f(1, 1, 3, 3),
    f(1, 12, 2, 2) * 0.3,
    strides=(1, 1, 1, 1),
    pads=(0, 0, 0, 0),
    kernel_size=(2, 2),
)
c("ConcatOffset", (v, u), N=2, axis=1)

# auto_generate
cy = f(2, 4)
c("CdistGrad", f(3, 2), v[:3], cy, np.linalg.norm(v[:3, None] - cy[None], axis=-1))
gx = f(2, 4, 3, 3)
gg = gx.reshape(2, 2, 18)
c("TraceV2Grad", np.float32(2), i64(3, 4), 0, 0, 1)
c("LstsqV2Grad", f(3, 1), p(3, 3) + 2 * np.eye(3, dtype=np.float32), f(3, 1))
c("LstsqV2Grad", f(2, 1), p(4, 2) - np.eye(4, 2, dtype=np.float32), f(4, 1))
c("LstsqV2Grad", f(4, 1), p(2, 4) - np.eye(2, 4, dtype=np.float32), f(2, 1))
c("GroupNormGrad", f(2, 4, 3, 3), gx, gg.mean(2), 1 / np.sqrt(gg.var(2) + 1e-5), p(4), 2, True, True, True)
c("UpsampleNearest2DGrad", f(1, 2, 6, 8), (1, 2, 3, 4), (6, 8), None)
c(
    "MaxUnpool3DGrad",
    f(1, 1, 2, 2, 2),
    f(1, 1, 4, 4, 4),
    np.array([0, 3, 9, 14, 20, 33, 40, 63], np.int64).reshape(1, 1, 2, 2, 2),
    ksize=(1, 1, 2, 2, 2),
    strides=(1, 1, 2, 2, 2),
    pads=(0, 0, 0, 0, 0),
)
