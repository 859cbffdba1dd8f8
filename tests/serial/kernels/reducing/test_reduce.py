"""`dist_ms._ext.reduce` against NumPy: every type, operation, number of arrays and of threads."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import threads
from dist_ms._ext.reduce import KINDS, OPS, reduce

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NARROW = (np.dtype(np.float16), BFLOAT16)
UFUNCS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def dtype_of(name):
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def twin(sources, op, scale=1.0):
    dtype = sources[0].dtype
    if dtype.kind == "b":
        return (np.logical_or if op in ("sum", "max") else np.logical_and).reduce(sources)
    wide = np.dtype(np.float32) if dtype in NARROW else dtype
    result = sources[0].astype(wide)
    for source in sources[1:]:
        result = UFUNCS[op](result, source.astype(wide), dtype=wide)
    return (result if scale == 1 else result * wide.type(scale)).astype(dtype)


def draw(rng, dtype, size):
    if dtype.kind in "biu":
        bits = rng.integers(0, 256, size * dtype.itemsize, np.uint8)
        return bits % 2 == 0 if dtype.kind == "b" else bits.view(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(size) + 1j * rng.standard_normal(size)).astype(dtype)
    return (rng.standard_normal(size) * 10.0 ** rng.integers(-6, 4, size)).astype(dtype)


def same(found, want):
    if found.dtype.kind == "c":  # a compiler may contract a complex product
        np.testing.assert_allclose(found, want, rtol=1e-5 if found.dtype == np.complex64 else 1e-14)
    else:
        np.testing.assert_array_equal(found.view(np.uint8), want.view(np.uint8))


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("op", list(OPS))
@pytest.mark.parametrize("name", list(KINDS))
def test_against_numpy(name, op, count):
    dtype = dtype_of(name)
    rng = np.random.default_rng(count)
    sources = [draw(rng, dtype, 0) for _ in range(count)]
    if dtype.kind == "c" and op in ("max", "min"):
        with pytest.raises(ValueError, match="must be 'sum' or 'prod' for complex"):
            reduce(sources, np.empty(0, dtype), op)
        return
    for size in (0, 1, 3, 17, 2048, 2049, 10_007):
        sources = [draw(rng, dtype, size) for _ in range(count)]
        out = np.empty(size, dtype)
        with np.errstate(all="ignore"):
            want = twin(sources, op)
        reduce(sources, out, op)
        same(out, want)
        reduce(sources, sources[-1], op)  # the output may be a source
        same(sources[-1], want)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_scale(name):
    rng = np.random.default_rng(0)
    sources = [draw(rng, dtype_of(name), 5001) for _ in range(3)]
    out = np.empty_like(sources[0])
    with np.errstate(all="ignore"):
        want = twin(sources, "sum", 1 / 3)
    reduce(sources, out, scale=1 / 3)
    same(out, want)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_16_bit_float_and_every_rounding(name):
    every = np.arange(65536, dtype=np.uint16).view(dtype_of(name))
    out = np.empty_like(every)
    reduce([every], out)
    nan = np.isnan(every.astype(np.float32))
    np.testing.assert_array_equal(out.view(np.uint16)[~nan], every.view(np.uint16)[~nan])
    assert np.isnan(out[nan].astype(np.float32)).all()
    rng = np.random.default_rng(2)
    for _ in range(20):
        other = rng.permutation(every)
        with np.errstate(all="ignore"):
            want = twin([every, other], "sum")
        reduce([every, other], out)
        nan = np.isnan(want.astype(np.float32))
        np.testing.assert_array_equal(out.view(np.uint16)[~nan], want.view(np.uint16)[~nan])
        assert np.isnan(out[nan].astype(np.float32)).all()


def test_nan_comes_out_as_nan():
    for op in OPS:
        for at in range(3):
            sources = [np.ones(20, np.float32) for _ in range(3)]
            sources[at][7] = np.nan
            out = np.empty(20, np.float32)
            reduce(sources, out, op)
            assert np.isnan(out).tolist() == [i == 7 for i in range(20)]


def test_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(3)
    sources = [rng.standard_normal(1_000_003).astype(np.float32) for _ in range(3)]
    found, before = [], threads.get_num_threads()
    for count in (1, 2, 3):
        threads.set_num_threads(count)
        found.append(np.empty_like(sources[0]))
        reduce(sources, found[-1])
    threads.set_num_threads(before)
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()
    assert (found[0] == twin(sources, "sum")).all()


def test_what_is_wrong_is_named():
    x = np.ones(4, np.float32)
    with pytest.raises(ValueError, match="must have at least one array"):
        reduce([], x)
    with pytest.raises(ValueError, match=r"'sources\[1\]' must be of the output's type and size float32\[4\]"):
        reduce([x, np.ones(5, np.float32)], x)
    with pytest.raises(ValueError, match="'sources.0.' must be of the output's type"):
        reduce([np.ones(4)], x)
    with pytest.raises(TypeError, match=r"must be a numpy.ndarray, but got list"):
        reduce([[1, 2, 3, 4]], x)
    with pytest.raises(ValueError, match="must be C-contiguous"):
        reduce([np.ones(8, np.float32)[::2]], x)
    with pytest.raises(ValueError, match="'op' must be one of"):
        reduce([x], x, "mean")
    with pytest.raises(ValueError, match="'scale' must be 1 for int32"):
        reduce([np.ones(2, np.int32)], np.ones(2, np.int32), scale=0.5)
    with pytest.raises(TypeError, match="'out' must hold numbers, but got datetime64"):
        reduce([], np.zeros(2, "M8[s]"))
    x.flags.writeable = False
    with pytest.raises(ValueError, match="must be writeable"):
        reduce([np.ones(4, np.float32)], x)
