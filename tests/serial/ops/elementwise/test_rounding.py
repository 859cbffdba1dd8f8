"""Floor, Ceil, Round and their kin."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import FLOATS, equal, same, tensor

X = np.array([0.5, 1.5, 2.5, -0.5, -1.26])


@pytest.mark.parametrize("dtype", FLOATS)
def test_values(dtype):
    x = X.astype(dtype)
    for name, function in (
        ("floor", np.floor),
        ("ceil", np.ceil),
        ("trunc", np.trunc),
        ("round", np.round),
        ("rint", np.rint),
    ):
        same(getattr(ops, name)(ms.Tensor(x)), function(x))
    same(ops.frac(ms.Tensor(x)), x - np.trunc(x))
    same(ops.round(ms.Tensor(x), decimals=1), np.round(x, 1))


def test_integers():
    equal(ops.round(tensor([15, 25]), decimals=-1), [20, 20])
    equal(ops.trunc(tensor([3])), [3])
    for op in (ops.floor, ops.ceil, ops.rint):
        with pytest.raises(TypeError, match="must be float, but got Int64"):
            op(tensor([1]))
    with pytest.raises(RuntimeError, match="For 'Round'"):
        ops.round(tensor([True]))
    with pytest.raises(TypeError, match="'decimals' must be an int, but got float"):
        ops.round(tensor([1.0]), decimals=1.0)


def test_bfloat16():
    x = ms.Tensor([1.5, 2.5]).astype(ms.bfloat16)
    equal(ops.round(x).float(), [2, 2])
    equal(ops.floor(x).float(), [1, 2])
