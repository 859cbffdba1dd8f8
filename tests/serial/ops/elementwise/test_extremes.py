"""Maximum, Minimum, clamp and nan_to_num."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

NAN = np.nan


@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32", "float64"])
def test_extremes(dtype):
    x, y = np.array([[1, 5]], dtype), np.array([[3], [2]], dtype)
    same(ops.maximum(ms.Tensor(x), ms.Tensor(y)), np.maximum(x, y))
    same(ops.minimum(ms.Tensor(x), ms.Tensor(y)), np.minimum(x, y))
    same(ops.fmax(ms.Tensor(x), ms.Tensor(y)), np.maximum(x, y))
    same(ops.fmin(ms.Tensor(x), ms.Tensor(y)), np.minimum(x, y))


def test_types_and_numbers():
    same(ops.maximum(tensor([1, 5], "int32"), 2.5), np.array([2.5, 5], "float32"))
    same(ops.minimum(3, tensor([1, 5], "int32")), np.array([1, 3], "int32"))
    equal(ops.maximum(tensor([True, False]), tensor([False, False])), [True, False])
    with pytest.raises(TypeError, match="For 'Maximum', the operands must be real"):
        ops.maximum(tensor([1j]), 1)


def test_nan():
    x, y = tensor([1.0, NAN, 3.0]), tensor([NAN, 2.0, 2.0])
    equal(ops.maximum(x, y), [NAN, NAN, 3])
    equal(ops.fmax(x, y), [1, 2, 3])
    equal(ops.fmin(x, y), [1, 2, 2])
    dx, dy = ms.grad(ops.fmax, (0, 1))(x, y)
    equal(dx, [1, 0, 1])
    equal(dy, [0, 1, 0])


def test_clamp():
    x = tensor([1.0, 5.0, 9.0], "float32")
    equal(ops.clamp(x, 2, 6), [2, 5, 6])
    equal(ops.clamp(x, min=2), [2, 5, 9])
    equal(ops.clamp(x, max=2), [1, 2, 2])
    equal(ops.clip(x, 6, 2), [2, 2, 2])
    equal(ops.clamp(x, tensor([2.0, 6.0, 2.0], "float32"), tensor(7.0, "float32")), [2, 6, 7])
    same(ops.clamp(tensor([1, 9], "int32"), 2.5, 6), np.array([2.5, 6], "float32"))
    equal(ops.clamp(tensor([1.0, NAN, 9.0], "float32"), 2, 6), [2, NAN, 6])
    equal(ops.clamp(x, NAN, 6), [NAN] * 3)
    equal(ops.clamp(x, 2, NAN), [NAN] * 3)
    with pytest.raises(ValueError, match="For 'clamp', 'min' or 'max' must be given"):
        ops.clamp(x)
    with pytest.raises(TypeError, match="For 'clamp'"):
        ops.clamp([x], 1, 2)


def test_clip_by_value_takes_several():
    x = tensor([1.0, 9.0])
    a, b = ops.clip_by_value((x, x * 2), 2, 6)
    equal(a, [2, 6])
    equal(b, [2, 6])
    equal(ms.grad(lambda t: ops.clip_by_value(t, 1, 3))(tensor([0.0, 1, 2, 3, 4])), [0, 0.5, 1, 0.5, 0])
    equal(ms.grad(lambda t: ops.clamp(t, 1, 3))(tensor([0.0, 1, 2, 3, 4])), [0, 1, 1, 1, 0])
    with pytest.raises(TypeError, match="For 'clip_by_value'"):
        ops.clip_by_value(3, 1, 2)
    with pytest.raises(ValueError, match="For 'clip_by_value'"):
        ops.clip_by_value(x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_to_num(dtype):
    x = np.array([NAN, np.inf, -np.inf, 1], dtype)
    same(ops.nan_to_num(ms.Tensor(x)), np.nan_to_num(x))
    same(ops.nan_to_num(ms.Tensor(x), 1.0, 2.0, 3.0), np.nan_to_num(x, nan=1, posinf=2, neginf=3))
    equal(ops.nan_to_num(tensor([3])), [3])
