"""ParameterTuple: what it takes, names, clone."""

import copy
import pickle

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common.parameter import check_unique_names


@pytest.fixture
def params():
    return [ms.Parameter(ms.Tensor([1.0, 2.0]), name="w"), ms.Parameter(2.0, name="b")]


@pytest.mark.parametrize("collect", [tuple, list, iter, lambda p: (x for x in p), lambda p: dict.fromkeys(p)])
def test_any_iterable_of_parameters(params, collect):
    t = ms.ParameterTuple(collect(params))
    assert isinstance(t, tuple)
    assert t[0] is params[0]
    assert len(t) == 2


def test_it_prints_like_a_tuple(params):
    assert repr(ms.ParameterTuple(params)) == (
        "(Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True), "
        "Parameter (name=b, shape=(), dtype=Float32, requires_grad=True))"
    )


def test_sums_and_slices_are_plain_tuples(params):
    t = ms.ParameterTuple(params)
    assert type(t + t) is type(t[:1]) is tuple
    assert ms.ParameterTuple([]) == ()


@pytest.mark.parametrize("items", [3, None, "ab", [3], (ms.Tensor(1.0),), ms.Parameter(1.0)])
def test_other_things_are_type_errors(items):
    with pytest.raises(TypeError):
        ms.ParameterTuple(items)


def test_names_are_unique_but_one_object_may_come_twice(params):
    assert len(ms.ParameterTuple([params[0], params[0]])) == 2
    with pytest.raises(ValueError, match="every 'name' must be unique, but 'w' already exists: give"):
        ms.ParameterTuple([*params, ms.Parameter(1.0, name="w")])
    with pytest.raises(ValueError, match="but 'b' already exists"):
        check_unique_names([params[1], ms.Parameter(1.0, name="b")])


def test_unnamed_parameters_have_names_of_their_own():
    a, b = ms.ParameterTuple([ms.Parameter(1.0), ms.Parameter(2.0)])
    assert a.name != b.name


def test_clone_prefixes_names_and_keeps_flags(params):
    params[0].requires_grad = False
    params[1].layerwise_parallel = True
    clones = ms.ParameterTuple(params).clone("moments.1")
    assert type(clones) is ms.ParameterTuple
    assert [p.name for p in clones] == ["moments.1.w", "moments.1.b"]
    assert not clones[0].requires_grad
    assert clones[1].layerwise_parallel
    clones[0].asnumpy()[0] = 9
    assert params[0].asnumpy().tolist() == [1, 2]
    assert params[0].name == "w"


def test_clone_with_other_values(params):
    zeros = ms.ParameterTuple(params).clone("m", init="zeros")
    assert [p.asnumpy().tolist() for p in zeros] == [[0, 0], 0]
    with pytest.raises(ValueError, match="'zzz' was not found"):
        ms.ParameterTuple(params).clone("m", "zzz")


@pytest.mark.parametrize("prefix", ["_x", "1x", "a.b", "a.", "A9_"])
def test_prefixes(params, prefix):
    assert ms.ParameterTuple(params).clone(prefix)[0].name == f"{prefix}.w"


@pytest.mark.parametrize("prefix", ["", "a b", ".x", "a-b", "é"])
def test_bad_prefixes(params, prefix):
    with pytest.raises(ValueError, match="'prefix' must consist of"):
        ms.ParameterTuple(params).clone(prefix)


def test_a_prefix_must_be_a_str(params):
    with pytest.raises(TypeError, match="'prefix' must be a str, but got int"):
        ms.ParameterTuple(params).clone(3)


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies(params, twin_of):
    params[0].sliced = True
    twin = twin_of(ms.ParameterTuple(params))
    assert type(twin) is ms.ParameterTuple
    assert twin[0].sliced
    np.testing.assert_array_equal(twin[0].asnumpy(), params[0].asnumpy())
    assert twin[0] is not params[0]
