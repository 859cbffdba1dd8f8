"""_Buffer: a marked tensor."""

import copy
import pickle

import pytest

import dist_ms as ms
from dist_ms.common.parameter import _Buffer


def test_a_buffer_is_a_plain_tensor_in_the_same_memory():
    t = ms.Tensor([1.0, 2.0])
    b = _Buffer(t)
    assert type(b) is ms.Tensor
    assert b.persistent is True
    assert isinstance(b, _Buffer)
    assert not isinstance(t, _Buffer)
    assert not isinstance(3, _Buffer)
    t.asnumpy()[0] = 9
    assert b.asnumpy().tolist() == [9, 2]


def test_a_buffer_of_a_parameter_is_none():
    b = _Buffer(ms.Parameter(1.0), persistent=False)
    assert type(b) is ms.Tensor
    assert b.persistent is False


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_copies_stay_buffers(twin_of):
    twin = twin_of(_Buffer(ms.Tensor([1.0]), persistent=False))
    assert isinstance(twin, _Buffer)
    assert not twin.persistent


def test_other_things():
    with pytest.raises(ValueError, match="got None"):
        _Buffer(None)
    with pytest.raises(TypeError, match="got int"):
        _Buffer(3)
