"""Functions that remember options they have checked refuse others that are equal but of another type."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops


def image():
    return ops.ones((1, 2, 4, 4))


def scores(**options):
    return ops.cross_entropy(ms.Tensor(np.zeros((2, 3), np.float32)), ms.Tensor(np.array([0, 2])), **options)


CASES = [
    (lambda n: ops.conv2d(image(), ops.ones((3, 2, 3, 3)), stride=n), 1, "stride"),
    (lambda n: ops.conv2d(image(), ops.ones((3, 2, 3, 3)), dilation=(1, n)), 1, "dilation"),
    (lambda n: ops.max_pool2d(image(), (2, n)), 1, "kernel_size"),
    (lambda n: ops.max_pool2d(image(), 2, n), 1, "stride"),
    (lambda n: ops.avg_pool2d(image(), 2, n), 1, "stride"),
    (lambda n: scores(ignore_index=n), 1, "ignore_index"),
    (lambda n: scores(label_smoothing=n), 0, "label_smoothing"),
    (lambda n: ops.dropout(image(), n), 0.0, "p"),
    (lambda n: ops.dropout(image(), 0.5, True, n), 1, "seed"),
    (lambda n: ops.batch_norm(image(), *[ops.ones((2,)) for _ in range(4)], momentum=n), 1.0, "momentum"),
]


@pytest.mark.parametrize("call, number, name", CASES)
def test_a_bool_is_refused_after_the_equal_int(call, number, name):
    call(number)
    for _ in range(2):
        with pytest.raises(TypeError, match=f"'{name}' must be .* got bool"):
            call(bool(number))
    call(number)


def test_the_same_numbers_as_a_list():
    x = ops.ones((1, 2, 5, 5))
    assert ops.max_pool2d(x, (2, 3)).shape == ops.max_pool2d(x, [2, 3]).shape == (1, 2, 2, 1)
    assert ops.conv2d(x, ops.ones((3, 2, 3, 3)), stride=[2, 1]).shape == (1, 3, 2, 3)


def test_options_do_not_reach_other_calls():
    x = ops.ones((1, 2, 5, 5))
    for size in (1, 2, 3, 2, 1):
        assert ops.max_pool2d(x, size, 1).shape == (1, 2, 6 - size, 6 - size)
        assert ops.avg_pool2d(x, size, 1).shape == (1, 2, 6 - size, 6 - size)
    for reduction, shape in (("mean", ()), ("none", (2,)), ("sum", ()), ("none", (2,))):
        assert scores(reduction=reduction).shape == shape
    assert ops.dropout(x, 0.5, False) is x
    assert ops.dropout(x, 0.5, True) is not x


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("rows", [0, 3])
def test_labels_that_are_all_ignored(reduction, rows):
    x, labels = ms.Tensor(np.zeros((rows, 4), np.float32)), ms.Tensor(np.full(rows, -100))
    loss, gradient = ms.value_and_grad(lambda x: ops.cross_entropy(x, labels, reduction=reduction))(x)
    wanted = {"mean": np.nan, "sum": 0, "none": np.zeros(rows)}[reduction]
    np.testing.assert_array_equal(loss.asnumpy(), wanted)
    np.testing.assert_array_equal(gradient.asnumpy(), np.zeros((rows, 4)))
