"""Data types: names, families, conversions."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common import dtype as mstype

NUMBERS = {
    "bool_": ("Bool", np.bool_),
    "int8": ("Int8", np.int8),
    "int16": ("Int16", np.int16),
    "int32": ("Int32", np.int32),
    "int64": ("Int64", np.int64),
    "uint8": ("UInt8", np.uint8),
    "uint16": ("UInt16", np.uint16),
    "uint32": ("UInt32", np.uint32),
    "uint64": ("UInt64", np.uint64),
    "float16": ("Float16", np.float16),
    "float32": ("Float32", np.float32),
    "float64": ("Float64", np.float64),
    "bfloat16": ("BFloat16", ml_dtypes.bfloat16),
    "complex64": ("Complex64", np.complex64),
    "complex128": ("Complex128", np.complex128),
}


@pytest.mark.parametrize(("name", "text", "scalar"), [(n, t, s) for n, (t, s) in NUMBERS.items()])
def test_number_types(name, text, scalar):
    dtype = getattr(ms, name)
    assert str(dtype) == text
    assert repr(dtype) == f"mindspore.{text.lower()}"
    assert dtype.np == np.dtype(scalar)
    assert dtype.itemsize == np.dtype(scalar).itemsize == mstype.type_size_in_bytes(dtype)
    assert mstype.from_numpy(np.dtype(scalar)) is mstype.from_numpy(scalar) is dtype
    assert mstype.to_numpy(dtype) == mstype.to_numpy(scalar) == mstype.to_numpy(text) == dtype.np
    assert ms.dtype_to_nptype(dtype) is scalar
    for twin in (copy.copy(dtype), copy.deepcopy(dtype), pickle.loads(pickle.dumps(dtype))):
        assert twin is dtype
    assert ms.Tensor(np.zeros(1, scalar)).dtype is dtype


def test_aliases():
    assert (ms.half, ms.single, ms.double) == (ms.float16, ms.float32, ms.float64)
    assert (ms.byte, ms.short, ms.intc, ms.long, ms.intp) == (
        ms.int8,
        ms.int16,
        ms.int32,
        ms.int64,
        ms.int64,
    )
    assert (ms.ubyte, ms.uintc, ms.uintp) == (ms.uint8, ms.uint32, ms.uint64)
    assert (ms.cfloat, ms.cdouble) == (ms.complex64, ms.complex128)
    assert (mstype.bool, mstype.int, mstype.float) == (ms.bool_, ms.int32, ms.float32)
    with pytest.raises(AttributeError, match="has no attribute 'zzz'"):
        _ = mstype.zzz


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("int_", "Int", "int"),
        ("uint", "UInt", "uint"),
        ("float_", "Float", "float"),
        ("number", "Number", "number"),
        ("string", "String", "string_"),
        ("list_", "List", "list_"),
        ("tuple_", "Tuple", "tuple_"),
        ("tensor_type", "Tensor", "tensor"),
        ("type_none", "None", "type_none"),
    ],
)
def test_other_types(name, text, shown):
    kind = getattr(ms, name)
    assert str(kind) == text
    assert repr(kind) == f"mindspore.{shown}"
    assert pickle.loads(pickle.dumps(kind)) == kind == copy.deepcopy(kind)


def test_tensor_types():
    t = ms.TensorType(ms.float32)
    assert str(t) == "Tensor[Float32]"
    assert repr(t) == "mindspore.tensor[float32]"
    assert t == ms.TensorType(ms.float32) != ms.TensorType(ms.float16)
    assert len({t, ms.TensorType(ms.float32)}) == 1
    assert t.element_type() is ms.float32


def test_families():
    assert isinstance(ms.int32, ms.Int)
    assert not isinstance(ms.uint8, ms.Int)
    assert isinstance(ms.float32, ms.Type)
    assert mstype._issubclass_(ms.int32, ms.number)
    assert mstype._issubclass_(ms.int32, ms.int_)
    assert mstype._issubclass_(ms.int32, mstype.Int)
    assert not mstype._issubclass_(ms.int32, ms.float_)
    assert not mstype._issubclass_(ms.list_, ms.number)
    assert ms.bool_ in mstype.all_types
    assert ms.bool_ not in mstype.number_type
    assert mstype.int_type == (ms.int8, ms.int16, ms.int32, ms.int64)
    assert set(mstype.signed_type) == set(mstype.number_type) - set(mstype.uint_type)


def test_properties():
    assert (ms.float32.is_floating_point, ms.bfloat16.is_floating_point) == (True, True)
    assert (ms.int8.is_signed, ms.uint8.is_signed, ms.bool_.is_signed) == (True, False, False)
    assert (ms.complex64.is_complex, ms.float64.is_complex) == (True, False)
    assert ms.float32.to_complex() is ms.complex64
    assert ms.complex128.to_complex() is ms.complex128
    assert ms.complex64.to_real() is ms.float32
    assert ms.int8.to_real() is ms.int8
    for other in (ms.float16, ms.int32):
        with pytest.raises(TypeError, match="to_complex"):
            other.to_complex()


@pytest.mark.parametrize("other", ["U1", np.str_, object, np.dtype(">i4"), np.longdouble])
def test_dtypes_without_a_counterpart(other):
    with pytest.raises(TypeError):
        mstype.from_numpy(np.dtype(other))


@pytest.mark.parametrize(
    ("obj", "wanted"),
    [
        (1, ms.int64),
        (1.5, ms.float64),
        (True, ms.bool_),
        (1j, ms.complex128),
        ("a", ms.string),
        ([1], ms.list_),
        ((1,), ms.tuple_),
        (None, ms.type_none),
        (int, ms.int64),
        (ms.Tensor(1.0), ms.TensorType(ms.float32)),
        (np.float32(1), ms.float32),
    ],
)
def test_types_of_objects(obj, wanted):
    assert ms.get_py_obj_dtype(obj) == wanted


def test_objects_without_a_type():
    assert repr(ms.get_py_obj_dtype(ms.int32)) == "mindspore.type_type"
    for other in (np.ones(2), {}, object()):
        with pytest.raises(NotImplementedError):
            ms.get_py_obj_dtype(other)


@pytest.mark.parametrize(
    ("obj", "wanted"),
    [
        (int, ms.int64),
        (float, ms.float64),
        (bool, ms.bool_),
        (str, ms.string),
        (list, ms.list_),
        (np.float32, ms.float32),
        (np.dtype("int8"), ms.int8),
        (ms.int32, ms.int32),
    ],
)
def test_types_of_python_types(obj, wanted):
    assert ms.pytype_to_dtype(obj) is wanted


@pytest.mark.parametrize("obj", ["float32", 3, None])
def test_only_types_have_types(obj):
    with pytest.raises(TypeError, match="'obj' must be a type"):
        ms.pytype_to_dtype(obj)


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        (ms.bool_, bool),
        (ms.int8, int),
        (ms.uint64, int),
        (ms.float16, float),
        (ms.bfloat16, float),
        (ms.complex64, complex),
        (ms.string, str),
        (ms.list_, list),
    ],
)
def test_python_types(dtype, wanted):
    assert ms.dtype_to_pytype(dtype) is wanted


def test_conversions_of_other_things_are_type_errors():
    for convert in (ms.dtype_to_pytype, ms.dtype_to_nptype):
        for other in (3, ms.number):
            with pytest.raises(TypeError, match="'type_' must be a number type"):
                convert(other)
    with pytest.raises(TypeError, match="dist_ms dtype"):
        mstype.to_type("zzz")
