"""Operations that MindSpore has on some devices only, against its figures where its CPU has them, else by hand."""

import os

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, ops

F = np.float32


def weights(value=None):
    return Parameter(Tensor(np.array([[1, 2], [3, 4], [5, 6]], F) if value is None else np.full((3, 2), value, F)))


GRAD, ROWS = Tensor(np.array([[0.1, 0.2], [0.3, 0.4]], F)), Tensor([0, 2], ms.int32)


def test_rows_of_adagrad_are_those_of_mindspore():
    var, accum = weights(), weights(0.5)
    ops.SparseApplyAdagrad(lr=0.1)(var, accum, GRAD, ROWS)
    assert np.allclose(var.asnumpy(), [[0.9859972, 1.97278345], [3, 4], [4.9609432, 5.950763]])
    assert np.allclose(accum.asnumpy(), [[0.51, 0.54], [0.5, 0.5], [0.59, 0.66]])
    var = weights()
    ops.SparseApplyAdagrad(lr=0.1, update_slots=False)(var, weights(0.5), GRAD, ROWS)
    assert np.allclose(var.asnumpy(), [[0.98585784, 1.9717157], [3, 4], [4.9575734, 5.9434314]])


def test_the_other_rows_follow_the_whole_updates():
    every, grad = Tensor([0, 1, 2], ms.int32), np.random.default_rng(0).normal(size=(3, 2)).astype(F)
    pairs = [
        (ops.SparseApplyAdadelta(1e-6), ops.ApplyAdadelta(), (0.5, 0.25), (0.1, 0.9), (1e-6,)),
        (ops.SparseApplyProximalAdagrad(), ops.ApplyProximalAdagrad(), (0.5,), (0.1, 0.01, 0.02), ()),
    ]
    for sparse, whole, states, numbers, more in pairs:
        found, wanted = ([weights(), *map(weights, states)] for _ in range(2))
        sparse(*found, *numbers, Tensor(grad), every)
        whole(*wanted, *numbers, *more, Tensor(grad))
        assert all(np.allclose(a.asnumpy(), b.asnumpy()) for a, b in zip(found, wanted))
    found, wanted = ([weights(), weights(0.5), weights(0.25)] for _ in range(2))
    ops.SparseApplyFtrlV2(0.1, 0.01, 0.02, 0.0, -0.5)(*found, Tensor(grad), every)
    ops.SparseApplyFtrl(0.1, 0.01, 0.02, -0.5)(*wanted, Tensor(grad), every)
    assert np.allclose(found[0].asnumpy(), wanted[0].asnumpy())
    var, linear = weights(), weights(0.25)
    ops.SparseApplyFtrlV2(0.1, 0.01, 0.02, 0.3, -0.5)(var, weights(0.5), linear, GRAD, ROWS)
    assert linear.asnumpy()[0, 0] == pytest.approx(0.25 + 0.1 + 0.6 - (0.51**0.5 - 0.5**0.5) / 0.1, rel=1e-5)


def test_momentum_of_keras():
    for nesterov, step in ((False, 0.42), (True, 0.9 * 0.42 - 0.03)):
        var = weights()
        ops.ApplyKerasMomentum(use_nesterov=nesterov)(var, weights(0.5), 0.1, Tensor(np.full((3, 2), 0.3, F)), 0.9)
        assert np.allclose(var.asnumpy(), weights().asnumpy() + step)


def test_a_gradient_with_its_layers_rate_is_that_of_mindspores_page():
    w, g = np.array([[0.5, 0.8, 0.2], [0.6, 0.4, 0.2]], F), np.array([[0.4, 0.4, 0.5], [0.2, 0.4, 0.3]], F)
    squares = [Tensor((x * x).sum()) for x in (w, g)]
    found = ops.LARSUpdate()(Tensor(w), Tensor(g), *squares, Tensor(0.0), Tensor(0.001))
    assert np.allclose(found.asnumpy()[0], [0.0005265, 0.0005265, 0.00065813], atol=1e-8)
    clipped = ops.LARSUpdate(use_clip=True)(Tensor(w), Tensor(g), *squares, 0.0, 0.001)
    assert np.allclose(clipped.asnumpy(), g)


def test_blocks_of_the_first_dimensions():
    x = Tensor(np.arange(4, dtype=F).reshape(4, 1, 1, 1))
    out = ops.BatchToSpaceNDV2()(x, Tensor([2, 2]), Tensor([[0, 0], [0, 0]]))
    assert out.shape == (1, 2, 2, 1) and out.asnumpy().ravel().tolist() == [0, 1, 2, 3]
    cut = ops.BatchToSpaceNDV2()(x, Tensor([2, 2]), Tensor([[1, 0], [0, 1]]))
    assert cut.asnumpy().ravel().tolist() == [2]
    with pytest.raises(ValueError, match="must divide the batch"):
        ops.BatchToSpaceNDV2()(x, Tensor([3]), Tensor([[0, 0]]))


@pytest.mark.parametrize("mode", ["SAME", "VALID"])
def test_dilation_is_the_largest_sum(mode):
    rng = np.random.default_rng(0)
    x, hat = rng.normal(size=(2, 3, 6, 7)).astype(F), rng.normal(size=(3, 2, 3)).astype(F)
    op = ops.Dilation2D(stride=(2, 1), dilation=(1, 1, 2, 1), pad_mode=mode)
    found = op(Tensor(x), Tensor(hat)).asnumpy()
    pads = {"SAME": ((0, 1), (1, 1)), "VALID": ((0, 0), (0, 0))}[mode]
    wide = np.pad(x, ((0, 0), (0, 0), *pads), constant_values=-np.inf)
    rows, columns = found.shape[2:]
    wanted = np.full(found.shape, -np.inf, F)
    for i in range(2):
        for j in range(3):
            part = wide[:, :, 2 * i : 2 * i + 2 * rows - 1 : 2, j : j + columns]
            wanted = np.maximum(wanted, part + hat[:, i, j].reshape(-1, 1, 1))
    assert np.array_equal(found, wanted)
    gradient = ms.grad(lambda h: op(Tensor(x), h).sum())(Tensor(hat)).asnumpy()
    assert gradient.sum() == pytest.approx(found.size)


def test_patches_are_those_of_unfold():
    x = Tensor(np.arange(50, dtype=F).reshape(1, 2, 5, 5))
    for mode in ("SAME", "VALID"):
        found = ops.ExtractImagePatches([1, 1, 2, 2], [1, 1, 2, 2], [1, 1, 1, 1], mode)(x)
        wanted = ms.nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], mode)(x)
        assert np.array_equal(found.asnumpy(), wanted.asnumpy())


def test_a_convolution_of_each_channel():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 5, 5)).astype(F), rng.normal(size=(2, 3, 2, 2)).astype(F)
    found = ops.DepthwiseConv2dNative(2, 2)(Tensor(x), Tensor(w)).asnumpy()
    for c in range(3):
        for m in range(2):
            one = ops.Conv2D(1, 2)(Tensor(x[:, c : c + 1]), Tensor(w[m : m + 1, c : c + 1]))
            assert np.allclose(found[:, 2 * c + m], one.asnumpy()[:, 0], atol=1e-5)


def test_a_transposed_convolution_of_volumes_is_that_of_mindspore():
    x = Tensor(np.arange(8, dtype=F).reshape(1, 1, 2, 2, 2))
    one = Tensor(np.ones((1, 1, 2, 2, 2), F))
    wanted = [[0, 1, 1, 2, 6, 4, 2, 5, 3], [4, 10, 6, 12, 28, 16, 8, 18, 10], [4, 9, 5, 10, 22, 12, 6, 13, 7]]
    assert ops.conv3d_transpose(x, one).asnumpy().reshape(3, 9).tolist() == wanted
    same = ops.conv3d_transpose(x, one, pad_mode="pad", padding=(1,) * 6, stride=2)
    assert same.asnumpy().ravel().tolist() == list(range(8))

    def shape(channels, weight, **options):
        return ops.conv3d_transpose(ops.ones((1, channels, 3, 3, 3)), ops.ones((*weight, 2, 2, 2)), **options).shape

    assert shape(2, (2, 1), pad_mode="pad", padding=1, stride=2, output_padding=1) == (1, 1, 5, 5, 5)
    assert shape(4, (4, 2), group=2) == (1, 4, 4, 4, 4)
    assert shape(4, (4, 2), pad_mode="same", stride=2) == (1, 2, 6, 6, 6)
    with pytest.raises(ValueError, match="'output_padding' must be 0 unless"):
        shape(1, (1, 2), stride=2, output_padding=1)
    with pytest.raises(ValueError, match="5 dimensions"):
        ops.conv3d_transpose(Tensor([1.0]), Tensor([1.0]))


def test_boxes_that_overlap_better_ones():
    boxes = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]
    scores = Tensor(np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], F))
    op = ops.NonMaxSuppressionV3()
    assert op(Tensor(np.array(boxes, F)), scores, Tensor(3), Tensor(0.5), Tensor(0.0)).asnumpy().tolist() == [3, 0, 5]
    assert op(Tensor(np.array(boxes, F)), scores, 2, 0.5, 0.55).asnumpy().tolist() == [3, 0]


def test_the_transducers_loss_and_gradient():
    rng = np.random.default_rng(0)
    acts = rng.normal(size=(2, 3, 3, 4)).astype(F)
    labels, times, counts = Tensor([[1, 2], [3, 0]], ms.int32), Tensor([3, 2], ms.int32), Tensor([2, 1], ms.int32)
    op = ops.RNNTLoss(blank_label=0)
    costs, grads = (x.asnumpy() for x in op(Tensor(acts), labels, times, counts))
    logs = acts[1] - np.log(np.exp(acts[1]).sum(-1, keepdims=True))
    ways = [logs[0, 0, 3] + logs[0, 1, 0] + logs[1, 1, 0], logs[0, 0, 0] + logs[1, 0, 3] + logs[1, 1, 0]]
    assert costs[1] == pytest.approx(-np.logaddexp(*ways), rel=1e-5)
    for place in ((0, 1, 1, 2), (0, 0, 0, 0), (1, 1, 1, 0), (1, 2, 0, 1), (0, 2, 2, 3)):
        ahead, behind = acts.copy(), acts.copy()
        ahead[place] += 0.01
        behind[place] -= 0.01
        slope = (op(Tensor(ahead), labels, times, counts)[0] - op(Tensor(behind), labels, times, counts)[0]).sum()
        assert float(slope.asnumpy()) / 0.02 == pytest.approx(grads[place], abs=2e-3)
    with pytest.raises(ValueError, match="'labels' must be at most 3"):
        op(Tensor(acts), Tensor([[1, 2], [4, 0]], ms.int32), times, counts)


def test_samples_that_are_true_classes():
    true, sampled = Tensor([[1, 2], [0, 4], [3, 3]]), Tensor([0, 1, 2, 3, 4])
    rows, places, scores = ops.ComputeAccidentalHits(2)(true, sampled)
    assert rows.asnumpy().tolist() == [0, 0, 1, 1, 2, 2] and rows.dtype == ms.int32
    assert places.asnumpy().tolist() == [1, 2, 0, 4, 3, 3] and (scores.asnumpy() < -3e38).all()
    with pytest.raises(ValueError, match="'true_classes' must be"):
        ops.ComputeAccidentalHits()(true, sampled)


def test_tensors_and_gradients_in_files(tmp_path):
    x = Tensor([1.0, 2.0])
    ops.tensordump(str(tmp_path / "a" / "x.npy"), x)
    ops.TensorDump("in")(str(tmp_path / "b"), x.astype(ms.bfloat16))
    gradient = ms.grad(lambda x: (ops.DumpGradient()(str(tmp_path / "g"), x, "out") * 3).sum())(x)
    assert gradient.asnumpy().tolist() == [3, 3]
    (first,), files = os.listdir(tmp_path / "a"), sorted(p.name for p in tmp_path.iterdir() if p.is_file())
    assert first.startswith("x_float32_") and np.load(tmp_path / "a" / first).tolist() == [1, 2]
    assert [name.rpartition("_")[0] for name in files] == ["b_bfloat16", "g_float32"]
    assert np.load(tmp_path / files[1]).tolist() == [3, 3]
    for call, error in (
        (lambda: ops.tensordump("x", x, "y"), ValueError),
        (lambda: ops.tensordump(1, x), TypeError),
        (lambda: ops.tensordump("x", 1), TypeError),
        (lambda: ops.TensorDump("y"), ValueError),
        (lambda: ops.move_to(x, "Ascend"), ValueError),
    ):
        with pytest.raises(error):
            call()
    assert ops.move_to(x) is x and ops.MoveTo()(x, "CPU", True) is x
    target = Tensor([0.0, 0.0])
    assert ops.CopyWithSlice()(target, x).asnumpy().tolist() == target.asnumpy().tolist() == [1, 2]


def test_types_of_values_are_those_of_mindspores_graphs():
    x = Tensor([1.0, 2.0])
    assert [str(ops.typeof(v)) for v in (x, 1, 1.5, True)] == ["Tensor[Float32]", "Int64", "Float32", "Bool"]
    yes = ((x, ms.tensor_type), (x, ms.TensorType(ms.float32)), (1, ms.int64), (1, ms.int_), (1.5, ms.float32))
    assert all(ops.hastype(*pair) for pair in (*yes, ((1, 2), ms.tuple_), ([1], ms.list_), (True, ms.bool_)))
    assert not ops.hastype(1.0, ms.float64) and not ops.hastype(x, ms.float32)
    assert ops.DtypeToEnum()("Cast", "dtype", ms.bfloat16) == 45 and ops.SliceGetItem(slice(1, 2, 3), "step") == 3
    with pytest.raises(TypeError, match="For 'Cast', 'dtype' must be a dtype"):
        ops.DtypeToEnum()("Cast", "dtype", "x")


def test_pythons_own_as_operations():
    x = Tensor([1.0, 2.0])
    assert ops.augassign_add((1, 2), (3,)) == (1, 2, 3) and ops.augassign_div(7, 2) == 3.5
    assert ops.augassign_mod(7, 2) == 1 and ops.augassign_floordiv(x, 2).asnumpy().tolist() == [0, 1]
    assert ops.augassign_mul(2, x).asnumpy().tolist() == [2, 4] and ops.augassign_sub(x, x).asnumpy().tolist() == [0, 0]
    assert ops.hyper_add(((1,), 2), ((3,), 4)) == ((4,), 6)
    assert ops.is_tensor_bool_cond(Tensor([1.0])) and not ops.is_sequence_shape_unknown((1,))
    for value, error in ((x, ValueError), (1, TypeError)):
        with pytest.raises(error):
            ops.is_tensor_bool_cond(value)
    double = ops.PyFunc(lambda a: (a * 2,), [ms.float32], [(2,)], [ms.float32], [(2,)])
    assert double(x)[0].asnumpy().tolist() == [2, 4]
    assert ops.Reusing()(x) is x and ops.UpdateState()(x, 1) is x


def test_recurrences_of_ascend_are_found_in_ops():
    assert ops.DynamicRNN()(ops.ones((2, 1, 3)), ops.ones((5, 8)), ops.zeros(8))[0].shape == (2, 1, 2)
    assert ops.DynamicGRUV2.__module__ == "dist_ms.compat.inner.operations.ascend_operations"
    assert ops.set_comm_ops_inplace(True) is None
