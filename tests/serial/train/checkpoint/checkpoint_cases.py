"""What several checkpoint tests need: tensors of every kind, networks, and comparisons."""

from pathlib import Path

import ml_dtypes
import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell

FIXTURES = Path(__file__).parent / "fixtures"
KEY = b"0123456789abcdef"
MODES = ("AES-GCM", "AES-CBC", "SM4-CBC")


def arrays_of_every_kind():
    """Name to array: every type, 0-D, empty, and memory that is not in row-major order."""
    values = np.array([[0, 1, 2], [3, 100, 1]])
    arrays = {str(t): values.astype(t.np) for t in mstype.all_types}
    arrays["Complex64"] = (values + 2j * values).astype(np.complex64)
    arrays["special"] = np.array([np.nan, np.inf, -0.0, 1e-40], np.float32)
    arrays["bfloat16 special"] = np.array([np.nan, -np.inf, 3.14], ml_dtypes.bfloat16)
    arrays["scalar"] = np.array(-7, np.int64)
    arrays["one"] = np.array([2.5])
    arrays["empty"] = np.zeros((0, 3), np.float32)
    arrays["transposed"] = np.arange(6, dtype=np.float32).reshape(2, 3).T
    arrays["channels last"] = np.arange(24.0).reshape(1, 2, 3, 4).transpose(0, 3, 1, 2)
    arrays["backwards"] = np.arange(5, dtype=np.int16)[::-1]
    arrays["\u00fcn\u00efcode.\u4e2d\u6587"] = np.array([1, 2], np.uint64)
    return arrays


def parameter(name, values, dtype=np.float32):
    return Parameter(Tensor(np.asarray(values, dtype)), name=name)


def assert_same(found, wanted):
    """Equal type, shape and bits."""
    found = found if isinstance(found, np.ndarray) else found.asnumpy()
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(wanted).tobytes()


class Dense(Cell):
    """A matrix and a bias."""

    def __init__(self, dtype=np.float32):
        super().__init__()
        self.weight = parameter("weight", np.zeros((3, 2)), dtype)
        self.bias = parameter("bias", np.zeros(3), dtype)

    def construct(self, x):
        return x


class Net(Cell):
    """A scale and a counter of its own, and a Dense named `fc`."""

    def __init__(self, dtype=np.float32):
        super().__init__()
        self.scale = parameter("scale", [1.0], dtype)
        self.count = Parameter(Tensor(np.array([1], np.int32)), name="count", requires_grad=False)
        self.fc = Dense(dtype)

    def construct(self, x):
        return x


def net_values(prefix="", dtype=np.float32):
    """A dict that fits `Net`."""
    values = {
        "scale": parameter("scale", [5], dtype),
        "count": parameter("count", [7], np.int32),
        "fc.weight": parameter("fc.weight", np.arange(6).reshape(3, 2), dtype),
        "fc.bias": parameter("fc.bias", [1, 2, 3], dtype),
    }
    return {prefix + name: value for name, value in values.items()}
