"""What a reducer's parts do with one gradient after the other: rows, what stays on its rank, and how samples count."""

import numpy as np
import pytest

from dist_ms import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.communication import LocalComm
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.reduction.kept import Kept
from dist_ms.parallel.reduction.row_gradients import pays
from dist_ms.parallel.reduction.row_sums import RowSums
from dist_ms.parallel.reduction.samples import SampleCount
from dist_ms.parallel.reduction.summation import Summation
from tests.serial.parallel.test_plan import parameter


class Pair(LocalComm):
    """One of two ranks, as far as sizes tell."""

    def __init__(self):
        super().__init__()
        self.size = 2


def tensor(*values):
    return Tensor(np.array(values, np.float32))


@pytest.mark.parametrize(("divisor", "expected"), [(1, [2.0, 4.0]), (2, [1.0, 2.0])])
def test_servers_average_so_a_sum_is_pushed_as_often_as_there_are_ranks(divisor, expected):
    plan = make_plan([parameter("w", (2,), is_param_ps=True)], servers=True)
    summation = Summation(Pair(), divisor)
    kept = Kept(plan, summation)
    kept.take(0, tensor(1, 2), 1.0)
    kept.reduce(summation.after)
    assert kept.result(0).asnumpy().tolist() == expected


def test_gradients_that_are_added_up_stay_what_they_were():
    kept = Kept(make_plan([parameter("w", (2,), layerwise_parallel=True)]), Summation(LocalComm()))
    first, second = tensor(1, 2), tensor(10, 20)
    for grad in (first, second, tensor(100, 200)):
        kept.take(0, grad, 1.0)
    assert kept.result(0).asnumpy().tolist() == [111, 222]
    assert (first.asnumpy().tolist(), second.asnumpy().tolist()) == ([1, 2], [10, 20])


@pytest.mark.parametrize("hook", [None, lambda bucket: bucket.array])
@pytest.mark.parametrize("divisor", [1, 3, 4])
def test_rows_are_divided_once_whether_or_not_a_hook_adds_the_buckets(hook, divisor):
    table = parameter("w", (8, 2))
    summation = Summation(LocalComm(), divisor)
    rows = RowSums(make_plan([table], sparse=["w"]), [0], summation)
    summation.hook = hook
    rows.take(0, RowTensor(Tensor(np.array([5])), tensor([3, 6]), (8, 2)), 1.0)
    rows.reduce(summation.after)
    np.testing.assert_allclose(rows.result(0).values.asnumpy(), [[3 / divisor, 6 / divisor]], rtol=1e-6)


@pytest.mark.parametrize(("ranks", "expected"), [(2, True), (4, True), (5, False), (16, False)])
def test_rows_pay_while_those_of_all_ranks_are_few(ranks, expected):
    """10 rows of 24 bytes with their numbers on each rank, counted twice, against 138 rows of 16 bytes."""
    grad = RowTensor(Tensor(np.arange(10)), Tensor(np.ones((10, 4), np.float32)), (138, 4))
    grad.whole = True
    assert pays(grad, ranks) == expected


def test_sums_of_samples_stay_exact_on_all_ranks_together():
    count = SampleCount(Pair(), True)
    count.set(1 << 23)
    count.begin()
    assert count.mine == 1 << 23
    with pytest.raises(ValueError, match=r"'samples' must be in \[0, 8388608\], but got 8388609"):
        count.set((1 << 23) + 1)
