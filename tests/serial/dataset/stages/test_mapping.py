"""Columns behind `map` and `batch`, and what functions of the user raise."""

import pytest

import dist_ms.dataset as ds


def source():
    return ds.NumpySlicesDataset({"a": [1], "b": [2], "c": [3]}, shuffle=False)


def swapped(x, y):
    return y, x


@pytest.mark.parametrize(
    "taken, made, function, row",
    [
        (["b"], ["z"], lambda x: x, {"a": 1, "z": 2, "c": 3}),
        (["c", "a"], ["z", "y"], swapped, {"y": 3, "b": 2, "z": 1}),
        (["b"], ["z", "b"], lambda x: (x, x), {"z": 2, "b": 2, "a": 1, "c": 3}),
        (["c", "b"], ["z"], lambda x, y: x, {"z": 3, "a": 1}),
        (["a"], ["b"], lambda x: x, {"b": 1, "c": 3}),
    ],
)
def test_columns_keep_their_places(taken, made, function, row):
    data = source().map(function, taken, made)
    found = next(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert {name: int(v) for name, v in found.items()} == row
    assert data.get_col_names() == list(found) == list(row)


def test_columns_of_batches_keep_their_places():
    data = source().batch(1, per_batch_map=lambda x, info: (x,), input_columns=["b"], output_columns=["z"])
    assert data.get_col_names() == ["a", "z", "c"]
    with pytest.raises(RuntimeError, match="no columns that stay beside 'input_columns', but got .*'c'"):
        source().batch(1, per_batch_map=lambda x, info: (x,), input_columns=["b"], output_columns=["c"])


def test_apply_behind_map():
    assert len(source().map(lambda x: x, "a").apply(lambda data: data.repeat(3))) == 3


def fails(*values):
    raise KeyError("lost")


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d.map(fails, "a"),
        lambda d: d.filter(fails, "a"),
        lambda d: d.batch(1, per_batch_map=fails, input_columns=["a"]),
        lambda d: d.batch(fails),
        lambda d: d.project("a").bucket_batch_by_length(["a"], [1], [1, 1], fails),
        lambda d: ds.GeneratorDataset(fails, ["a"]),
    ],
)
def test_what_a_function_raises(make):
    with pytest.raises(RuntimeError, match="fails raised KeyError: 'lost'") as error:
        list(make(source()).create_tuple_iterator(num_epochs=1))
    assert isinstance(error.value.__cause__, KeyError)
