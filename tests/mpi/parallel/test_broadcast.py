"""The start: what the plan broadcasts becomes rank 0's, bit for bit; the rest stays."""

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import wrap
from dist_ms.parallel import broadcast as broadcast_file
from dist_ms.parallel.broadcast import broadcast_arrays, broadcast_parameters
from dist_ms.parallel.plan import make_plan

DTYPES = ["bool", "int8", "int32", "int64", "uint64", "float16", "float32", "float64"]
DTYPES += ["complex64", "complex128", np.dtype(ml_dtypes.bfloat16)]


def bits(rank, nbytes, top=256):
    return np.random.default_rng(rank).integers(0, top, nbytes, np.uint8)


def random_array(rank, dtype, shape):
    kind = np.dtype(dtype)
    count = int(np.prod(shape))
    values = bits(rank, count * kind.itemsize, 2 if kind.kind == "b" else 256)
    return values.view(kind).reshape(shape)


@pytest.mark.parametrize("pack", [1, 100, 4 << 20], ids=lambda n: f"packs of {n}")
def test_every_type_bit_for_bit(world, monkeypatch, pack):
    monkeypatch.setattr(broadcast_file, "PACK", pack)
    shapes = [(), (3,), (2, 5), (0,), (4, 1, 3)]
    arrays = [random_array(world.comm.rank, d, s).copy() for d in DTYPES for s in shapes]
    wanted = [random_array(0, d, s) for d in DTYPES for s in shapes]
    broadcast_arrays(arrays, world.comm)
    for array, want in zip(arrays, wanted, strict=True):
        assert array.tobytes() == want.tobytes()


def test_from_another_root(world):
    array = np.array([world.comm.rank])
    broadcast_arrays([array], world.comm, root=world.comm.size - 1)
    assert array == world.comm.size - 1


def test_arrays_in_any_layout_keep_it(world):
    values = np.arange(24.0).reshape(2, 3, 4) + world.comm.rank
    channels_last = np.ascontiguousarray(values.transpose(0, 2, 1)).transpose(0, 2, 1)
    before = channels_last.strides
    broadcast_arrays([channels_last], world.comm)
    assert channels_last.strides == before
    assert (channels_last == np.arange(24.0).reshape(2, 3, 4)).all()


def test_the_plan_decides(world):
    rank = world.comm.rank
    plain = Parameter(np.full(3, rank, np.int64) + 2**60, name="plain")
    frozen = Parameter(np.full(3, rank), name="frozen", requires_grad=False)
    own = Parameter(np.full(3, rank), name="own", layerwise_parallel=True)
    own_frozen = Parameter(np.full(3, rank), name="own_frozen", layerwise_parallel=True, requires_grad=False)
    part = Parameter(np.full(2 + rank, rank), name="part")
    part.sliced = True
    served = Parameter(np.full(3, rank), name="served")
    served.is_param_ps = True
    buffer = wrap(np.full(2, rank, np.float64))
    everything = [plain, own, frozen, part, own_frozen, served]
    memory = plain.asnumpy()
    broadcast_parameters(make_plan(everything), everything, world.comm, [buffer])
    assert memory is plain.asnumpy() and (memory == 2**60).all()
    assert not frozen.asnumpy().any() and not served.asnumpy().any() and not buffer.asnumpy().any()
    for kept in (own, own_frozen, part):
        assert (kept.asnumpy() == rank).all()
    assert part.sliced and served.is_param_ps


@pytest.mark.parametrize("shape", [(3,), (3, 400_000)], ids=["packed", "alone"])
def test_a_gradient_is_that_of_the_values_before_the_broadcast(world, shape):
    rank = world.comm.rank
    w = Parameter(np.full(shape, 1 + rank, np.float32), name="w")
    out, back = ms.vjp(lambda x: x * w, ms.Tensor(np.ones(shape, np.float32)))
    broadcast_parameters(make_plan([w]), [w], world.comm)
    assert (w.asnumpy() == 1).all() and (out.asnumpy() == 1 + rank).all()
    found = back(ms.Tensor(np.ones(shape, np.float32)))
    found = found[0] if isinstance(found, tuple) else found
    assert set(world.comm.gather_objects(bool((found.asnumpy() == 1 + rank).all()))) == {True}
