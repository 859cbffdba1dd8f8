"""Transforms of text against what MindSpore 2.10 returned for the same sentences (recorded.json)."""

import json
from pathlib import Path

import numpy as np
import pytest

import dist_ms.dataset.text as text
from dist_ms.dataset.text import NormalizeForm

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))
WORDS = ["床", "want", "##want", "##ed", "wa", "un", "runn", "##ing", ",", "[UNK]", "a", "b", "##c", "i", "北", "京"]
MADE = {
    "ws": lambda: text.WhitespaceTokenizer(),
    "wso": lambda: text.WhitespaceTokenizer(with_offsets=True),
    "uc": lambda: text.UnicodeCharTokenizer(),
    "us": lambda: text.UnicodeScriptTokenizer(),
    "usk": lambda: text.UnicodeScriptTokenizer(keep_whitespace=True),
    "uso": lambda: text.UnicodeScriptTokenizer(True, True),
    "cf": lambda: text.CaseFold(),
    "n1": lambda: text.NormalizeUTF8(NormalizeForm.NFC),
    "n2": lambda: text.NormalizeUTF8(),
    "n4": lambda: text.NormalizeUTF8(NormalizeForm.NFKD),
    "rr": lambda: text.RegexReplace(r"\s+", "_"),
    "rr1": lambda: text.RegexReplace(r"[a-z]+", "<>", False),
    "rr2": lambda: text.RegexReplace(r"(\w)(\w)", r"\2\1"),
    "rr3": lambda: text.RegexReplace(r"(\w)(\w)", r"$2$1"),
    "rt": lambda: text.RegexTokenizer(r"\s+"),
    "rtk": lambda: text.RegexTokenizer(r"\s+", r"\s+"),
    "rto": lambda: text.RegexTokenizer(r"[\s\p{P}]+", r"\p{P}", True),
    "rtc": lambda: text.RegexTokenizer("", ""),
    "b": lambda: text.BasicTokenizer(),
    "bl": lambda: text.BasicTokenizer(True),
    "bk": lambda: text.BasicTokenizer(False, True),
    "bn": lambda: text.BasicTokenizer(False, False, NormalizeForm.NFKC),
    "bp": lambda: text.BasicTokenizer(True, False, NormalizeForm.NONE, False),
    "bo": lambda: text.BasicTokenizer(False, True, NormalizeForm.NFD, True, True),
    "be": lambda: text.BertTokenizer(text.Vocab.from_list(WORDS)),
    "beu": lambda: text.BertTokenizer(text.Vocab.from_list(WORDS), unknown_token=""),
    "fx": lambda: text.FilterWikipediaXML(),
}


def described(value):
    if isinstance(value, tuple):
        return [described(part) for part in value]
    return ["U" if value.dtype.kind == "U" else str(value.dtype), list(value.shape), value.reshape(-1).tolist()]


@pytest.mark.parametrize("name", MADE)
def test_as_mindspore(name):
    transform = MADE[name]()
    for place, wanted in RECORDED["found"][name].items():
        sentence = RECORDED["sentences"][int(place)]
        assert described(transform(sentence)) == wanted, sentence


def test_unused_tokens_keep_their_case():
    found = text.BasicTokenizer(lower_case=True)("A[CLS]B [SEP]Cd")
    assert found.tolist() == ["a", "[CLS]", "b", "[SEP]", "cd"]


def test_pieces_and_their_places_are_as_many():
    vocab = text.Vocab.from_list(WORDS)
    words, starts, stops = text.WordpieceTokenizer(vocab, with_offsets=True)(["wanted", "unwanted", "runnning", "北"])
    assert words.tolist() == ["want", "##ed", "un", "##want", "##ed", "[UNK]", "北"]
    assert starts.tolist() == [0, 4, 0, 2, 6, 0, 0] and stops.tolist() == [4, 6, 2, 6, 8, 8, 3]
    assert text.WordpieceTokenizer(vocab, max_bytes_per_token=5)(["wanted", "want"]).tolist() == ["[UNK]", "want"]


def test_replacing_in_each_text_of_an_array():
    assert text.RegexReplace("w", "V")(np.array(["wow", "no"])).tolist() == ["VoV", "no"]


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (lambda: text.WhitespaceTokenizer(1), TypeError),
        (lambda: text.RegexTokenizer(3), TypeError),
        (lambda: text.RegexTokenizer("("), RuntimeError),
        (lambda: text.NormalizeUTF8("NFC"), TypeError),
        (lambda: text.BertTokenizer(["a"]), TypeError),
        (lambda: text.WordpieceTokenizer(text.Vocab(), max_bytes_per_token=-1), ValueError),
        (lambda: text.PythonTokenizer(3), TypeError),
        (lambda: text.WhitespaceTokenizer()(np.array(["a", "b"])), RuntimeError),
        (lambda: text.CaseFold()(np.array([1])), RuntimeError),
        (lambda: text.PythonTokenizer(lambda line: 1 / 0)("a"), RuntimeError),
    ],
)
def test_wrong_arguments(made, error):
    with pytest.raises(error, match="For '"):
        made()
