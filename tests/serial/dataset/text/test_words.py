"""Vocabularies, look-ups, vectors, sequences, numbers: with MindSpore 2.10's results."""

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds
import dist_ms.dataset.text as text


def rows(words):
    return ds.NumpySlicesDataset(words, ["t"], shuffle=False)


WORDS = ["b", "a", "c", "a", "b", "a", "d", "é"]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, ["a", "b", "c", "d", "é"]),
        ({"top_k": 2}, ["a", "b"]),
        ({"freq_range": (2, 3)}, ["a", "b"]),
        ({"freq_range": (None, 2)}, ["b", "c", "d", "é"]),
        ({"special_tokens": ["<p>"], "special_first": False}, ["a", "b", "c", "d", "é", "<p>"]),
        ({"columns": ["t"], "top_k": 100}, ["a", "b", "c", "d", "é"]),
    ],
)
def test_vocab_of_a_dataset(options, wanted):
    ids = {word: number for number, word in enumerate(wanted)}
    assert text.Vocab.from_dataset(rows(WORDS), **options).vocab() == ids
    assert rows(WORDS).build_vocab(**options).vocab() == ids


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"special_tokens": ["a"]}, RuntimeError),
        ({"columns": "q"}, RuntimeError),
        ({"freq_range": (3, 2)}, ValueError),
        ({"top_k": 0}, ValueError),
        ({"columns": 3}, TypeError),
    ],
)
def test_vocab_of_a_dataset_refuses(options, error):
    with pytest.raises(error, match="For 'Vocab.from_dataset'"):
        text.Vocab.from_dataset(rows(WORDS), **options)


def test_vocab_of_lists_dicts_and_files(tmp_path):
    assert text.Vocab.from_list(["a", "b"], ["<p>", "<u>"]).vocab() == {"<p>": 0, "<u>": 1, "a": 2, "b": 3}
    assert text.Vocab.from_dict({"a": 3, "b": 7}).ids_to_tokens([3, 7, 1]) == ["a", "b", ""]
    for words, specials in ((["a", "a"], None), (["a"], ["a"])):
        with pytest.raises(ValueError, match="differ|no words"):
            text.Vocab.from_list(words, specials)
    with pytest.raises(ValueError, match="0 or above"):
        text.Vocab.from_dict({"a": -1})
    path = tmp_path / "words.txt"
    path.write_text("a,1\nb,2\n  c,3\n\nd\n", encoding="utf-8")
    found = text.Vocab.from_file(str(path), ",", None, ["<s>"]).vocab()
    assert found == {"<s>": 0, "a": 1, "b": 2, "  c": 3, "": 4, "d": 5}
    assert text.Vocab.from_file(str(path), ",", 2).vocab() == {"a": 0, "b": 1}
    path.write_text("a\nb\nb\n")
    with pytest.raises(RuntimeError, match="line 3"):
        text.Vocab.from_file(str(path))
    with pytest.raises(RuntimeError, match="UTF-8"):
        text.Vocab.from_file(str(tmp_path / "none"))


def test_ids_and_tokens():
    vocab = text.Vocab.from_list(["a", "b"], ["<u>"])
    assert vocab.tokens_to_ids(["a", "b", "x"]) == [1, 2, -1] and vocab.tokens_to_ids("b") == 2
    assert vocab.tokens_to_ids(np.array(["a"])) == 1 and vocab.ids_to_tokens([0, 1, 9]) == ["<u>", "a", ""]
    with pytest.raises(ValueError, match="0 or above"):
        vocab.ids_to_tokens(-1)
    with pytest.raises(TypeError, match="ints"):
        vocab.ids_to_tokens("a")


def test_lookup():
    vocab = text.Vocab.from_list(["a", "b", "[UNK]"])
    found = text.Lookup(vocab, "[UNK]", ms.float32)(np.array([["b", "x"]]))
    assert found.dtype == np.float32 and found.tolist() == [[1.0, 2.0]]
    assert text.Lookup(vocab)("a").shape == ()
    for lookup in (text.Lookup(vocab), text.Lookup(vocab, "none")):
        with pytest.raises(RuntimeError, match="word"):
            lookup(["x"])


def test_sequences():
    words = np.array(["北京", "abc", "a"])
    assert text.Ngram([1, 2], ("L", 1), ("R", 2), "|")(words).tolist() == [
        "北京", "abc", "a", "L|北京", "北京|abc", "abc|a", "a|R",
    ]  # fmt: skip
    assert text.Ngram(9)(words).tolist() == [""]
    assert text.SlidingWindow(2, -1)(np.arange(3)).tolist() == [[0, 1], [1, 2]]
    assert text.SlidingWindow(9)(words).shape == (0,)
    assert text.Truncate(1)(np.arange(6).reshape(2, 3)).tolist() == [[0], [3]]
    first, second = text.TruncateSequencePair(4)(np.arange(3), np.arange(5))
    assert first.tolist() == [0, 1] and second.tolist() == [0, 1]
    assert text.AddToken("x")(np.array([["a", "b"], ["c", "d"]])).tolist() == [["x", "a", "b"], ["x", "c", "d"]]
    for made in (lambda: text.SlidingWindow(2, 1)(np.ones((2, 3))), lambda: text.Ngram(1)(np.array([["a"]]))):
        with pytest.raises(RuntimeError, match="axis|axes"):
            made()
    with pytest.raises(ValueError, match="max_seq_len"):
        text.Truncate(0)


@pytest.mark.parametrize(
    ("kind", "given", "wanted"),
    [
        (ms.int8, ["1", "-2", "3.7", "1e3", " 5", "0x1F"], [1, -2, 3, 1, 5, 0]),
        (ms.uint16, ["300"], [300]),
        (ms.int64, ["99999999999"], [99999999999]),
        (ms.float16, ["3.7", "0x1F", "300"], [3.69921875, 31.0, 300.0]),
        (ms.float64, ["1e3"], [1000.0]),
    ],
)
def test_numbers(kind, given, wanted):
    assert text.ToNumber(kind)(given).tolist() == wanted


@pytest.mark.parametrize(
    ("kind", "given"),
    [(ms.int8, "300"), (ms.uint8, "-2"), (ms.int32, "abc"), (ms.float16, "70000"), (ms.float32, "inf"), (ms.int32, "")],
)
def test_numbers_out_of_range(kind, given):
    with pytest.raises(RuntimeError, match="For 'ToNumber'"):
        text.ToNumber(kind)([given])


def test_vectors(tmp_path):
    lines = "ok 1 2 3\n! 4 5 6\nthis 7 8 9\n"
    for name, kind, head in (
        ("v.txt", text.Vectors, ""),
        ("h.txt", text.Vectors, "3 3\n"),
        ("f.vec", text.FastText, "3 3\n"),
        ("glove.6B.txt", text.GloVe, ""),
    ):
        path = tmp_path / name
        path.write_text(head + lines)
        vectors = kind.from_file(str(path))
        assert text.ToVectors(vectors)(["ok", "THIS"]).tolist() == [[1, 2, 3], [0, 0, 0]]
        assert text.ToVectors(vectors, [9, 9, 9], True)(["THIS", "x"]).tolist() == [[7, 8, 9], [9, 9, 9]]
        assert text.ToVectors(kind.from_file(str(path), 2))("this").tolist() == [0, 0, 0]
    for name, kind in (("v.txt", text.FastText), ("v.txt", text.GloVe), ("none", text.Vectors)):
        with pytest.raises(RuntimeError, match="file_path"):
            kind.from_file(str(tmp_path / name))
    (tmp_path / "bad.txt").write_text("ok 1 2 3\nx 1 2\n")
    with pytest.raises(RuntimeError, match="line 2"):
        text.Vectors.from_file(str(tmp_path / "bad.txt"))
    (tmp_path / "c.txt").write_text(
        "2gram-ok 1 2 3\n2gram-th 4 5 6\n3gram-thi 7 8 9\n4gram-this 1 1 1\n2gram-hi 2 0 0\n"
    )
    grams = text.CharNGram.from_file(str(tmp_path / "c.txt"))
    assert text.ToVectors(grams)(["this", "ok", "zz"]).tolist() == [[3.5, 3.5, 4.0], [1, 2, 3], [0, 0, 0]]


def test_in_a_pipeline_with_places():
    data = rows(["a b", "c d e"]).map(text.WhitespaceTokenizer(with_offsets=True), ["t"], ["t", "start", "stop"])
    found = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [row[1].tolist() for row in found] == [[0, 2], [0, 2, 4]]
    assert found[0][1].dtype == np.uint32


def test_nobody_sees_what_is_folded_away():
    """Soft hyphens, joiners, marks of direction and selectors of variants: MindSpore's ICU takes them out."""
    invisible = "\xad\u034f\u180e\u200b\u200d\u202e\u2066\ufe0f\ufeff\U0001d173"
    assert str(text.CaseFold()(f"Stra{invisible}ße")) == "strasse"
    assert str(text.NormalizeUTF8()("a\u200bb")) == "a\u200bb"


def test_arrays_of_texts_alone_become_bytes_and_back():
    for convert, error in ((text.to_str, TypeError), (text.to_bytes, ValueError)):
        with pytest.raises(error, match="must be a NumPy array, but got list"):
            convert(["a"])


def test_a_pair_may_be_cut_to_nothing():
    first, second = text.TruncateSequencePair(0)(np.arange(3), np.arange(5))
    assert first.size == second.size == 0


def test_no_columns_are_all_columns():
    rows = ds.NumpySlicesDataset({"a": ["x", "y"], "b": ["z", "x"]}, shuffle=False)
    assert (
        text.Vocab.from_dataset(rows, []).vocab() == text.Vocab.from_dataset(rows).vocab() == {"x": 0, "y": 1, "z": 2}
    )
