"""Data pipelines: sources, stages, shards, iterators, errors."""

import gc
import threading
import time

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds

X = np.arange(10, dtype=np.float32).reshape(5, 2)
Y = np.arange(5)


def source(**kwargs):
    kwargs.setdefault("shuffle", False)
    return ds.NumpySlicesDataset((X, Y), ["a", "b"], **kwargs)


def second(data):
    return [np.asarray(row[1]).tolist() for row in data.create_tuple_iterator(output_numpy=True)]


def test_numpy_slices():
    row = next(iter(source()))
    assert isinstance(row, list) and row[0].dtype is ms.float32 and row[1].dtype is ms.int64 and row[1].shape == ()
    assert ds.NumpySlicesDataset((X, Y)).get_col_names() == ["column_0", "column_1"]
    data = ds.NumpySlicesDataset({"p": [1, 2], "q": [3.0, 4.0]}, shuffle=False)
    assert data.get_col_names() == ["p", "q"]
    assert [r.dtype for r in next(iter(data))] == [ms.int64, ms.float64]
    first = next(iter(source().create_dict_iterator(output_numpy=True)))
    assert list(first) == ["a", "b"] and first["a"].tolist() == [0.0, 1.0]


def test_shards_have_one_length_and_cover_everything():
    assert [second(source(num_shards=2, shard_id=r)) for r in range(2)] == [[0, 2, 4], [1, 3, 0]]
    assert source(num_shards=2, shard_id=1).get_dataset_size() == 3
    for epoch_seed in (1, 2):
        ds.config.set_seed(epoch_seed)
        parts = [second(source(shuffle=True, num_shards=2, shard_id=r)) for r in range(2)]
        assert set(parts[0] + parts[1]) == set(range(5))


def test_shuffle_differs_by_epoch_and_repeats_by_seed():
    data = ds.NumpySlicesDataset(np.arange(50))
    epochs = [[int(r[0]) for r in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] for _ in range(2)]
    assert epochs[0] != epochs[1] and sorted(epochs[0]) == sorted(epochs[1]) == list(range(50))
    again = ds.NumpySlicesDataset(np.arange(50))
    assert [int(r[0]) for r in again.create_tuple_iterator(output_numpy=True)] == epochs[0]


def test_batch():
    assert second(source().batch(2)) == [[0, 1], [2, 3], [4]]
    data = source().batch(2, drop_remainder=True)
    assert data.get_dataset_size() == len(data) == 2 and data.get_batch_size() == 2
    assert data.output_shapes() == [[2, 2], [2]] and data.output_types() == [np.float32, np.int64]
    mapped = source().map(lambda a: a, "a").batch(2)
    assert second(mapped) == [[0, 1], [2, 3], [4]]
    assert [r[0].shape[0] for r in source().batch(lambda info: info.get_batch_num() + 1)] == [1, 2, 2]


def test_per_batch_map():
    data = source().batch(2, per_batch_map=lambda b, info: ([v * 10 for v in b],), input_columns=["b"])
    assert second(data)[0] == [0, 10]


def test_stages():
    assert source().batch(2).repeat(3).get_dataset_size() == 9 and source().repeat(2).get_repeat_count() == 2
    assert second(source().take(2)) == [0, 1] and second(source().skip(3)) == [3, 4]
    assert second(source().filter(lambda b: b > 2, input_columns=["b"])) == [3, 4]
    assert second(source().concat(source())) == second(source() + source()) == [0, 1, 2, 3, 4] * 2
    assert source().project(["b"]).get_col_names() == ["b"]
    joined = ds.zip((source().rename(["a", "b"], ["c", "d"]), source()))
    assert joined.get_col_names() == ["c", "d", "a", "b"] and len(next(iter(joined))) == 4
    assert sorted(second(source().shuffle(3))) == [0, 1, 2, 3, 4]
    assert second(source().apply(lambda d: d.take(1))) == [0]
    assert [second(p) for p in source().split([3, 2], randomize=False)] == [[0, 1, 2], [3, 4]]
    parts = source().split([0.6, 0.4])
    assert sorted(second(parts[0]) + second(parts[1])) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("workers", [1, 3])
def test_map(workers):
    data = source().map([lambda a: a + 1, lambda a: a * 2], ["a"], num_parallel_workers=workers)
    rows = list(data.create_tuple_iterator(output_numpy=True))
    np.testing.assert_array_equal([r[0] for r in rows], (X + 1) * 2)
    assert source().map(lambda a: (a, a + 1), "a", ["u", "v"]).get_col_names() == ["u", "v", "b"]


def test_generator_dataset():
    class Numbered:
        def __getitem__(self, i):
            return X[i], Y[i]

        def __len__(self):
            return 5

    assert second(ds.GeneratorDataset(Numbered(), ["a", "b"], shuffle=False)) == [0, 1, 2, 3, 4]
    assert second(ds.GeneratorDataset(Numbered(), ["a", "b"], shuffle=False, num_shards=2, shard_id=1)) == [1, 3, 0]

    def rows():
        for i in range(3):
            yield (np.array([i]),)

    data = ds.GeneratorDataset(rows, ["a"])
    assert data.get_dataset_size() == 3
    for _ in range(2):
        assert [int(r[0][0]) for r in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [0, 1, 2]
    typed = ds.GeneratorDataset([(1, 2)], ["a", "b"], column_types=[ms.float32, ms.int32], shuffle=False)
    assert [t.dtype for t in next(iter(typed))] == [ms.float32, ms.int32]


def test_iterators_count_epochs():
    iterator = source().create_tuple_iterator(num_epochs=2)
    assert [len(list(iterator)) for _ in range(2)] == [5, 5]
    with pytest.raises(RuntimeError, match="num_epochs=2"):
        list(iterator)
    assert source().create_dict_iterator().get_next()["b"].asnumpy() == 0


def test_samplers():
    assert second(source(shuffle=None, sampler=ds.SequentialSampler(1, 2))) == [1, 2]
    assert second(source(shuffle=None, sampler=ds.SubsetSampler([3, 0]))) == [3, 0]
    assert sorted(second(source(shuffle=None, sampler=ds.RandomSampler()))) == [0, 1, 2, 3, 4]
    assert sorted(second(source(shuffle=None, sampler=ds.SubsetRandomSampler([3, 0])))) == [0, 3]
    assert second(source(shuffle=None, sampler=ds.DistributedSampler(2, 1, shuffle=False))) == [1, 3, 0]


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
@pytest.mark.parametrize("shuffle", [False, True])
def test_shards_with_an_offset_read_every_row_once(shards, shuffle):
    def shard(k, offset, **kwargs):
        return source(shuffle=None, sampler=ds.DistributedSampler(shards, k, shuffle, offset=offset, **kwargs))

    for offset in range(shards + 1):
        parts = [second(shard(k, offset)) for k in range(shards)]
        assert sorted(row for part in parts for row in part) == [0, 1, 2, 3, 4]
        assert [len(part) for part in parts] == [shard(k, offset).get_dataset_size() for k in range(shards)]
        if not shuffle:
            assert parts == [list(range((k - offset) % shards, 5, shards)) for k in range(shards)]
        assert len(second(shard(0, offset, num_samples=1))) == min(1, len(parts[0]))


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
@pytest.mark.parametrize("sampled", [False, True])
def test_shards_without_padding(shards, sampled):
    def shard(k):
        options = {"num_shards": shards, "shard_id": k, "shuffle": False}
        return source(**({"shuffle": None, "sampler": ds.DistributedSampler(shards, k, False)} if sampled else options))

    for k in range(shards):
        rows, halves, both = shard(k), shard(k).batch(2), shard(k).repeat(2)
        own = list(range(k, 5, shards))
        with both.without_padding(), both.without_padding(), rows.without_padding(), halves.without_padding():
            assert second(rows) == own and rows.get_dataset_size() == len(own)
            assert halves.get_dataset_size() == len(list(halves)) == -(-len(own) // 2)
            assert second(both) == own * 2
        assert len(second(rows)) == rows.get_dataset_size() == -(-5 // shards)


def test_an_error_in_a_function_comes_out_of_the_iteration():
    def fail(a):
        raise ZeroDivisionError("in map")

    with pytest.raises(RuntimeError, match="fail raised ZeroDivisionError: in map"):
        list(source().map(fail, "a"))


def test_a_consumer_that_leaves_ends_the_thread():
    before = threading.active_count()
    data = ds.GeneratorDataset(lambda: iter(range(10**9)), ["a"])
    rows = iter(data.create_tuple_iterator(output_numpy=True))
    assert int(next(rows)[0]) == 0
    assert threading.active_count() > before
    del rows
    gc.collect()
    deadline = time.time() + 5
    while threading.active_count() > before and time.time() < deadline:
        time.sleep(0.02)
    assert threading.active_count() == before


ERRORS = [
    (lambda: source(num_shards=2), ValueError, "together"),
    (lambda: source(num_shards=2, shard_id=2), ValueError, "less than num_shards"),
    (lambda: source().batch(0), ValueError, "batch_size"),
    (lambda: source().batch("x"), TypeError, "batch_size"),
    (lambda: source().batch(2, zz=1), TypeError, "zz"),
    (lambda: source().shuffle(1), ValueError, "buffer_size"),
    (lambda: source().repeat(0), ValueError, "count"),
    (lambda: source().take(0), ValueError, "count"),
    (lambda: source().skip(-1), ValueError, "skip"),
    (lambda: ds.NumpySlicesDataset((X, Y), ["a"]), ValueError, "required is 2"),
    (lambda: ds.NumpySlicesDataset((X, Y[:3]), ["a", "b"]), ValueError, "not equal"),
    (lambda: ds.NumpySlicesDataset([], ["a"]), ValueError, "empty"),
    (lambda: ds.NumpySlicesDataset(3), TypeError, "int"),
    (lambda: source().map(lambda q: q, ["zz"]), RuntimeError, "zz"),
    (lambda: source().map(3, ["a"]), TypeError, "operations"),
    (lambda: list(source().map(lambda a: (a, a), ["a"])), RuntimeError, "output_columns"),
    (lambda: ds.GeneratorDataset(3, ["a"]), TypeError, "source"),
    (lambda: list(ds.GeneratorDataset([(1, 2, 3)], ["a", "b"], shuffle=False)), RuntimeError, "2 values"),
    (lambda: source(sampler=ds.SequentialSampler()), ValueError, "Conflicting"),
    (lambda: ds.DistributedSampler(2, 0, offset=3), ValueError, "'offset' must be"),
    (lambda: ds.DistributedSampler(2, 0, offset=0.5), TypeError, "'offset' must be"),
    (
        lambda: list(ds.GeneratorDataset([np.ones(1), np.ones(2)], ["a"], shuffle=False).batch(2)),
        RuntimeError,
        "different shapes",
    ),
    (lambda: source().zip(source()), ValueError, "must differ"),
    (lambda: source().concat(source().project("a")), RuntimeError, "same columns"),
    (lambda: source().split([1, 1]), RuntimeError, "not equal"),
    (lambda: source().project("zz"), RuntimeError, "zz"),
    (lambda: source().rename("zz", "y"), RuntimeError, "zz"),
    (lambda: source().filter(bool, "zz"), RuntimeError, "zz"),
    (lambda: source().batch(2, input_columns=["zz"]), RuntimeError, "zz"),
    (lambda: source().create_tuple_iterator(num_epochs=0), ValueError, "num_epochs"),
]


@pytest.mark.parametrize("call, error, text", ERRORS, ids=range(len(ERRORS)))
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def rows_of(data):
    return [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def numbers(*values):
    return ds.GeneratorDataset(list(values), "x", shuffle=False)


def test_concatenated_datasets_are_divided_without_padding():
    for count in (1, 2, 3, 8):
        parts = []
        for shard in range(count):
            data = numbers(1, 2, 3) + numbers(4, 5, 6, 7)
            data.use_sampler(ds.DistributedSampler(count, shard, shuffle=False))
            parts.append(rows_of(data))
            assert data.get_dataset_size() == len(parts[-1])
            assert parts[-1] == list(range(1, 8))[shard::count]


def test_concatenated_datasets_take_turns_at_random():
    data = numbers(1, 2, 3) + numbers(4, 5, 6, 7)
    data.use_sampler(ds.RandomSampler())
    found = [[int(x) for (x,) in epoch] for epoch in (data.rows(0), data.rows(1))]
    assert found[0] != found[1] and found[0] == [int(x) for (x,) in data.rows(0)]
    for rows in found:
        assert [x for x in rows if x < 4] == [1, 2, 3] and [x for x in rows if x > 3] == [4, 5, 6, 7]


def test_samplers_that_concat_refuses():
    data = numbers(1) + numbers(2)
    for sampler, error in (
        (ds.SequentialSampler(), TypeError),
        (3, TypeError),
        (ds.DistributedSampler(2, 0), ValueError),
        (ds.DistributedSampler(2, 0, shuffle=False, num_samples=1), ValueError),
        (ds.RandomSampler(num_samples=2), ValueError),
        (ds.RandomSampler(replacement=True), ValueError),
    ):
        with pytest.raises(error, match="concat"):
            data.use_sampler(sampler)


def test_a_source_takes_another_sampler():
    for data in (numbers(4, 5, 6, 7), ds.NumpySlicesDataset([4, 5, 6, 7], shuffle=False)):
        data.use_sampler(ds.SequentialSampler(1, 2))
        assert rows_of(data) == [5, 6] and data.get_dataset_size() == 2
        data.use_sampler([3, 0])
        assert rows_of(data) == [7, 4]
        with pytest.raises(TypeError, match="'new_sampler' must be a sampler, but got int"):
            data.use_sampler(3)
    with pytest.raises(ValueError, match="needs a source with __getitem__"):
        ds.GeneratorDataset(lambda: iter([1, 2]), "x").use_sampler([0])


def test_a_sampler_chooses_among_what_was_chosen():
    """The numbers are MindSpore's."""
    for options, sampler, wanted in (
        ({"shuffle": False}, ds.DistributedSampler(3, 1, shuffle=False), [1, 4, 7, 0]),
        ({"shuffle": False, "num_samples": 5}, ds.SequentialSampler(2), [2, 3, 4]),
        ({"shuffle": False, "num_shards": 2, "shard_id": 1}, ds.SubsetSampler([3, 0]), [7, 1]),
    ):
        data = ds.NumpySlicesDataset(list(range(10)), **options)
        data.add_sampler(sampler)
        assert rows_of(data) == wanted and len(data) == len(wanted)
    whole, part = (ds.NumpySlicesDataset(list(range(10))) for _ in range(2))
    part.add_sampler(ds.SequentialSampler(6))
    for _ in range(3):
        assert rows_of(part) == rows_of(whole)[6:]


def test_another_sampler_keeps_the_child_of_the_one_before():
    sampler = ds.SequentialSampler(2)
    sampler.add_child(ds.SubsetSampler([9, 8, 7, 6, 5]))
    data = ds.NumpySlicesDataset(list(range(10)), sampler=sampler)
    assert rows_of(data) == [7, 6, 5]
    data.use_sampler(ds.SequentialSampler(1, 2))
    assert rows_of(data) == [8, 7]
    with pytest.raises(RuntimeError, match="there is one already"):
        data.add_sampler(sampler)
    within = ds.NumpySlicesDataset([1, 2], sampler=ds.RandomSampler(shuffle=ds.Shuffle.PARTIAL))
    with pytest.raises(RuntimeError, match=r"'sampler.shuffle' must be Shuffle.GLOBAL, but got partial"):
        within.add_sampler(ds.SequentialSampler())


def test_counting_a_generators_rows_does_not_use_them_up():
    data = ds.GeneratorDataset((i * i for i in range(3)), "x")
    assert data.get_dataset_size() == 3 and rows_of(data) == [0, 1, 4]


def test_rows_are_drawn_by_their_weights():
    data = ds.NumpySlicesDataset(list(range(4)), sampler=ds.WeightedRandomSampler([0.0, 1.0, 0.0, 3.0], 400))
    found = np.bincount(rows_of(data), minlength=4)
    assert found[0] == found[2] == 0 and 60 < found[1] < 140 and data.get_dataset_size() == 400
    once = ds.NumpySlicesDataset(list(range(4)), sampler=ds.WeightedRandomSampler([1, 2, 3, 4], 3, replacement=False))
    assert len(set(rows_of(once))) == 3


@pytest.mark.parametrize(
    "args, error",
    [
        (("ab", 2), TypeError),
        (([0.1, -1], 2), ValueError),
        (([0, 0], 2), ValueError),
        (([1.0, 0.0], 2, False), ValueError),
        (([1.0], -1), ValueError),
        (([1.0], 2, 1), TypeError),
    ],
)
def test_weights_that_are_refused(args, error):
    with pytest.raises(error):
        ds.WeightedRandomSampler(*args)
    with pytest.raises(RuntimeError, match="at most 1 weights"):
        rows_of(ds.NumpySlicesDataset([1], sampler=ds.WeightedRandomSampler([1, 1])))


def test_a_source_may_give_generators_as_rows():
    rows = [np.arange(2.0), np.ones(3)]

    class Rows:
        def __getitem__(self, k):
            return (row * k for row in rows)

        def __len__(self):
            return 3

    data = ds.GeneratorDataset(Rows(), ["a", "b"], shuffle=False)
    found = [[column.tolist() for column in row] for row in data.create_tuple_iterator(output_numpy=True)]
    assert found == [[[0, k], [k] * 3] for k in range(3)]


class Nothing:
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return None if i == 2 else i


def of_three(function, **options):
    return ds.NumpySlicesDataset(np.arange(3), ["i"], shuffle=False).map(function, "i", **options)


@pytest.mark.parametrize(("make", "match"), [
    (lambda: of_three(lambda x: None), "For 'map', column 'i' must be an array.* got None: is a return missing"),
    (lambda: of_three(lambda x: None).batch(3), "For 'map', column 'i' must be an array.* got None"),
    (lambda: of_three(lambda x: {1}), "column 'i' must be .* got set, .1.: make an array of it"),
    (lambda: of_three(lambda x: [[1], [1, 2]]), "column 'i' must be .* got list .*, of which NumPy makes no array"),
    (lambda: of_three(lambda x: np.complex64(x)), "column 'i' must be .* got complex64"),
    (lambda: ds.GeneratorDataset(Nothing(), ["i"], shuffle=False), "For 'GeneratorDataset', column 'i' .* got None"),
    (lambda: of_three(lambda x: x / 2 if x else x).batch(3), "different types in column 'i': .* int64, another float"),
    (lambda: of_three(abs).batch(3, per_batch_map=lambda i, info: None), "'per_batch_map' must return .* got None"),
    (lambda: of_three(abs).batch(3, per_batch_map=lambda i, info: (i[:2],)), "list of 3 rows, .* but got 2"),
    (lambda: of_three(abs).batch(3, per_batch_map=lambda i, info: ([None] * 3,)), "For 'batch', column 'i' .* None"),
])  # fmt: skip
def test_what_is_no_column_is_refused(make, match):
    with pytest.raises(RuntimeError, match=match):
        list(make().create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_padding_that_names_no_column_is_of_all():
    data = ds.GeneratorDataset([np.arange(n) for n in (1, 3)], ["i"], shuffle=False).padded_batch(2, pad_info={})
    assert next(data.create_tuple_iterator(output_numpy=True))[0].tolist() == [[0, 0, 0], [0, 1, 2]]
    with pytest.raises(ValueError, match="the name of a column"):
        data.project([])


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: ds.SubsetSampler("ab"), TypeError),
        (lambda: ds.SubsetSampler([0.5]), TypeError),
        (lambda: ds.SubsetSampler([0], num_samples="x"), TypeError),
        (lambda: ds.NumpySlicesDataset(Y, sampler=[-1]), RuntimeError),
        (lambda: ds.NumpySlicesDataset(Y, sampler=ds.IterSampler([9])), RuntimeError),
        (lambda: ds.NumpySlicesDataset(Y, sampler=ds.IterSampler([0.5])), RuntimeError),
        (lambda: ds.NumpySlicesDataset(Y, sampler=ds.SequentialSampler(5)), RuntimeError),
        (lambda: ds.GeneratorDataset([(1, 2)], ["a", "b"], column_types=[ms.int32]), ValueError),
        (lambda: source().split([6, -1]), ValueError),
    ],
)
def test_choices_that_are_refused(make, error):
    with pytest.raises(error, match="must be"):
        list(make().create_tuple_iterator(num_epochs=1))


def test_no_number_of_samples_means_all():
    assert len(source(num_samples=0)) == 5
    sampler = ds.WeightedRandomSampler([1.0] * 5, 0)
    assert len(ds.NumpySlicesDataset(Y, sampler=sampler)) == 5


def test_the_same_number_of_rows_of_each_class():
    data = ds.NumpySlicesDataset({"x": list(range(9)), "label": [0, 0, 0, 0, 0, 1, 1, 1, 2]}, sampler=ds.PKSampler(4))
    epochs = [[(int(x), int(y)) for x, y in data.create_tuple_iterator(num_epochs=1)] for _ in range(20)]
    assert all([y for _, y in rows] == [0] * 4 + [1] * 4 + [2] * 4 for rows in epochs) and len(data) == 12
    assert {row for rows in epochs for row in rows} == set(zip(range(9), [0, 0, 0, 0, 0, 1, 1, 1, 2]))


def test_texts_and_empty_datasets_have_no_certain_shape():
    assert ds.NumpySlicesDataset(["a", "bcd"]).output_types() == [np.dtype("U")]
    assert source().skip(9).output_types() == source().skip(9).output_shapes() == []
    typed = ds.GeneratorDataset([(1, "x")], ["a", "b"], column_types=[ms.int32, ms.string])
    assert typed.output_types() == [np.int32, np.dtype("U")]


def test_lists_of_several_lengths():
    data = ds.NumpySlicesDataset([[1], [1, 2]], shuffle=False)
    assert [x.tolist() for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [[1], [1, 2]]
    padded = next(data.padded_batch(2).create_tuple_iterator(output_numpy=True))[0]
    assert padded.tolist() == [[1, 0], [1, 2]]
    with pytest.raises(RuntimeError, match="different shapes"):
        list(data.batch(2))


@pytest.mark.parametrize("size", [0, -1, 2.0, "x", True])
def test_sizes_of_batches_that_are_refused(size):
    with pytest.raises(RuntimeError, match="'batch_size' must be a function that returns a positive int"):
        list(source().batch(lambda info: size))


def test_a_predicate_that_is_refused():
    with pytest.raises(RuntimeError, match="'predicate' must be a function that returns one bool"):
        list(source().filter(lambda a: a > 0, "a"))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("other", [np.ones((2, 3), np.int64), np.ones((2, 3, 1), np.float32), np.array([["a"], ["b"]])])
def test_concat_wants_alike_columns(other, workers):
    first = ds.NumpySlicesDataset(np.ones((2, 3), np.float32), ["x"], shuffle=False)
    second = ds.NumpySlicesDataset(other, ["x"], shuffle=False)
    second = second.map(lambda x: x, num_parallel_workers=workers)
    with pytest.raises(RuntimeError, match="For 'concat', the column 'x' must have one type and number of dimensions"):
        list((first + second).create_tuple_iterator(num_epochs=1, output_numpy=True))
    longer = ds.NumpySlicesDataset(np.ones((2, 5), np.float32), ["x"], shuffle=False)
    assert [len(x) for (x,) in (first + longer).create_tuple_iterator(num_epochs=1, output_numpy=True)] == [3, 3, 5, 5]
