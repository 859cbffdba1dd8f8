"""CTCLoss, CTCLossV2, CTCGreedyDecoder and the maps between data formats."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.ops.losses.ctc_primitives import CTCGreedyDecoder, CTCLossV2, ctc_greedy_decoder
from dist_ms.ops.shaping.format_maps import DataFormatDimMap, DataFormatVecPermute, MapUniform


def one_hot(rows):
    return ms.Tensor(np.eye(3, dtype=np.float32)[np.array(rows).T])


def test_labels_that_are_no_class_fill_up_the_end_of_a_sequence():
    x = ms.Tensor(np.random.RandomState(0).randn(6, 2, 5).astype(np.float32))
    short = ms.Tensor([[0, 0], [1, 0], [1, 1]])
    loss, slope = ms.ops.CTCLoss()(x, short, ms.Tensor([0, 1, 2], ms.int32), ms.Tensor([6, 6], ms.int32))
    full = ms.Tensor([[n, k] for n in range(2) for k in range(3)])
    for rest in (4, 5, -1):
        filled = ms.Tensor([0, rest, rest, 1, 2, rest], ms.int32)
        same = ms.ops.CTCLoss()(x, full, filled, ms.Tensor([6, 6], ms.int32))
        np.testing.assert_array_equal(same[0].asnumpy(), loss.asnumpy())
        np.testing.assert_array_equal(same[1].asnumpy(), slope.asnumpy())
    np.testing.assert_allclose(loss.asnumpy(), [7.476233, 3.6822872], rtol=1e-5)  # MindSpore's
    with pytest.raises(ValueError, match=r"'labels_values' in \[0, 4\), but at the end of a sequence"):
        ms.ops.CTCLoss()(x, short, ms.Tensor([0, 4, 2], ms.int32), ms.Tensor([6, 6], ms.int32))


def test_decoder_drops_blanks_and_merges():
    x, lengths = one_hot([[0, 0, 2, 0], [1, 2, 2, 1]]), ms.Tensor([4, 3], ms.int32)
    places, values, shape, total = CTCGreedyDecoder()(x, lengths)
    assert places.asnumpy().tolist() == [[0, 0], [0, 1], [1, 0]] and values.asnumpy().tolist() == [0, 0, 1]
    assert shape.asnumpy().tolist() == [2, 2] and total.asnumpy().tolist() == [[-4], [-3]]
    assert ctc_greedy_decoder(x, lengths, False)[1].asnumpy().tolist() == [0, 0, 0, 1]
    with pytest.raises(RuntimeError, match="sequence_length"):
        ctc_greedy_decoder(x, ms.Tensor([5, 1], ms.int32))


def test_loss_is_that_of_the_function_with_its_gradient():
    x = ms.Tensor(np.log(np.random.RandomState(0).dirichlet(np.ones(3), (4, 2))).astype(np.float32))
    rest = [ms.Tensor(a, ms.int32) for a in ([[1, 2], [2, 1]], [4, 3], [2, 1])]
    loss, alpha = CTCLossV2()(x, *rest)
    wanted, states = ops.ctc_loss(x, *rest, reduction="none")
    np.testing.assert_array_equal(loss.asnumpy(), wanted.asnumpy())
    np.testing.assert_array_equal(alpha.asnumpy(), states.asnumpy())
    assert ms.grad(lambda v: CTCLossV2()(v, *rest)[0].sum())(x).asnumpy().any()
    with pytest.raises(ValueError, match="reduction"):
        CTCLossV2(reduction="mean")


def sparse_loss(labels, **options):
    """The loss of a sequence and of an empty one, and their gradient."""
    x = np.repeat(np.random.RandomState(0).randn(5, 1, 4), 2, 1).astype(np.float32)
    places = ms.Tensor([[0, i] for i in range(len(labels))])
    with_lengths = ms.Tensor(labels, ms.int32), ms.Tensor([5, 5], ms.int32)
    return [out.asnumpy() for out in ops.CTCLoss(**options)(ms.Tensor(x), places, *with_lengths)]


def test_labels_that_repeat_may_count_once():
    once = {"preprocess_collapse_repeated": True}
    np.testing.assert_array_equal(sparse_loss([0, 0, 1, 1, 0], **once)[0], sparse_loss([0, 1, 0])[0])
    assert sparse_loss([0, 0])[0][0] != sparse_loss([0, 0], **once)[0][0]


def test_format_maps():
    x = ms.Tensor([0, 1, 2, 3, -4])
    assert DataFormatDimMap()(x).asnumpy().tolist() == [0, 3, 1, 2, 0]
    assert DataFormatDimMap("NCHW", "NHWC")(x).asnumpy().tolist() == [0, 2, 3, 1, 0]
    rows = ms.Tensor([[1, 2], [3, 4], [5, 6], [7, 8]])
    assert DataFormatVecPermute("NCHW", "NHWC")(rows).asnumpy().tolist() == [[1, 2], [5, 6], [7, 8], [3, 4]]
    assert MapUniform()(ms.Tensor([0, 1, 2, 5]), 4, 2).asnumpy().tolist() == [0, 4, 1, 6]
    with pytest.raises(ValueError, match="src_format"):
        DataFormatDimMap("NHCW")
    with pytest.raises(ValueError, match=r"\[-4, 4\)"):
        DataFormatDimMap()(ms.Tensor([4]))
