"""SentencePiece's and Jieba's tokenizers, with the words that MindSpore 2.10 finds by the same files."""

import math
import pickle

import numpy as np
import pytest

import dist_ms.dataset as ds
import dist_ms.dataset.text as text
from dist_ms.dataset.text import JiebaMode, SentencePieceModel, SPieceTokenizerOutType

LINES = ["the free software is free", "to run the program", "to study the program", "free as in freedom"] * 5


def test_sentencepiece(tmp_path):
    (tmp_path / "lines.txt").write_text("\n".join(LINES))
    vocab = text.SentencePieceVocab.from_file([str(tmp_path / "lines.txt")], 30, 0.9995, SentencePieceModel.BPE, {})
    data = ds.NumpySlicesDataset(LINES, ["line"], shuffle=False)
    again = data.build_sentencepiece_vocab(["line"], 30, 0.9995, SentencePieceModel.BPE, {})
    pieces = text.SentencePieceTokenizer(vocab, SPieceTokenizerOutType.STRING)("the free run")
    assert "".join(pieces).replace("▁", " ") == " the free run" and "▁free" in pieces
    text.SentencePieceVocab.save_model(vocab, str(tmp_path), "m.model")
    by_file = text.SentencePieceTokenizer(str(tmp_path / "m.model"), SPieceTokenizerOutType.INT)
    numbers = by_file("the free run")
    assert numbers.dtype == np.int32 and len(numbers) == len(pieces)
    assert text.SentencePieceTokenizer(again, SPieceTokenizerOutType.INT)("the free run").tolist() == numbers.tolist()
    assert pickle.loads(pickle.dumps(by_file))("the").tolist() == by_file("the").tolist()
    with pytest.raises(RuntimeError, match="trainer refused"):
        text.SentencePieceVocab.from_file([str(tmp_path / "lines.txt")], 3000, 0.9995, SentencePieceModel.UNIGRAM, {})
    with pytest.raises(RuntimeError, match="'mode'"):
        text.SentencePieceTokenizer(str(tmp_path / "none"), SPieceTokenizerOutType.INT)
    with pytest.raises(TypeError, match="model_type"):
        text.SentencePieceVocab.from_file([str(tmp_path / "lines.txt")], 30, 0.9995, "bpe", {})


@pytest.fixture
def files(tmp_path):
    """A small dictionary, and a model in which 东西 begin and end words and 南北 stand alone."""
    words = {"北京": 50, "大学": 40, "北京大学": 30, "我": 90, "来到": 20, "天气": 9}
    (tmp_path / "words").write_text("".join(f"{w} {n} n\n" for w, n in words.items()), encoding="utf-8")
    low, half = -100.0, math.log(0.5)
    numbers = lambda *row: " ".join(map(str, row)) + "\n"  # noqa: E731
    content = "#start\n" + numbers(half, low, low, half)
    content += "#changes\n" + numbers(low, half, half, low) + numbers(half, low, low, half)
    content += numbers(low, half, half, low) + numbers(half, low, low, half)
    content += "东:-1,西:-9,南:-9,北:-9\n东:-9,西:-1,南:-9,北:-9\n东:-9,西:-9\n南:-1,北:-1,东:-9,西:-9\n"
    (tmp_path / "model").write_text(content, encoding="utf-8")
    return str(tmp_path / "model"), str(tmp_path / "words")


def test_jieba_by_dictionary(files):
    cut = text.JiebaTokenizer(*files, JiebaMode.MP, with_offsets=True)
    words, starts, stops = cut("我来到北京大学，天气abc")
    assert words.tolist() == ["我", "来到", "北京大学", "，", "天气", "a", "b", "c"]
    assert starts.tolist() == [0, 3, 9, 21, 24, 30, 31, 32] and stops[-1] == 33
    cut.add_word("我来到", 100000)
    cut.add_dict({"气a": 1})
    assert cut("我来到北京")[0].tolist() == ["我来到", "北京"]
    assert pickle.loads(pickle.dumps(cut))("我来到")[0].tolist() == ["我来到"]


def test_jieba_by_model_and_both(files):
    assert text.JiebaTokenizer(*files, JiebaMode.HMM)("东西南北东西").tolist() == ["东西", "南", "北", "东西"]
    found = text.JiebaTokenizer(*files, JiebaMode.MIX)("东西北京 abc12 3.5")
    assert found.tolist() == ["东西", "北京", " ", "abc12", " ", "3.5"]


def test_jieba_refuses(files, tmp_path):
    with pytest.raises(ValueError, match="hmm_path"):
        text.JiebaTokenizer(str(tmp_path / "none"), files[1])
    with pytest.raises(TypeError, match="mode"):
        text.JiebaTokenizer(*files, 1)
    with pytest.raises(RuntimeError, match="model's file"):
        text.JiebaTokenizer(files[1], files[1], JiebaMode.HMM)("东西")
    with pytest.raises(ValueError, match="freq"):
        text.JiebaTokenizer(*files).add_word("a", -1)
