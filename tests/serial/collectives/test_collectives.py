"""Collectives with one rank, and what they refuse. With several ranks: tests/mpi/collectives/test_collectives.py."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import mint, ops
from dist_ms.communication import comm_func


@pytest.fixture(autouse=True)
def world():
    ms.communication.init()
    yield
    ms.communication.release()


def test_all_reduce_alone_is_the_value_and_its_gradient():
    x = ms.Tensor([1.0, 2.0])
    np.testing.assert_array_equal(ops.AllReduce(ops.ReduceOp.MAX)(x).asnumpy(), [1, 2])
    grad = ms.grad(lambda a: (ops.AllReduce()(a) * a).sum())(x)
    np.testing.assert_array_equal(grad.asnumpy(), [2, 4])


def test_ops_offers_every_collective():
    from dist_ms.collectives import PRIMITIVES

    for names in PRIMITIVES.values():
        for name in names:
            assert getattr(ops, name) is getattr(ops.operations, name)
            assert name in dir(ops)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ops.AllReduce("mean"), ValueError, "'op' must be one of sum, max, min, prod, avg, but got 'mean'"),
        (lambda x: ops.AllReduce(1), TypeError, "the type of 'op' must be str"),
        (lambda x: ops.AllReduce("sum", 3), TypeError, "the argument 'group' must be type of string"),
        (lambda x: ops.AllReduce("sum", "nope")(x), RuntimeError, "The group nope does not exist"),
        (lambda x: ops.AllReduce("avg")(x.astype(ms.int32)), TypeError, "'avg' needs floating-point"),
        (lambda x: ops.Broadcast(1)(x), ValueError, r"'root_rank' must be in \[0, 0\], but got 1"),
        (lambda x: ops.Broadcast(0)(3), TypeError, "'tensors' must be type of Tensor"),
        (lambda x: ops.AllGatherV()(x, [3]), ValueError, "must have this rank's length 2"),
        (lambda x: ops.AllGatherV()(x, [1, 1]), ValueError, "one length of at least 0 for each of the 1 ranks"),
        (lambda x: ops.ReduceScatterV()(x, [3]), ValueError, "must add up to 2"),
        (lambda x: ops.ReduceScatter()(ms.Tensor(1.0)), ValueError, "at least one dimension"),
        (lambda x: ops.AlltoAll(2, 0, 0)(x), ValueError, "'split_count' must be the group's size 1"),
        (lambda x: ops.AlltoAll(1, 1, 0)(x), ValueError, r"'split_dim' must be in \[-1, 0\]"),
        (lambda x: ops.AlltoAllV()(x, [1], [1]), ValueError, "must add up to the 2 elements"),
        (lambda x: ops.AlltoAllV(block_size=0), ValueError, "'block_size' must be positive"),
        (lambda x: ops.AlltoAllVC()(x, [[1.5]]), TypeError, "must hold ints"),
        (lambda x: ops.Send(0, 1)(x), ValueError, "'dest' must be in"),
        (lambda x: ops.Send(0, 0, 5), TypeError, "'group' must be type of string"),
        (lambda x: ops.Receive(9, 0, [2], ms.float32)(), RuntimeError, "nothing was sent with tag 9"),
        (lambda x: ops.BatchISendIRecv(["send"], [0]), ValueError, "'op_types' must be 'isend' or 'irecv'"),
        (lambda x: ops.BatchISendIRecv(["irecv"], [0]), ValueError, "'receive_shapes' and 'receive_dtypes' 1"),
        (lambda x: ops.NeighborExchangeV2([-1] * 7, [0] * 4, [-1] * 8, [0] * 4, "NCHW"), ValueError, "8 entries"),
        (lambda x: ops.NeighborExchangeV2([-1] * 8, [0] * 4, [-1] * 8, [0] * 4, "NHWC"), ValueError, "'NCHW'"),
        (lambda x: ops.NeighborExchange([0], [0], [[2]], [[2], [2]], ms.float32), ValueError, "one shape for each"),
        (lambda x: comm_func.all_reduce(x, async_op=1), TypeError, "'async_op' must be a bool"),
        (lambda x: comm_func.all_reduce([1.0]), TypeError, "'tensor' must be type of Tensor"),
        (lambda x: comm_func.reduce(x, 4), ValueError, r"'dst' must be one of the ranks \[0\]"),
        (lambda x: comm_func.P2POp("send", x, 0), TypeError, "'op' must be isend or irecv"),
        (lambda x: comm_func.P2POp("irecv", (2,), 0), TypeError, "'recv_dtype' must be a type"),
        (lambda x: comm_func.batch_isend_irecv([]), ValueError, "must not be empty"),
        (lambda x: mint.distributed.all_gather([x, x], x), ValueError, "must have 1 Tensors"),
        (lambda x: mint.distributed.all_gather([x.astype(ms.int32)], x), TypeError, "must be Float32 tensors"),
        (lambda x: mint.distributed.all_gather_into_tensor(x, ms.Tensor([1.0])), ValueError, "must have shape"),
        (lambda x: mint.distributed.all_gather_object([], 1), TypeError, "must be a list of 1 places"),
        (lambda x: mint.distributed.init_process_group("nccl"), ValueError, "'backend' must be"),
        (lambda x: mint.distributed.init_process_group(store=1), ValueError, "'store' must be None"),
        (lambda x: mint.distributed.init_process_group(world_size=2), ValueError, "'world_size' must be -1 or 1"),
        (lambda x: mint.distributed.get_group_rank(None, 5), ValueError, "'global_rank' must be one of"),
        (lambda x: ops.communication.set_comm_ops_inplace(False), NotImplementedError, "must be True"),
    ],
)
def test_bad_arguments(call, error, text):
    import dist_ms.ops.communication  # noqa: F401

    with pytest.raises(error, match=text):
        call(ms.Tensor([1.0, 2.0]))


def test_before_init_there_are_no_ranks():
    ms.communication.release()
    with pytest.raises(RuntimeError, match="has not been inited"):
        ops.AllReduce()(ms.Tensor([1.0]))
    assert not mint.distributed.is_initialized()
    assert mint.distributed.get_rank() == 0
