"""The truth table row by row, buckets for given sizes, the hash and the printed table."""

from types import SimpleNamespace

import numpy as np
import pytest

from dist_ms.parallel.fusion import Fusion, fusion_from_context, group_gradients
from dist_ms.parallel.plan import Sharding, make_plan, may_have_rows


def parameter(name, shape=(2, 3), dtype="float32", **flags):
    plain = {
        "requires_grad": True,
        "layerwise_parallel": False,
        "sliced": False,
        "is_param_ps": False,
        "comm_fusion": 1,
    }
    return SimpleNamespace(name=name, shape=shape, dtype=np.dtype(dtype), **(plain | flags))


@pytest.mark.parametrize(
    ("flags", "start", "gradient", "saved_by"),
    [
        ({}, "broadcast", "all_reduce", "rank 0"),
        ({"requires_grad": False}, "broadcast", "none", "rank 0"),
        ({"layerwise_parallel": True}, "keep", "keep", "every rank"),
        ({"layerwise_parallel": True, "requires_grad": False}, "keep", "none", "every rank"),
        ({"layerwise_parallel": True, "sliced": True}, "keep", "keep", "every rank"),
        ({"sliced": True}, "keep", "keep", "every rank"),
        ({"sliced": True, "requires_grad": False}, "keep", "none", "every rank"),
        ({"is_param_ps": True}, "server", "server", "server"),
    ],
)
def test_truth_table_with_servers(flags, start, gradient, saved_by):
    plan = make_plan([parameter("w", **flags)], servers=True)
    row = plan.rows[0]
    assert (row.start, row.gradient, row.saved_by) == (start, gradient, saved_by)
    assert (row.bucket is not None) == (gradient == "all_reduce") == bool(plan.buckets)


@pytest.mark.parametrize("flag", ["layerwise_parallel", "sliced"])
@pytest.mark.parametrize("servers", [True, False])
def test_own_values_on_a_server_are_a_contradiction(flag, servers):
    with pytest.raises(ValueError, match=f"parameter 'w' must not have both '{flag}' and"):
        make_plan([parameter("w", is_param_ps=True, **{flag: True})], servers=servers)


def test_a_frozen_parameter_on_a_server_is_an_error():
    with pytest.raises(ValueError, match="'requires_grad' must be True, but got False"):
        make_plan([parameter("w", is_param_ps=True, requires_grad=False)], servers=True)


def test_without_servers_is_param_ps_changes_nothing():
    served, plain = parameter("w", is_param_ps=True), parameter("w")
    assert make_plan([served]) == make_plan([plain])


def test_only_the_given_weights_have_gradients():
    a, b, c = parameter("a"), parameter("b"), parameter("c")
    plan = make_plan([a, b], [c, a])
    assert [row.name for row in plan.rows] == ["a", "b", "c"]
    assert [row.gradient for row in plan.rows] == ["all_reduce", "none", "all_reduce"]
    assert plan.rows[1].reason == "not among the trained weights"
    assert plan.weights == (2, 0)
    assert {slot.weight for slot in plan.buckets[0].slots} == {0, 1}


def test_tied_parameters_count_once():
    a, b = parameter("a"), parameter("b")
    plan = make_plan([a, b, a], [a, b, a])
    assert [row.name for row in plan.rows] == ["a", "b"]
    assert plan.weights == (0, 1, 0)
    assert plan.buckets[0].size == 12


def test_two_parameters_of_one_name_are_an_error():
    with pytest.raises(ValueError, match=r"'a' is the name of two, of shapes \(2, 3\) and \(4,\)"):
        make_plan([parameter("a"), parameter("a", (4,))])


def test_the_layout_of_a_bucket_has_no_gaps():
    weights = [parameter("a", (2, 3)), parameter("b", ()), parameter("c", (0,)), parameter("d")]
    (bucket,) = make_plan(weights).buckets
    assert bucket.dtype == np.float32 and bucket.size == 13
    assert [(s.weight, s.start, s.stop, s.shape) for s in bucket.slots] == [
        (3, 0, 6, (2, 3)),
        (2, 6, 6, (0,)),
        (1, 6, 7, ()),
        (0, 7, 13, (2, 3)),
    ]


# sizes in bytes, in order of registration
@pytest.mark.parametrize(
    ("sizes", "first", "size", "buckets"),
    [
        ([], 10, 20, []),
        ([4], 10, 20, [[0]]),
        ([4, 4, 4, 4, 4, 4, 4], 8, 12, [[6, 5], [4, 3, 2], [1, 0]]),
        ([100, 4, 4], 10, 20, [[2, 1], [0]]),  # a large one does not join a full bucket
        ([4, 100, 4], 10, 20, [[2], [1], [0]]),  # nor does anything join a large one
        ([6, 6, 6], 10, 20, [[2], [1, 0]]),  # closed before it would exceed its size
        ([10, 10, 10], 10, 20, [[2], [1, 0]]),
        ([0, 0, 10], 10, 20, [[2], [1, 0]]),
    ],
)
def test_buckets_by_size(sizes, first, size, buckets):
    assert group_gradients(sizes, ["f"] * len(sizes), Fusion(first, size)) == buckets


def test_default_sizes_are_one_and_two_megabytes():
    mb = 1 << 20
    found = group_gradients([2 * mb, mb + 1, mb - 1, 1, mb - 1], ["f"] * 5, Fusion())
    assert found == [[4, 3], [2, 1], [0]]


def test_a_bucket_holds_one_type_and_is_posted_when_its_last_gradient_is_there():
    weights = [
        parameter("a", (4,)),
        parameter("b", (4,), "float16"),
        parameter("c", (4,)),
        parameter("d", (4,), "float16"),
    ]
    plan = make_plan(weights)
    assert [(b.dtype.name, [s.weight for s in b.slots]) for b in plan.buckets] == [
        ("float16", [3, 1]),
        ("float32", [2, 0]),
    ]


def test_comm_fusion_groups_and_separates():
    flags = [1, 2, 0, 1, 0, 2]
    weights = [parameter(f"w{i}", (4,), comm_fusion=f) for i, f in enumerate(flags)]
    groups = [[s.weight for s in b.slots] for b in make_plan(weights).buckets]
    assert groups == [[4], [2], [5, 1], [3, 0]]


def test_split_indices_end_groups():
    weights = [parameter(f"w{i}", (4,), "float64" if i == 3 else "float32") for i in range(6)]
    plan = make_plan(weights, fusion=Fusion(splits=(1, 3)))
    assert [[s.weight for s in b.slots] for b in plan.buckets] == [[5, 4], [3], [2], [1, 0]]


def test_fusion_follows_the_context():
    auto = {"mode": "auto", "config": None}
    assert fusion_from_context({"openstate": True, "allreduce": auto}, []) == Fusion()
    assert fusion_from_context({"openstate": False}, [1]) == Fusion(single=True)
    assert fusion_from_context({}, [1, 4]) == Fusion(splits=(1, 4))
    by_size = {"allreduce": {"mode": "size", "config": 2}}
    assert fusion_from_context(by_size, []) == Fusion(1 << 20, 2 << 20)
    assert group_gradients([4] * 3, ["f"] * 3, Fusion(single=True)) == [[2], [1], [0]]


def test_the_hash_is_of_what_must_be_equal():
    base = make_plan([parameter("a"), parameter("b")])
    assert len(base.hash) == 32
    assert make_plan([parameter("a"), parameter("b")]).hash == base.hash
    changes = [
        {"name": "c"},
        {"shape": (3, 2)},
        {"dtype": "float64"},
        {"requires_grad": False},
        {"layerwise_parallel": True},
        {"comm_fusion": 0},
    ]
    hashes = {base.hash}
    for change in changes:
        hashes.add(make_plan([parameter("a"), parameter(**({"name": "b"} | change))]).hash)
    assert len(hashes) == 1 + len(changes)
    one, other = parameter("a"), parameter("b")
    assert make_plan([one, other], [other, one]).hash != base.hash


def test_a_rank_own_slice_may_have_its_own_shape():
    one = make_plan([parameter("a", (4, 2), layerwise_parallel=True)])
    other = make_plan([parameter("a", (5, 2), layerwise_parallel=True)])
    assert one.hash == other.hash and one != other


def test_the_plan_prints_as_a_table():
    plan = make_plan(
        [
            parameter("conv.weight", (6, 1, 5, 5)),
            parameter("table", (10,), layerwise_parallel=True),
            parameter("mean", (), requires_grad=False),
        ]
    )
    assert str(plan).splitlines() == [
        "parameter    shape         dtype    start      gradient    bucket  saved by    reason",
        "conv.weight  (6, 1, 5, 5)  float32  broadcast  all_reduce  0       rank 0      trained alike on every rank",
        "table        (10)          float32  keep       keep        -       every rank  "
        "layerwise_parallel: each rank has its own",
        "mean         ()            float32  broadcast  none        -       rank 0      not trained",
        "bucket 0: 1 gradient, float32, 600 bytes",
    ]


def test_real_parameters_make_the_same_plan():
    from dist_ms.common.parameter import Parameter

    real = Parameter(np.zeros((2, 3), np.float32), name="a")
    assert make_plan([real]) == make_plan([parameter("a")])


def sharded(weights, shards=4, **settings):
    return make_plan(weights, sharding=Sharding(shards, **settings))


def test_the_parallel_optimizer_scatters_large_weights():
    weights = [
        parameter("a", (10,)),
        parameter("small", (2,)),
        parameter("whole", (10,)),
        parameter("own", (10,), layerwise_parallel=True),
        parameter("frozen", (10,), requires_grad=False),
        parameter("b", (3, 2)),
    ]
    plan = sharded(weights, threshold=12, whole=frozenset({"whole"}))
    found = {row.name: row.gradient for row in plan.rows}
    assert found == {
        "a": "reduce_scatter",
        "small": "all_reduce",
        "whole": "all_reduce",
        "own": "keep",
        "frozen": "none",
        "b": "reduce_scatter",
    }
    assert {row.start for row in plan.rows if row.name != "own"} == {"broadcast"}
    assert [(b.shards, b.size, [s.weight for s in b.slots]) for b in plan.buckets] == [(1, 12, [2, 1]), (4, 16, [4, 0])]
    assert "bucket 1: 2 gradients, float32, 64 bytes, in 4 slices of 16" in str(plan)
    assert "each of 4 ranks updates a slice" in str(plan)
    assert plan.hash != sharded(weights).hash != make_plan(weights).hash


@pytest.mark.parametrize(
    ("threshold", "gradient"), [(39, "reduce_scatter"), (40, "reduce_scatter"), (41, "all_reduce")]
)
def test_parameters_of_fewer_bytes_than_the_threshold_stay_whole(threshold, gradient):
    assert sharded([parameter("w", (10,))], threshold=threshold).rows[0].gradient == gradient


@pytest.mark.parametrize("shards", [1, 2, 3, 5, 16])
def test_slices_cover_every_element_once(shards):
    plan = sharded([parameter("a", (10,)), parameter("b", (3,)), parameter("c", (1,))], shards)
    (bucket,) = plan.buckets
    assert bucket.size % shards == 0 and bucket.size - 14 < shards
    for slot in bucket.slots:
        ends = [bucket.slice_of(slot, rank) for rank in range(shards)]
        covered = [i for start, stop in ends for i in range(start, stop)]
        assert covered == list(range(slot.stop - slot.start))
    loads = [sum(e - s for s, e in (bucket.slice_of(slot, r) for slot in bucket.slots)) for r in range(shards)]
    assert max(loads) == bucket.size // shards and sum(loads) == 14


def test_sparse_weights_leave_the_buckets():
    weights = [parameter("table", (100, 4)), parameter("b", (4,))]
    plan = make_plan(weights, sparse={"table"})
    assert [(r.gradient, r.bucket, r.saved_by) for r in plan.rows] == [
        ("all_gather", None, "rank 0"),
        ("all_reduce", 0, "rank 0"),
    ]
    assert plan.hash != make_plan(weights).hash
    assert may_have_rows(make_plan(weights)) and not may_have_rows(plan)
