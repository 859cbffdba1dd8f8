"""Tensor: construction, sharing, copies, errors."""

import copy
import pickle

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common.initializer import Normal, One, initializer
from dist_ms.common.tensor import from_array, meta, to_array, wrap


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (3, ms.int64, ()),
        (True, ms.bool_, ()),
        (1.5, ms.float32, ()),
        (1j, ms.complex128, ()),
        (2**40, ms.int64, ()),
        (2**63, ms.uint64, ()),
        (1e300, ms.float32, ()),
        ([1, 2.5], ms.float32, (2,)),
        ([True, 2], ms.int64, (2,)),
        ([True, False], ms.bool_, (2,)),
        ([1, 2j], ms.complex128, (2,)),
        ((1, 2), ms.int64, (2,)),
        ([(1, 2), [3, 4]], ms.int64, (2, 2)),
        ([], ms.float32, (0,)),
        ([[], []], ms.float32, (2, 0)),
        (np.float64(1.5), ms.float64, ()),
        (np.int32(1), ms.int32, ()),
        (np.float16(1), ms.float16, ()),
        (np.ones(2), ms.float64, (2,)),
        (np.ones((2, 3), np.uint8), ms.uint8, (2, 3)),
        ([np.float64(1.5)], ms.float32, (1,)),
        ([np.float16(1.5)], ms.float16, (1,)),
        ([np.float16(1.5), 2], ms.float32, (2,)),
        ([np.int32(1)], ms.int64, (1,)),
        ([np.ones(2, np.int8)], ms.int8, (1, 2)),
        ([np.ones(2), [3, 4]], ms.float32, (2, 2)),
    ],
)
def test_types_of_data(value, dtype, shape):
    x = ms.Tensor(value)
    assert x.dtype is dtype
    assert x.shape == shape


def test_sequences_may_hold_tensors_and_parameters():
    x = ms.Tensor([ms.Tensor([1, 2]), [3.5, 4]])
    np.testing.assert_array_equal(x.asnumpy(), np.array([[1, 2], [3.5, 4]], np.float32))
    assert ms.Tensor([ms.Parameter(1.0), ms.Tensor(2.0)]).asnumpy().tolist() == [1, 2]
    assert ms.Tensor([ms.Tensor(1, ms.int8), ms.Tensor(2, ms.int32)]).dtype is ms.int64
    assert ms.Tensor([initializer("ones", [2])]).asnumpy().tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        ([1.7, -2.7], ms.int32, [1, -2]),
        ([300, -1], ms.uint8, [44, 255]),
        ([1, 0, 2], ms.bool_, [True, False, True]),
        ([1 + 2j], ms.float32, [1.0]),
        ([2j], ms.bool_, [True]),
        (True, ms.float32, 1.0),
        (2**63, ms.int64, -(2**63)),
        ([16777217], ms.float64, [16777217.0]),
    ],
)
def test_casts_in_the_constructor(value, dtype, wanted):
    x = ms.Tensor(value, dtype)
    assert x.dtype is dtype
    assert x.asnumpy().tolist() == wanted


@pytest.mark.parametrize(
    "value",
    [
        "abc",
        b"abc",
        None,
        {1: 2},
        {1, 2},
        range(3),
        ["a"],
        [1, None],
        [[1, 2], [3]],
        2**70,
        object(),
        np.array(["a"]),
        np.array([1, 2], object),
        np.array([1], ">i4"),
        np.array(["2020-01-01"], "datetime64"),
        np.longdouble(1),
        [ms.Tensor([1, 2]), ms.Tensor([1, 2, 3])],
    ],
)
def test_other_data_is_a_type_error(value):
    with pytest.raises(TypeError, match="For 'Tensor'"):
        ms.Tensor(value)


@pytest.mark.parametrize("dtype", [np.float32, "float32", float, 3, ms.int_, ms.string])
def test_dtype_must_be_a_number_type_of_dist_ms(dtype):
    with pytest.raises(TypeError, match="'dtype' must be a type such as dist_ms.float32"):
        ms.Tensor([1.0], dtype)


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"shape": (1,)}, ValueError),
        ({"init": One()}, ValueError),
        ({"shape": (1,), "dtype": ms.float32, "init": One()}, ValueError),
        ({"device": "GPU"}, ValueError),
        ({"const_arg": 3}, TypeError),
        ({"foo": 1}, TypeError),
    ],
)
def test_arguments_that_do_not_go_with_data(kwargs, error):
    with pytest.raises(error):
        ms.Tensor([1.0], **kwargs)


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"shape": (2,)}, TypeError),
        ({"shape": (2,), "init": One()}, ValueError),
        ({"dtype": ms.float32, "init": One()}, ValueError),
        ({"shape": (2, None), "dtype": ms.float32, "init": One()}, ValueError),
        ({"shape": (2,), "dtype": ms.float32, "init": 3}, TypeError),
    ],
)
def test_incomplete_arguments_without_data(kwargs, error):
    with pytest.raises(error, match="For 'Tensor'"):
        ms.Tensor(**kwargs)


def test_shape_and_dtype_without_data():
    assert ms.Tensor(shape=(2, 3), dtype=ms.float16).asnumpy().tolist() == [[0] * 3] * 2
    x = ms.Tensor(shape=[2, None], dtype=ms.float32)
    assert x.shape == (2, -1)
    assert ms.Tensor(dtype=ms.float32).shape == (-2,)
    with pytest.raises(RuntimeError, match="unknown lengths"):
        x.asnumpy()


def test_an_array_is_copied():
    a = np.ones(2, np.float32)
    x = ms.Tensor(a)
    a[0] = 5
    assert x.asnumpy().tolist() == [1, 1]


def test_a_transposed_array_gets_standard_order():
    x = ms.Tensor(np.arange(6).reshape(2, 3).T)
    assert x.asnumpy().flags.c_contiguous
    assert x.asnumpy().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_tensor_of_a_tensor_shares_its_memory_unless_cast():
    x = ms.Tensor([1.0, 2.0])
    assert ms.Tensor(x).asnumpy() is x.asnumpy()
    cast = ms.Tensor(x, ms.int32)
    cast.asnumpy()[0] = 9
    assert x.asnumpy().tolist() == [1, 2]


def test_asnumpy_and_from_numpy_share_memory():
    x = ms.Tensor([1.0, 2.0])
    x.asnumpy()[0] = 11
    assert x.asnumpy().tolist() == [11, 2]
    a = np.ones(2, np.float32)
    y = ms.from_numpy(a)
    a[1] = 7
    assert y.asnumpy().tolist() == [1, 7]
    with pytest.raises(TypeError, match="must be a numpy.ndarray"):
        ms.Tensor.from_numpy([1])
    with pytest.raises(TypeError, match="NumPy dtype"):
        ms.Tensor.from_numpy(np.array(["a"]))


def test_sizes():
    x = ms.Tensor(np.zeros((2, 3), np.float32))
    assert (x.ndim, x.size, x.itemsize, x.nbytes, x.strides) == (2, 6, 4, 24, (12, 4))
    assert ms.Tensor(3).strides == ()
    assert wrap(np.zeros((3, 2), np.float32).T).strides == (12, 4)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_independent_and_keep_attributes(make):
    x = ms.Tensor([[1.0, 2.0]], ms.bfloat16)
    x.note = ["kept"]
    y = make(x)
    assert (y.dtype, y.note) == (ms.bfloat16, ["kept"])
    y.asnumpy()[0, 0] = 9
    y.note.append("here")
    assert float(x.asnumpy()[0, 0]) == 1
    assert x.note == ["kept"]


@pytest.mark.parametrize("memodict", [ms.Tensor([3.0]), None, 4])
def test_a_deep_copy_takes_any_memory_of_copies(memodict):
    x = ms.Tensor([1.0, 2.0])
    y = x.__deepcopy__(memodict=memodict)
    y[0] = 5.0
    assert x.asnumpy().tolist() == [1, 2] and y.asnumpy().tolist() == [5, 2]


def test_a_copy_of_a_lazy_tensor_is_lazy():
    x = initializer(Normal(0.5), [2])
    y = pickle.loads(pickle.dumps(x))
    assert y.has_init
    assert y.init.sigma == 0.5
    assert y.shape == (2,)


def test_a_deep_copy_leaves_the_gradient_behind():
    kept = {}

    def f(x):
        kept["copy"] = copy.deepcopy(x)
        return x * x

    ms.grad(f)(ms.Tensor(3.0))
    assert kept["copy"]._node is None


def test_channels_last_memory_survives_a_deep_copy():
    x = wrap(np.zeros((1, 4, 4, 8), np.float32).transpose(0, 3, 1, 2))
    assert copy.deepcopy(x).asnumpy().strides == x.asnumpy().strides


def test_data_and_value():
    x = ms.Tensor([1.0, 2.0])
    assert x.value() is x
    x.data.asnumpy()[0] = 5
    assert x.asnumpy().tolist() == [5, 2]
    x.data = ms.Tensor([1, 2, 3])
    assert x.dtype is ms.int64
    assert x.shape == (3,)


def test_assign_value_copies():
    x, y = ms.Tensor([1.0, 2.0]), ms.Tensor([3, 4, 5])
    assert x.assign_value(y) is x
    y.asnumpy()[0] = 9
    assert x.asnumpy().tolist() == [3, 4, 5]
    with pytest.raises(TypeError, match="'value' must be a Tensor"):
        x.assign_value(3)


def test_set_dtype_casts_in_place():
    x = ms.Tensor([1.7, -2.2])
    assert x.set_dtype(ms.int32) is ms.int32
    assert x.asnumpy().tolist() == [1, -2]
    lazy = initializer("ones", [2])
    lazy.set_dtype(ms.float64)
    assert lazy.asnumpy().dtype == np.float64
    with pytest.raises(RuntimeError, match="'dtype' must be a type such as"):
        x.set_dtype(np.float32)


def test_move_to():
    x = ms.Tensor([1, 2, 3])
    y = x.move_to("CPU")
    y.asnumpy()[0] = 9
    assert x.asnumpy().tolist() == [9, 2, 3]
    with pytest.raises(RuntimeError, match="runs on CPUs"):
        x.move_to("Ascend")
    with pytest.raises(ValueError, match="'Ascend', 'GPU', 'CPU'"):
        x.move_to("zz")


def test_const_arg():
    assert ms.Tensor([1], const_arg=True).const_arg is True
    assert ms.Tensor([1]).set_const_arg().const_arg is True
    with pytest.raises(TypeError):
        ms.Tensor([1]).set_const_arg(1)


def test_a_tensor_without_data_says_why():
    x = meta((2, 3), np.dtype(np.float32))
    assert (x.shape, x.dtype, x.nbytes) == ((2, 3), ms.float32, 24)
    with pytest.raises(RuntimeError, match="does not keep its values"):
        x.asnumpy()
    assert repr(x) == "Tensor(shape=[2, 3], dtype=Float32, value=\n<uninitialized>)"


def test_inside_constructors():
    a = np.ones(2)
    assert wrap(a).asnumpy() is a
    assert from_array(np.float64(3)).shape == ()
    assert to_array(ms.Tensor([1.0]), ms.int8).dtype == np.int8


def test_numpy_sees_a_tensor():
    x = ms.Tensor([1.0, 2.0])
    assert np.asarray(x) is x.asnumpy()
    assert np.array(x, np.int32).tolist() == [1, 2]
    assert np.array(x) is not x.asnumpy()


def test_tensors_are_hashed_by_identity():
    assert len({ms.Tensor(1), ms.Tensor(1)}) == 2


def test_is_tensor_and_tensor():
    assert ms.is_tensor(ms.Parameter(1.0))
    assert not ms.is_tensor(np.ones(1))
    assert ms.tensor([1, 2], dtype=ms.float32).dtype is ms.float32
    assert ms.Tensor([1]).is_init() is False
