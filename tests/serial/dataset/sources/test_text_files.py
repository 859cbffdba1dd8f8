"""CSVDataset, TextFileDataset and CLUEDataset: values and orders are MindSpore 2.10's."""

import pickle

import pytest

import dist_ms.dataset as ds


@pytest.fixture
def put(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def rows(data):
    found = [[v.tolist() for v in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert data.get_dataset_size() == len(found)
    return [row[0] for row in found] if len(data.get_col_names()) == 1 else found


def kinds(data):
    return [v.dtype.str for v in next(iter(data.create_tuple_iterator(num_epochs=1, output_numpy=True)))]


def test_lines(put):
    files = [put("b.txt", b"\xef\xbb\xbfbom\nx\n"), put("a.txt", "one\ntwo\r\n\n  three  \nfour"), put("c.txt", "")]
    wanted = ["one", "\ufeffbom", "two\r", "x", "  three  ", "four"]
    assert rows(ds.TextFileDataset(files, shuffle=False)) == wanted
    assert rows(ds.TextFileDataset(files, 3, shuffle=False)) == wanted[:3]
    shards = [rows(ds.TextFileDataset(files, shuffle=False, num_shards=2, shard_id=k)) for k in range(2)]
    assert shards == [["one", "two\r", "  three  "], ["four", "\ufeffbom", "x"]]
    one_by_one = [wanted[k] for k in (0, 2, 4, 5, 1, 3)]
    assert rows(ds.TextFileDataset(files, shuffle=False, num_parallel_workers=1)) == one_by_one
    assert sorted(rows(ds.TextFileDataset(files))) == sorted(wanted)
    pattern = files[0].replace("b.txt", "[ab].txt")
    assert rows(pickle.loads(pickle.dumps(ds.TextFileDataset(pattern, shuffle=False)))) == wanted


def test_shards_of_lines_are_stretches(put):
    files = [put("p.txt", "p1\np2\np3\n"), put("r.txt", "r1\nr2\n")]

    def shards(count, **options):
        data = [ds.TextFileDataset(files, shuffle=False, num_shards=count, shard_id=k, **options) for k in range(count)]
        return [rows(d) for d in data]

    assert shards(2) == [["p1", "p2", "p3"], ["r1", "p1", "r2"]]
    assert shards(3) == [["p1", "p2"], ["p3", "r1"], ["r2", "p1"]]
    assert shards(4) == [["p1", "p2"], ["p3", "r1"], ["r2", "p1"], ["p2", "p3"]]
    assert shards(6) == [["p1"], ["p2"], ["p3"], ["r1"], ["r2"], ["p1"]]
    assert shards(2, num_samples=2) == [["p1", "p2"], ["r1", "p1"]]
    data = ds.TextFileDataset(files, shuffle=ds.Shuffle.FILES)
    orders = {tuple(rows(data)) for _ in range(20)}
    assert orders == {("p1", "r1", "p2", "r2", "p3"), ("r1", "p1", "r2", "p2", "p3")}
    assert rows(ds.TextFileDataset(files, shuffle=ds.Shuffle.FALSE)) == rows(ds.TextFileDataset(files, shuffle=False))


def test_csv(put):
    one, two = put("1.csv", 'a,b,c\n1,2.5,x\n-3,1e3,"y, z"\n'), put("2.csv", 'a,b,c\r\n4,,"q""r"\r\n\r\n,7,\r\n')
    data = ds.CSVDataset([one, two], shuffle=False)
    assert data.get_col_names() == ["a", "b", "c"]
    assert rows(data) == [["1", "2.5", "x"], ["4", "", 'q"r'], ["-3", "1e3", "y, z"], ["", "7", ""]]
    data = ds.CSVDataset(one, column_defaults=[0, 0.0, ""], shuffle=False)
    assert kinds(data) == ["<i4", "<f4", "<U1"] and rows(data) == [[1, 2.5, "x"], [-3, 1000.0, "y, z"]]
    assert kinds(ds.CSVDataset(one, column_defaults=[0], shuffle=False))[0] == "<i4"
    (batch,) = data.batch(2).create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [column.tolist() for column in batch] == [[1, -3], [2.5, 1000.0], ["x", "y, z"]]
    names = ds.CSVDataset([one], column_names=["p", "q", "r"], shuffle=False)
    assert names.get_col_names() == ["p", "q", "r"] and rows(names)[0] == ["a", "b", "c"]
    assert rows(ds.CSVDataset(put("nl.csv", 'a;b\n1;"x\ny"\n2;z'), ";", shuffle=False)) == [["1", "x\ny"], ["2", "z"]]
    assert len(rows(ds.CSVDataset([one, two]))) == 4
    both = [put("3.csv", "a\n1\n2\n3\n"), put("4.csv", "a\n4\n5\n")]
    shards = [rows(ds.CSVDataset(both, shuffle=False, num_shards=2, shard_id=k)) for k in range(2)]
    assert shards == [["1", "2", "3"], ["4", "1", "5"]]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("a,b\n1,2\n3\n", "line 3 has fewer fields"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has more fields"),
        ("a,b\n1,2\nq,4\n", "line 3 has 'q' in column 'a', which is no int32"),
        ('a,b\n1,2\n3,"4"x\n', "line 3 has text after the quote"),
        ('a,b\n1,2\n\n3,"4\n', "line 4 has a quote that is never closed"),
        (b"a,b\n1,2\n3,\xff\n", "line 3 is no UTF-8"),
    ],
)
def test_wrong_rows(put, content, match):
    path = put("bad.csv", content)
    with pytest.raises(RuntimeError, match=match):
        rows(ds.CSVDataset(path, column_defaults=[1], shuffle=False))


def test_wrong_arguments(put):
    path = put("1.csv", "a,b\n1,2\n")
    for error, options in (
        (ValueError, {"field_delim": "ab"}),
        (ValueError, {"field_delim": '"'}),
        (TypeError, {"column_defaults": 1}),
        (TypeError, {"column_defaults": [[1]]}),
        (TypeError, {"column_names": [1]}),
        (TypeError, {"shuffle": 1}),
        (ValueError, {"num_samples": -1}),
    ):
        with pytest.raises(error):
            ds.CSVDataset(path, **options)
    with pytest.raises(ValueError, match="match no file"):
        ds.CSVDataset(path + "none")
    with pytest.raises(RuntimeError, match="columns"):
        ds.CSVDataset([path, put("2.csv", "c\n1\n")])
    with pytest.raises(ValueError):
        ds.TextFileDataset([])


SPANS = '"target":{"span1_index":3,"span1_text":"x","span2_index":5,"span2_text":"y"}'


@pytest.mark.parametrize(
    ("task", "usage", "line", "names", "values"),
    [
        (
            "AFQMC",
            "train",
            '{"sentence1":"a","sentence2":"b","label":"0"}',
            "label sentence1 sentence2",
            ["0", "a", "b"],
        ),
        ("CMNLI", "test", '{"id":1,"sentence1":"a","sentence2":"b"}', "id sentence1 sentence2", [1, "a", "b"]),
        (
            "IFLYTEK",
            "eval",
            '{"label":"1","label_des":"w","sentence":"s"}',
            "label label_des sentence",
            ["1", "w", "s"],
        ),
        ("TNEWS", "test", '{"id":1,"sentence":"s","keywords":"k"}', "id keywords sentence", [1, "k", "s"]),
        ("CSL", "test", '{"id":1,"abst":"ab","keyword":["k1","k2"]}', "abst id keyword", ["ab", 1, ["k1", "k2"]]),
        (
            "WSC",
            "train",
            f'{{{SPANS},"idx":1,"label":"true","text":"t"}}',
            "idx label span1_index span1_text span2_index span2_text text",
            [1, "true", 3, "x", 5, "y", "t"],
        ),
    ],
)
def test_clue(put, task, usage, line, names, values):
    data = ds.CLUEDataset(put("lines.json", line + "\n" + line), task, usage, shuffle=False)
    assert data.get_col_names() == names.split() and rows(data) == [values] * 2
    if usage == "test" and "id" in names.split():
        assert kinds(data)[names.split().index("id")] == "<u4"
    with pytest.raises(RuntimeError, match="line 2"):
        rows(ds.CLUEDataset(put("wrong.json", line + '\n{"q": 1}'), task, usage))
    for wrong in ((task, "all"), ("XYZ", usage)):
        with pytest.raises(ValueError):
            ds.CLUEDataset(put("lines.json", line), *wrong)


@pytest.mark.parametrize("shuffle", [False, ds.Shuffle.FILES, ds.Shuffle.GLOBAL])
def test_stretches_of_files_go_on_with_as_many_shards(tmp_path, shuffle):
    (tmp_path / "lines.txt").write_text("\n".join(map(str, range(7))))

    def shard(shards, number):
        return ds.TextFileDataset(str(tmp_path / "lines.txt"), shuffle=shuffle, num_shards=shards, shard_id=number)

    def lines(data):
        return [str(line) for (line,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    states, begun = [], []
    for number in range(2):
        data = shard(2, number)
        begun += [str(next(iter(data.create_tuple_iterator(output_numpy=True)))[0])]
        states.append(data.state_dict())
        again = shard(2, number)
        again.load_state_dict(states[-1])
        assert lines(again) == lines(shard(2, number))[1:]
    assert states[0] == states[1]
    rest = [shard(3, number) for number in range(3)]
    if shuffle is not ds.Shuffle.GLOBAL:
        with pytest.raises(ValueError, match="stretches of files, can go on only on as many shards as before, 2, but"):
            rest[0].load_state_dict(states[0])
        return
    for data in rest:
        data.load_state_dict(states[0])
        with data.without_padding():
            begun += lines(data)
    assert sorted(begun) == sorted(map(str, range(7)))
