"""DistributedDataParallel and its buffers, on one rank; tests/mpi/nn/test_distributed_data_parallel.py has several."""

import importlib

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.compat
from dist_ms import nn
from dist_ms.nn.wrap.distributed_data_parallel import DistributedDataParallel
from dist_ms.nn.wrap.gradient_buffers import Bucket, FlattenGradBuffer

X = ms.Tensor(np.random.RandomState(0).randn(4, 3).astype(np.float32))


def network():
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2))
    net.update_parameters_name()
    return net


def test_gradients_are_those_of_the_network_and_add_up():
    net = network()
    wrapped = DistributedDataParallel(network())
    weights = wrapped.trainable_params()
    assert [p.name for p in weights] == [p.name for p in net.trainable_params()]
    wanted = ms.grad(lambda: (net(X) ** 2).sum(), None, net.trainable_params())()
    step = ms.value_and_grad(lambda: (wrapped(X) ** 2).sum(), None, weights)
    for times in (1, 2):
        found = step()[1]
        for f, w in zip(found, wanted):
            np.testing.assert_allclose(f.asnumpy(), times * w.asnumpy(), rtol=1e-5)
    wrapped.zero_grad()
    assert not any(f.asnumpy().any() for f in found)
    with wrapped.no_sync():
        step()
        step()
    for f, w in zip(step()[1], wanted):
        np.testing.assert_allclose(f.asnumpy(), 3 * w.asnumpy(), rtol=1e-5)


def test_it_trains():
    wrapped = DistributedDataParallel(network(), bucket_cap_mb=1e-5, average_in_collective=True, static_graph=True)
    assert len(wrapped.buffers[0].buckets) > 1
    opt = nn.SGD(wrapped.trainable_params(), 0.1)
    step = ms.value_and_grad(lambda: (wrapped(X) ** 2).mean(), None, wrapped.trainable_params())
    losses = []
    for _ in range(5):
        loss, grads = step()
        opt(grads)
        wrapped.zero_grad()
        losses.append(float(loss))
    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]


def test_types_have_buffers_of_their_own():
    net = network()
    net[2].to_float(ms.float16)
    net[2].weight.set_dtype(ms.float16)
    wrapped = DistributedDataParallel(net)
    assert [b.param_dtype for b in wrapped.buffers] == [ms.float32, ms.float16]


def test_a_parameter_without_a_gradient_is_found():
    net = network()
    wrapped = DistributedDataParallel(net)
    ms.grad(lambda: wrapped.module[0](X).sum(), None, wrapped.trainable_params())()
    with pytest.raises(RuntimeError, match=r"every parameter must get a gradient .* \['2.weight', '2.bias'\]"):
        wrapped(X)
    wrapped.zero_grad()
    wrapped(X)


def test_buckets():
    weights = [ms.Parameter(ms.Tensor(np.zeros(n, np.float32)), name=f"w{n}") for n in (2, 3, 4)]
    buffer = FlattenGradBuffer(False, ms.float32, ms.float32, weights, None, 12, 1.0, None)
    assert [(b.offset, b.numel_unpadded) for b in buffer.buckets] == [(0, 5), (5, 4)] and buffer.numel == 9
    assert [g.shape for g in buffer.grads] == [(2,), (3,), (4,)]
    buffer.grad_data._data[...] = np.arange(9)
    assert buffer.grads[1].asnumpy().tolist() == [2, 3, 4] and buffer.buckets[1].grad_data.asnumpy().tolist() == [
        5,
        6,
        7,
        8,
    ]
    buffer.register_grad_ready(weights[0])
    assert buffer.missing() == ["w3", "w4"] and not buffer.buckets[0].full
    buffer.register_grad_ready(weights[1])
    assert not buffer.buckets[0].is_reduce_issued  # the last bucket goes first, on all ranks
    buffer.register_grad_ready(weights[2])
    assert buffer.issued == 0 and buffer.missing() == []
    buffer.reset()
    assert not buffer.grad_data.asnumpy().any() and "param_lens=2" in repr(buffer)


def test_a_bucket_alone():
    w, other = (ms.Parameter(ms.Tensor([1.0]), name=n) for n in "wo")
    bucket = Bucket(True, [w], ms.Tensor([4.0]), 0, 1, None, 1, 0.5)
    with pytest.raises(ValueError, match=r"'param' must be one of \['w'\], but got o"):
        bucket.register_grad_ready(other)
    with pytest.raises(RuntimeError, match=r"those of \['w'\] are not"):
        bucket.final_grad_reduce()
    assert bucket.register_grad_ready(w) and bucket.is_reduce_issued
    for again in (lambda: bucket.register_grad_ready(w), bucket.issue_grad_reduce):
        with pytest.raises((ValueError, RuntimeError), match="twice"):
            again()
    bucket.final_grad_reduce()
    assert bucket.grad_data.asnumpy().tolist() == [2.0]


@pytest.mark.parametrize(
    "settings, error, match",
    [
        ({"find_unused_parameters": True}, ValueError, "'find_unused_parameters' must be False"),
        ({"reducer_mode": "x"}, ValueError, "'reducer_mode'"),
        ({"bucket_cap_mb": 0}, ValueError, "'bucket_cap_mb'"),
        ({"init_sync": 1}, TypeError, "'init_sync'"),
        ({"module": 1}, TypeError, "'module'"),
    ],
)
def test_wrong_arguments(settings, error, match):
    with pytest.raises(error, match=match):
        DistributedDataParallel(**{"module": network(), **settings})


def test_mindspores_paths():
    dist_ms.compat.install()
    distributed = importlib.import_module("mindspore.parallel.distributed")
    assert distributed.DistributedDataParallel is DistributedDataParallel
    buffers = importlib.import_module("mindspore.parallel.distributed.flatten_grad_buffer")
    assert buffers.Bucket is Bucket and buffers.FlattenGradBuffer is FlattenGradBuffer
