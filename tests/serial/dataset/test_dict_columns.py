"""Columns of dicts that Python functions made: they stay dicts from stage to stage."""

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds


def made(function, rows=3):
    return ds.GeneratorDataset(lambda: iter(range(rows)), ["x"]).map(function, ["x"])


def pair(x):
    return {"a": x, "b": np.array([1, 2])}


def first(dataset, **kwargs):
    return next(iter(dataset.create_dict_iterator(num_epochs=1, **kwargs)))["x"]


def test_later_stages_get_dicts():
    kinds = []

    def look(value):
        kinds.append(type(value))
        return value

    data = made(pair).filter(lambda x: look(x)["a"] >= 0, ["x"]).map(look, ["x"]).shuffle(2).repeat(2).take(3)
    assert type(first(data.map(lambda x: {**look(x), "c": x["a"]}, ["x"]))) is dict
    assert set(kinds) == {dict}


def test_the_iterators_give_tensors_or_arrays_in_dicts():
    data = made(lambda x: {"a": {"n": x}, "list": [1, 2.5], "pair": (x, "s"), "none": None, "text": "t"})
    found = first(data)
    assert isinstance(found["a"]["n"], ms.Tensor) and found["list"][1].dtype == ms.float64
    assert isinstance(found["pair"][1], np.ndarray) and found["pair"][1] == "s"
    assert found["none"] is None and found["text"].dtype.kind == "U"
    found = first(data, output_numpy=True)
    assert isinstance(found["a"]["n"], np.ndarray) and isinstance(found["pair"], tuple)
    (row,) = next(iter(data.create_tuple_iterator(num_epochs=1)))
    assert isinstance(row, dict)
    assert data.output_types() == [np.dtype(object)] and data.output_shapes() == [[0]]


def test_copies():
    kept = {"a": np.zeros(2)}
    data = made(lambda x: kept)
    assert first(data, output_numpy=True)["a"] is kept["a"]
    assert not np.shares_memory(first(data, output_numpy=True, do_copy=True)["a"], kept["a"])


def test_a_source_of_dicts():
    found = first(ds.GeneratorDataset([({"a": 1}, 2)], ["x", "y"], column_types=[ms.int32, ms.int32], shuffle=False))
    assert int(found["a"]) == 1


def test_batch_stacks_key_by_key():
    found = first(made(pair).batch(2), output_numpy=True)
    assert found["a"].tolist() == [0, 1] and found["b"].shape == (2, 2)
    found = first(made(pair).batch(1).batch(2), output_numpy=True)
    assert found["a"].tolist() == [[0], [1]]


def test_per_batch_map_gets_and_gives_dicts():
    def total(rows, info):
        return ({"sum": sum(int(row["a"]) for row in rows)},)

    assert int(first(made(pair).batch(3, per_batch_map=total))["sum"]) == 3
    source = ds.GeneratorDataset([1, 2], ["x"], shuffle=False)
    listed = first(source.batch(2, per_batch_map=lambda rows, info: [{"a": row} for row in rows]))
    assert [int(v) for v in listed["a"]] == [1, 2]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: {"a": np.zeros(int(x) + 1)}, r"x\['a'\]"),
        (lambda x: {"a": None}, "per_batch_map"),
        (lambda x: {str(x): 1}, r"keys \['0'\], but got \['1'\]"),
        (lambda x: {"a": 1} if x else x, r"keys \['a'\], but got ndarray"),
    ],
)
def test_what_cannot_be_stacked(function, message):
    with pytest.raises(RuntimeError, match=message):
        first(made(function).batch(2))
