"""The checks of `mindspore._checkparam` that are about sequences, shapes, axes and types."""

import pytest

import dist_ms as ms
from dist_ms.compat.inner import sequence_checks as C

FITTING = [
    ("check_is_number", (1, int), 1),
    ("check_negative_int", (-1,), -1),
    ("check_non_positive_int", (0,), 0),
    ("check_negative_float", (-1.0,), -1.0),
    ("check_non_positive_float", (0.0,), 0.0),
    ("check_positive_int_sequence", ((1, 2),), (1, 2)),
    ("check_non_negative_int_sequence", ((0, 2),), (0, 2)),
    ("check_positive_float_sequence", ((1.0,),), (1.0,)),
    ("check_file_name_by_regular", ("a/b-1.txt",), True),
    ("check_str_by_regular", ("name_1",), True),
    ("check_str_and_none_by_regular", (None,), True),
    ("check_element_type_of_iterable", ("a", [1], [int]), [1]),
    ("check_element_type_of_dict", ("a", {"k": 1}, [str], [int]), {"k": 1}),
    ("check_size_and_element_type_of_tuple", ("a", (1, 2), 2, int), (1, 2)),
    ("check_tensor_dtype_valid", ("a", ms.TensorType(ms.float32), [ms.float32], "Op"), ms.float32),
    ("check_types_same_and_valid", ({"a": ms.int8, "b": ms.int8}, [ms.int8], "Op"), None),
    ("check_axis_in_range", (-1, 2), 1),
    ("check_axis_valid", ((0, -1), 2), (0, 1)),
    ("check_axis_valid", (None, 2), (0, 1)),
    ("check_swapaxes_axis", ((0, -1), 2), (0, 1)),
    ("check_swapaxes_axis", (-1, 2), 1),
    ("check_transpose_axis", (((1, 0),), 2), (1, 0)),
    ("check_transpose_axis", ((), 2), (1, 0)),
    ("check_reshape_shp", (((2, 3),),), (2, 3)),
    ("check_reshape_shp", ((2, 3),), (2, 3)),
    ("check_flatten_order", ("F",), None),
    ("expanded_shape", (3, 5, 1), (1, 5, 1)),
    ("infer_out_shape", ((2, 1), (1, 3)), (2, 3)),
    ("prepare_shape_for_squeeze", ((1, 2, 1), (0,)), (2, 1)),
    ("tuple_slice", ((1, 2, 3), 0, 2), (1, 2)),
    ("max_", (1, 2), 2),
    ("once", (1,), (1,)),
    ("triple", (1,), (1, 1, 1)),
    ("is_stub_tensor", (1,), False),
    ("check_output_data", (1,), None),
]
WRONG = [
    ("check_is_number", (True, int), TypeError, "must be of type int"),
    ("check_negative_int", (1, "n", "Op"), ValueError, "For 'Op', 'n' must be a negative int, but got 1"),
    ("check_positive_int_sequence", ((1, 0), "n"), ValueError, r"'n\[1\]' must be a positive int, but got 0"),
    ("check_file_name_by_regular", ("a b",), ValueError, "must be a text that matches"),
    ("check_str_by_regular", ("a b",), ValueError, "must be a text that matches"),
    ("check_element_type_of_iterable", ("a", [1, "a"], [int]), TypeError, "'a' must be of elements of type int"),
    ("check_element_type_of_dict", ("a", {"k": 1}, [str], [str]), TypeError, "'a' must be of elements of type str"),
    ("check_size_and_element_type_of_tuple", ("a", (1,), 2, int), ValueError, "'a' must be of 2 elements"),
    ("check_tensor_dtype_valid", ("a", ms.int8, [ms.float32], "Op"), TypeError, r"of a type among \['Float32'\]"),
    ("check_types_same_and_valid", ({"a": ms.int8, "b": ms.int16}, ms.dtype.int_type, "Op"), TypeError, "'b' must be"),
    ("check_axis_in_range", (3, 2), ValueError, r"'axis' must be in \[-2, 2\), but got 3"),
    ("check_axis_valid", ((0, 0), 2), ValueError, "'axis' must be of axes that differ"),
    ("check_transpose_axis", (((0, 1, 2),), 2), ValueError, "'axes' must be 2 axes"),
    ("check_flatten_order", ("X",), ValueError, "For 'flatten', 'order' must be 'C' or 'F', but got 'X'"),
    ("prepare_shape_for_squeeze", ((1, 2), (1,)), ValueError, "must be axes of the length 1"),
    ("infer_out_shape", ((2,), (3,)), ValueError, "shape mismatch"),
    ("twice", ((1, 2, 3),), TypeError, "must be an int or 2 of them"),
    ("check_output_data", (None,), RuntimeError, "must be a value"),
]


@pytest.mark.parametrize("name, arguments, wanted", FITTING)
def test_what_fits_is_returned(name, arguments, wanted):
    assert getattr(C, name)(*arguments) == wanted


@pytest.mark.parametrize("name, arguments, error, text", WRONG)
def test_what_does_not_fit_is_named(name, arguments, error, text):
    with pytest.raises(error, match=text):
        getattr(C, name)(*arguments)


def test_input_data():
    C.check_input_data((1, [2]), {"a": 3}, data_class=int)
    assert C.check_input_dataset(1, 2, dataset_type=int) and not C.check_input_dataset(dataset_type=int)
    with pytest.raises(TypeError):
        C.check_input_data((1, "a"), data_class=int)
    with pytest.raises(ValueError, match="'data' must be not empty"):
        C.check_input_data((), data_class=int)


def test_types_of_a_function_s_arguments():
    @C.args_type_check(x=int, y=str)
    def function(x, y=None):
        return x, y

    assert function(1, y="a") == (1, "a") and function(2) == (2, None)
    with pytest.raises(TypeError, match="For 'function', 'x' must be of type int, but got str"):
        function("a")
