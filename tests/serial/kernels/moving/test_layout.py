"""Where elements lie and new arrays, against NumPy's own answers, over random shapes, orders of axes and types."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import layout

TYPES = [np.dtype(t) for t in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.uint8)]
SHAPES = [(), (0,), (1,), (5,), (2, 3), (1, 4), (2, 0, 3), (2, 3, 4), (1, 3, 1, 2), (2, 1, 3, 4), (2, 3, 2, 1, 2)]


def arrays(shape):
    """Arrays of a shape with their axes in any order in memory, some with gaps."""
    for order in itertools.islice(itertools.permutations(range(len(shape))), 30):
        memory = np.zeros([shape[axis] for axis in order], np.float32)
        x = memory.transpose(np.argsort(order)) if order else memory
        yield x
        if shape and shape[-1] > 1:
            yield x[..., ::2]
            yield x[..., ::-1]


def behind(x):
    """(N, C, *spatial) with the channels as the last axis."""
    return x.transpose(0, *range(2, x.ndim), 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_where_elements_lie(shape):
    for x in arrays(shape):
        assert layout.is_row_major(x) == (x.ndim > 0 and x.flags.c_contiguous)
        assert layout.is_row_major(x, np.dtype(np.float32)) == layout.is_row_major(x)
        assert not layout.is_row_major(x, np.dtype(np.float64))
        if x.ndim > 2:
            assert layout.is_channels_last(x) == behind(x).flags.c_contiguous
        orders = itertools.permutations(range(x.ndim))
        assert layout.is_dense(x) == any(x.transpose(order).flags.c_contiguous for order in orders)


def test_what_is_no_array_lies_nowhere():
    for wrong in (1.0, np.float32(1), [1.0], None, np.zeros(2).view(np.recarray)):
        assert not layout.is_row_major(wrong)
    for ask in (layout.is_dense, layout.is_channels_last, layout.empty_like):
        with pytest.raises(TypeError):
            ask(None)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_new_arrays(shape, dtype):
    made = [layout.empty(shape, dtype)]
    assert made[0].flags.c_contiguous
    for x in arrays(shape):
        made.append(layout.empty_like(x, dtype))
        assert made[-1].strides == np.empty_like(x, dtype).strides
        same = layout.empty_like(x)
        assert same.dtype == np.float32 and same.strides == np.empty_like(x).strides and same.shape == x.shape
    if len(shape) > 1:
        made.append(layout.channels_last(shape, dtype))
        assert behind(made[-1]).flags.c_contiguous
        assert made[-1].size == 0 or behind(made[-1]).strides == np.empty(behind(made[-1]).shape, dtype).strides
    for x in made:
        if x.shape == shape:
            x[...] = 3
            assert x.dtype == dtype and x.base is None and x.flags.writeable and (x == 3).all()
    assert made[0].shape == shape


def test_new_arrays_take_no_wrong_shape_and_own_their_memory():
    assert layout.empty(3, TYPES[0]).shape == (3,) and layout.empty((np.int64(2),), TYPES[0]).shape == (2,)
    for wrong in (-1, (2, -1)):
        with pytest.raises(ValueError, match="'shape' must have no negative length"):
            layout.empty(wrong, TYPES[0])
    with pytest.raises(ValueError, match="at most 64 lengths, but got 65"):
        layout.empty((1,) * 65, TYPES[0])
    for wrong in ("2", (2.5,)):
        with pytest.raises(TypeError):
            layout.empty(wrong, TYPES[0])
    made = [layout.channels_last((2, 3, 4, 5), TYPES[0]) for _ in range(100)]
    for i, x in enumerate(made):
        x[...] = i
    assert [x.mean() for x in made] == list(range(100))


@pytest.mark.parametrize(
    "shape, wanted",
    [
        ((), ()),
        ((), (2, 3)),
        ((3,), (2, 3)),
        ((1, 3), (4, 3)),
        ((2, 1), (5, 2, 7)),
        ((2, 1, 1), (2, 3, 0)),
        ((0, 2), (3, 0, 2)),
        ((1, 1), (1, 1)),
    ],
)
def test_broadcast(shape, wanted):
    x = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    for array in (x, np.asarray(x, order="F"), np.repeat(x, 2, -1)[..., ::2] if x.ndim else x):
        found, like = layout.broadcast(array, wanted), np.broadcast_to(array, wanted)
        np.testing.assert_array_equal(found, like)
        assert found.dtype == like.dtype and found.shape == wanted and not found.flags.writeable
        assert found.flags.c_contiguous == like.flags.c_contiguous
        assert found.size == 0 or np.shares_memory(found, array)


def test_broadcast_keeps_the_memory_alive_and_refuses_what_does_not_fit():
    found = layout.broadcast(np.full(1000, 7.0), (2, 1000))
    assert (np.zeros(1000) + found == 7).all()
    assert layout.broadcast(3.5, (2,)).tolist() == [3.5, 3.5]
    x = np.zeros((2, 3))
    for wrong in ((3,), (2, 4), (3, 2), (2, 3, 1), (2,)):
        with pytest.raises(ValueError, match=r"must broadcast to \(.*\), but got shape \(2, 3\)"):
            layout.broadcast(x, wrong)
    with pytest.raises(ValueError, match="no negative length"):
        layout.broadcast(x, (-1, 3))
