"""Batches of rows of different shapes: what is cut off, filled and refused."""

import numpy as np
import pytest

import dist_ms.dataset as ds


def source():
    return ds.GeneratorDataset([(np.full(n, n), n, {"k": n}) for n in (1, 2, 4, 3)], ["x", "n", "d"], shuffle=False)


def x_of(data):
    return [row["x"].tolist() for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)]


def test_single_values_texts_and_dicts_are_stacked():
    rows = list(source().padded_batch(2).create_dict_iterator(num_epochs=1, output_numpy=True))
    assert [row["n"].tolist() for row in rows] == [[1, 2], [4, 3]]
    assert [row["d"]["k"].tolist() for row in rows] == [[1, 2], [4, 3]]
    words = ds.NumpySlicesDataset(["a", "bcd"], ["x"], shuffle=False).padded_batch(2)
    assert x_of(words) == [["a", "bcd"]]


@pytest.mark.parametrize("shape", [None, [], [None]])
def test_a_shape_that_is_left_open(shape):
    assert x_of(source().padded_batch(4, pad_info={"x": (shape, 7)})) == [
        [[1, 7, 7, 7], [2, 2, 7, 7], [4, 4, 4, 4], [3, 3, 3, 7]]
    ]


def test_what_is_too_large_is_cut_off():
    assert x_of(source().padded_batch(4, pad_info={"x": ([2], 7)})) == [[[1, 7], [2, 2], [4, 4], [3, 3]]]
    bytes_of = ds.GeneratorDataset([np.ones(1, np.uint8)], ["x"]).padded_batch(1, pad_info={"x": ([2], -1)})
    assert x_of(bytes_of) == [[[1, 255]]]


def test_only_open_sizes_are_filled_to_the_boundary():
    def batches(pad_info):
        return x_of(source().bucket_batch_by_length(["x"], [6], [2, 1], None, pad_info, True))

    assert batches({"x": ([None], 0)}) == [[[1, 0, 0, 0, 0], [2, 2, 0, 0, 0]], [[4, 4, 4, 4, 0], [3, 3, 3, 0, 0]]]
    assert batches(None) == batches({"x": ([], 0)}) == [[[1, 0], [2, 2]], [[4, 4, 4, 4], [3, 3, 3, 0]]]
    long = source().bucket_batch_by_length(["x"], [3], [2, 1], None, None, True)
    assert x_of(long) == [[[1, 0], [2, 2]], [[4, 4, 4, 4]], [[3, 3, 3]]]
    with pytest.raises(RuntimeError, match="'pad_to_bucket_boundary' must be False"):
        x_of(source().bucket_batch_by_length(["x"], [3], [2, 1], None, {"x": ([None], 0)}, True))


@pytest.mark.parametrize(
    "pad_info, error",
    [
        ({"q": ([1], 0)}, RuntimeError),
        ({"x": ([0], 0)}, ValueError),
        ({"x": ([1.5], 0)}, TypeError),
        ({"x": ([None], "a")}, RuntimeError),
    ],
)
def test_padding_that_is_refused(pad_info, error):
    with pytest.raises(error, match="'pad_info' must"):
        x_of(source().padded_batch(2, pad_info=pad_info))


@pytest.mark.parametrize("length", [-1, 2.5, None, [1, 2]])
def test_lengths_that_are_refused(length):
    data = source().bucket_batch_by_length(["x"], [3], [2, 1], lambda x: length)
    with pytest.raises(RuntimeError, match="'element_length_function' must be"):
        x_of(data)


def test_single_values_have_no_length():
    with pytest.raises(RuntimeError, match="arrays of one dimension or more.*a single value"):
        x_of(source().bucket_batch_by_length(["n"], [3], [2, 1]))
