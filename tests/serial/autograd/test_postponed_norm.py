"""BatchNorm's result is written by what reads it first: fused where it can be, and never otherwise than unfused."""

import copy
import pickle

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.ops.layers import postponed_norm

CHANNELS = 16


class Network(nn.Cell):
    """A convolution, BatchNorm, and what a case does with the result and with the convolution's."""

    def __init__(self, after, channels=CHANNELS):
        super().__init__()
        self.conv, self.bn, self.after = nn.Conv2d(3, channels, 3), nn.BatchNorm2d(channels), after

    def construct(self, x):
        before = self.conv(x)
        return self.after(self.bn(before), before)


def made(after, monkeypatch, postpones, derive=True, dtype=ms.float32):
    """Loss, gradients of input and weights and the parameters after a step, and how results were written."""
    written, forms = (
        [],
        {(False, False): "plain", (True, False): "relu", (False, True): "sum", (True, True): "sum relu"},
    )
    write, gradients = postponed_norm.NormLater._written, postponed_norm.MaskLater.gradients

    def seen(later, relu):
        written.append(forms[relu, later._addend is not None])
        return write(later, relu)

    def seen_gradients(later, *args):
        found = gradients(later, *args)
        written.append("gradient" if found else "gradient apart")
        return found

    monkeypatch.setattr(postponed_norm.NormLater, "_written", seen)
    monkeypatch.setattr(postponed_norm.MaskLater, "gradients", seen_gradients)
    monkeypatch.setattr(postponed_norm, "LEAST", 1 if postpones else 10**12)
    ms.set_seed(1)
    network = Network(after).set_train()
    run = ms.amp.auto_mixed_precision(network, "auto", ms.bfloat16) if dtype is ms.bfloat16 else network
    rng = np.random.default_rng(1)
    x = ms.Tensor(rng.standard_normal((4, 3, 9, 7)).astype(np.float32))
    weight = ms.Tensor(rng.standard_normal((4, CHANNELS, 9, 7)).astype(np.float32))

    def loss(x):
        out = run(x)
        return (out.astype(ms.float32) * weight).sum()

    if derive:
        value, (dx, dw) = ms.value_and_grad(loss, 0, network.trainable_params())(x)
        arrays = [value, dx, *dw, *network.get_parameters()]
    else:
        arrays = [run(x), *network.get_parameters()]
    monkeypatch.undo()
    return [a.asnumpy().copy() for a in arrays], written


def check(after, monkeypatch, wanted, **options):
    """The bits are those of separate operations, and results were written as `wanted`."""
    found, how = made(after, monkeypatch, True, **options)
    apart, nothing = made(after, monkeypatch, False, **options)
    assert nothing == []
    assert [a.tobytes() for a in found] == [a.tobytes() for a in apart]
    assert how == wanted


def hooked_before(y, before):
    y.register_hook(lambda g: g * 2)
    return ops.relu(y)


def hooked_after(y, before):
    out = ops.relu(y)
    y.register_hook(lambda g: g * 2)
    return out


def printed(y, before):
    assert "Tensor" in repr(y) and str(y)
    return ops.relu(y)


def read(y, before):
    assert y.asnumpy().shape == y.shape
    return ops.relu(y)


def written_to(y, before):
    before.asnumpy()[...] = 0
    return ops.relu(y)


def written_to_after(y, before):
    out = ops.relu(y)
    before.asnumpy()[...] = 0
    return out + y


def assigned(y, before):
    before[0] = 0.0
    return ops.relu(y)


def addend_written(y, before):
    total = y + before
    before.asnumpy()[...] = 0
    return ops.relu(total)


def in_place(y, before):
    return ops.relu(y, True)


FUSED = {
    "relu": (lambda y, before: ops.relu(y), ["relu", "gradient"]),
    "layer": (lambda y, before: nn.ReLU()(y), ["relu", "gradient"]),
    "sum": (lambda y, before: ops.relu(y + before), ["sum relu", "gradient"]),
    "sum of other order": (lambda y, before: ops.relu(before + y), ["sum relu", "gradient"]),
    "form read": (lambda y, before: ops.relu(y) if y.dtype == ms.float32 and y.ndim == 4 else y, ["relu", "gradient"]),
    "hook later": (hooked_after, ["relu"]),
    "in place": (in_place, ["relu", "gradient"]),
}
ESCAPES = {
    "returned": (lambda y, before: y, ["plain"]),
    "other operation": (lambda y, before: ops.tanh(y), ["plain"]),
    "hook": (hooked_before, ["relu"]),
    "printed": (printed, ["plain", "gradient"]),
    "read": (read, ["plain", "gradient"]),
    "view": (lambda y, before: ops.relu(y[:, :, ::2]).sum() + y, ["plain"]),
    "reshaped": (lambda y, before: ops.relu(y.reshape(4, -1)).reshape(y.shape), ["plain"]),
    "two consumers": (lambda y, before: ops.relu(y) * y, ["relu", "plain"]),
    "two sums": (lambda y, before: ops.relu(y + before) + ops.relu(y + 1.0), ["sum relu", "plain"]),
    "twice itself": (lambda y, before: ops.relu(y + y), ["plain"]),
    "number added": (lambda y, before: ops.relu(y + 1.0), ["plain", "gradient"]),
    "broadcast addend": (lambda y, before: ops.relu(y + before[:1]), ["plain"]),
    "sum alone": (lambda y, before: y + before, ["sum"]),
    "sum of three": (lambda y, before: ops.relu(y + before + before), ["plain", "sum"]),
    "input assigned": (assigned, ["plain", "gradient"]),
    "addend written": (addend_written, ["plain", "sum", "gradient"]),
    "no gradient": (lambda y, before: ops.relu(ops.stop_gradient(y)) + before, ["plain"]),
    "cast": (lambda y, before: ops.relu(y.astype(ms.float16)), ["plain"]),
    "copied": (lambda y, before: ops.relu(copy.deepcopy(y)) + before, ["plain"]),
    "pickled": (lambda y, before: ops.relu(pickle.loads(pickle.dumps(y))) + before, ["plain"]),
    "recomputed": (lambda y, before: ms.recompute(lambda a: ops.relu(a), y, use_reentrant=False), ["plain"]),
    "jit": (lambda y, before: ms.jit(lambda a: ops.relu(a))(y), ["relu", "gradient"]),
}


SUMS = ("sum", "sum of other order")  # in mixed precision their addend is cast in between, which ends the wait


@pytest.mark.parametrize(
    ("case", "dtype"), [(c, d) for d in (ms.float32, ms.bfloat16) for c in FUSED if d is ms.float32 or c not in SUMS]
)
def test_fused(case, dtype, monkeypatch):
    after, wanted = FUSED[case]
    check(after, monkeypatch, wanted, dtype=dtype)


@pytest.mark.parametrize("case", ESCAPES)
def test_escapes(case, monkeypatch):
    after, wanted = ESCAPES[case]
    check(after, monkeypatch, wanted)


@pytest.mark.parametrize(
    ("after", "wanted"), [(written_to, ["plain"]), (written_to_after, ["relu", "plain"])], ids=["before", "after"]
)
def test_what_it_is_made_from_is_written_to(after, wanted, monkeypatch):
    check(after, monkeypatch, wanted, derive=False)


@pytest.mark.parametrize("part", [slice(None), 0], ids=["whole", "view"])
def test_who_holds_an_input_may_write_to_it(part, monkeypatch):
    network, x = network_and_input(None, monkeypatch)
    before = network.conv(x)
    held = before.asnumpy()[part]
    result = network.bn(before)
    held[...] = 0
    assert np.ptp(result.asnumpy(), axis=(2, 3)).all()


def test_threads_give_the_same_bits(monkeypatch):
    from dist_ms._ext import threads

    before = threads.get_num_threads()
    found = []
    for number in (1, 2):
        threads.set_num_threads(number)
        found.append(made(lambda y, b: ops.relu(y + b), monkeypatch, True)[0][0])
    threads.set_num_threads(before)
    assert found[0].tobytes() == found[1].tobytes()


def network_and_input(after, monkeypatch, postpones=True):
    monkeypatch.setattr(postponed_norm, "LEAST", 1 if postpones else 10**12)
    ms.set_seed(1)
    x = np.random.default_rng(2).standard_normal((2, 3, 5, 4)).astype(np.float32)
    return Network(after).set_train(), ms.Tensor(x)


def both(run, monkeypatch):
    """What `run(network, x)` returns with and without waiting, as bytes, is the same."""
    found = []
    for postpones in (True, False):
        network, x = network_and_input(lambda y, before: ops.relu(y), monkeypatch, postpones)
        found.append([a.asnumpy().tobytes() for a in run(network, x)])
    assert found[0] == found[1]


def test_second_order(monkeypatch):
    def run(network, x):
        return (ms.grad(lambda x: (ms.grad(lambda x: (network(x) ** 2).sum())(x) ** 2).sum())(x),)

    both(run, monkeypatch)


def test_jvp(monkeypatch):
    both(lambda network, x: ms.jvp(network, (x,), (ops.ones_like(x),)), monkeypatch)


def test_vmap(monkeypatch):
    def run(network, x):
        return (ms.vmap(lambda x: network(x))(ops.stack([x, x + 1.0])),)

    both(run, monkeypatch)


def test_cell_hooks(monkeypatch):
    def run(network, x):
        seen = []
        network.bn.register_forward_hook(lambda cell, given, result: seen.append(result.asnumpy().copy()))
        network.bn.register_backward_hook(lambda cell, dx, dy: seen.append(dy[0].asnumpy().copy()))
        gradient = ms.grad(lambda x: (network(x) ** 2).sum())(x)
        return gradient, *map(ms.Tensor, seen)

    both(run, monkeypatch)


def test_saved_tensor_hooks(monkeypatch):
    def run(network, x):
        def loss(x):
            with ms.saved_tensors_hooks(lambda t: t.asnumpy().copy(), ms.Tensor):
                return (network(x) ** 2).sum()

        return (ms.grad(loss)(x),)

    both(run, monkeypatch)


def test_weights_move_before_a_result_is_read(monkeypatch):
    def run(network, x):
        network.after = lambda y, before: y
        _, result = ms.value_and_grad(lambda x: (x.sum(), network(x)), 0, has_aux=True)(x)[0]
        network.bn.gamma.set_data(network.bn.gamma + 1.0)
        network.bn.beta.set_data(network.bn.beta + 1.0)
        return (result,)

    both(run, monkeypatch)


def test_nobody_wants_the_result(monkeypatch):
    """What only waited is never made."""
    network, x = network_and_input(lambda y, before: before, monkeypatch)
    monkeypatch.setattr(postponed_norm.NormLater, "_written", None)
    assert ops.tanh(network(x)).shape == (2, CHANNELS, 5, 4)


def test_small_inputs_do_not_wait(monkeypatch):
    network, x = network_and_input(lambda y, before: y, monkeypatch)
    assert network(x)._later is not None
    monkeypatch.setattr(postponed_norm, "LEAST", 10**6)
    assert network(x)._later is None


ADDENDS: list = []
INFERENCE = {
    "relu": (lambda y, before: ops.relu(y), [(True, False)]),
    "sum": (lambda y, before: ops.relu(y + ADDENDS[0]), [(True, True)]),
    "sum of other order": (lambda y, before: ops.relu(ADDENDS[0] + y), [(True, True)]),
    "sum alone": (lambda y, before: y + ADDENDS[0], [(False, True)]),
    "read": (lambda y, before: y, [(False, False)]),
    "addend held": (lambda y, before: ops.relu(y + ADDENDS[0]), [(False, False)]),
}


@pytest.mark.parametrize("case", INFERENCE)
def test_inference(case, monkeypatch):
    after, wanted = INFERENCE[case]
    how, found, write = [], [], postponed_norm.InferLater._written

    def seen(later, relu):
        how.append((relu, later._addend is not None))
        return write(later, relu)

    monkeypatch.setattr(postponed_norm.InferLater, "_written", seen)
    for postpones in (True, False):
        network, x = network_and_input(after, monkeypatch, postpones)
        ADDENDS[:] = [network.conv(x)]
        held = ADDENDS[0].asnumpy()[0] if case == "addend held" else None
        found.append(network.set_train(False)(x).asnumpy().tobytes())
        del held
    ADDENDS.clear()
    assert found[0] == found[1]
    assert how == wanted
