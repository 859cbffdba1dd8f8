"""The sets of text: columns, values and orders are MindSpore 2.10's."""

import json

import numpy as np
import pytest

import dist_ms.dataset as ds


@pytest.fixture
def folder(tmp_path):
    """A folder, and a function that writes a file into it."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    return str(tmp_path), write


def rows(data):
    found = [[v.tolist() for v in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert data.get_dataset_size() == len(found)
    return [row[0] for row in found] if len(data.get_col_names()) == 1 else found


@pytest.mark.parametrize(
    ("name", "columns", "test_first"),
    [
        ("AGNews", "index title description", True),
        ("AmazonReview", "label title content", True),
        ("DBpedia", "class title content", True),
        ("SogouNews", "index title content", False),
    ],
)
def test_classified_texts(folder, name, columns, test_first):
    place, write = folder
    write("train.csv", '"3","T1","D ""q"" 1"\n"4","T2","D2"\n')
    write("test.csv", '"1","T3","D3"\n')
    kind = getattr(ds, f"{name}Dataset")
    train, test = [["3", "T1", 'D "q" 1'], ["4", "T2", "D2"]], [["1", "T3", "D3"]]
    data = kind(place, "train", shuffle=False)
    assert data.get_col_names() == columns.split() and rows(data) == train
    assert rows(kind(place, "test")) == test
    wanted = [test[0], *train] if test_first else [train[0], test[0], train[1]]
    assert rows(kind(place, shuffle=False)) == wanted
    with pytest.raises(ValueError, match="usage"):
        kind(place, "valid")
    with pytest.raises(ValueError, match="folder"):
        kind(place + "/none")
    write("train.csv", '"3","T1"\n')
    with pytest.raises(RuntimeError, match="line 1 has fewer fields"):
        rows(kind(place, "train"))


def test_yelp_and_yahoo(folder):
    place, write = folder
    write("train.csv", '"1","T1 \\n x"\n"2","T2"\n')
    write("test.csv", '"1","T3"\n')
    data = ds.YelpReviewDataset(place, "all", shuffle=False)
    assert data.get_col_names() == ["label", "text"]
    assert rows(data) == [["1", "T1 \\n x"], ["1", "T3"], ["2", "T2"]]
    write("train.csv", '"1","a","b","c"\n')
    data = ds.YahooAnswersDataset(place, "train")
    assert data.get_col_names() == ["class", "title", "content", "answer"] and rows(data) == [["1", "a", "b", "c"]]


def test_language_models(folder):
    place, write = folder
    write("enwik9", "<a>\n\n  b c\n")
    assert rows(ds.EnWik9Dataset(place, shuffle=False)) == ["<a>", "", "  b c"]
    for part, text in (("train", " a b \n c\n\n"), ("test", "t\n"), ("valid", "v\n")):
        write(f"ptb.{part}.txt", text)
        write(f"wiki.{part}.tokens", " \n" + text)
    assert rows(ds.PennTreebankDataset(place, "train", shuffle=False)) == [" a b ", " c"]
    assert rows(ds.PennTreebankDataset(place, shuffle=False)) == ["t", " a b ", "v", " c"]
    assert rows(ds.WikiTextDataset(place, "train", shuffle=False)) == [" ", " a b ", " c"]
    with pytest.raises(RuntimeError, match=r"ptb.test.txt"):
        ds.PennTreebankDataset(place + "/..")


def test_tagged_words(folder):
    place, write = folder
    write("train.txt", "He PRP B-NP\nis VBZ B-VP\n\nOk UH O\n\n")
    write("test.txt", "A B C\n")
    wanted = [[["He", "is"], ["PRP", "VBZ"], ["B-NP", "B-VP"]], [["Ok"], ["UH"], ["O"]]]
    data = ds.CoNLL2000Dataset(place, shuffle=False)
    assert data.get_col_names() == ["word", "pos_tag", "chunk_tag"] and rows(data) == wanted
    for part, text in (("train", "He\tP\tX\nis\tV\tY\n\n"), ("test", "A\tB\tC\n"), ("dev", "D\tE\tF\n\n")):
        write(f"en-ud-tag.v2.{part}.txt", text)
    data = ds.UDPOSDataset(place, shuffle=False)
    assert data.get_col_names() == ["word", "universal", "stanford"]
    assert rows(data) == [[["D"], ["E"], ["F"]], [["He", "is"], ["P", "V"], ["X", "Y"]]]
    assert rows(ds.UDPOSDataset(place, "valid")) == [[["D"], ["E"], ["F"]]]
    write("train.txt", "He PRP\n\n")
    with pytest.raises(RuntimeError, match=r"train.txt.*line 1 has 2 entries"):
        rows(ds.CoNLL2000Dataset(place, "train"))


def test_multi30k(folder):
    place, write = folder
    for part in ("training/train", "validation/val", "mmt16_task1_test/test"):
        for language in ("en", "de"):
            write(f"{part}.{language}", f"{part} {language}\n{language} 2\n")
    data = ds.Multi30kDataset(place, "train", shuffle=False)
    assert data.get_col_names() == ["text", "translation"]
    assert rows(data) == [["training/train en", "training/train de"], ["en 2", "de 2"]]
    turned = ds.Multi30kDataset(place, "valid", ["de", "en"], shuffle=False)
    assert rows(turned)[0] == ["validation/val de", "validation/val en"]
    parts = [row[0].split("/")[0] for row in rows(ds.Multi30kDataset(place, shuffle=False))[:3]]
    assert parts == ["mmt16_task1_test", "training", "validation"]
    with pytest.raises(ValueError, match="language_pair"):
        ds.Multi30kDataset(place, language_pair=["en", "fr"])
    write("training/train.de", "only one\n")
    with pytest.raises(RuntimeError, match="sentences"):
        rows(ds.Multi30kDataset(place, "train"))


def test_iwslt(folder):
    place, write = folder
    talk = '<doc>\n<title>T</title>\n<seg id="1"> {} {} &amp; 1 </seg>\n<seg id="2">s2</seg>\n</doc>\n'
    for year, where, sets in (
        ("16", "texts/de/en/de-en", ("tst2013", "tst2014", "dev2010")),
        ("17", "texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo", ("dev2010", "tst2010")),
    ):
        for language in ("de", "en"):
            write(f"{where}/train.tags.de-en.{language}", f"<url>u</url>\n {language} line \n<title>x</title>\n")
            for part in sets:
                write(f"{where}/IWSLT{year}.TED.{part}.de-en.{language}.xml", talk.format(language, part))
    for kind, valid, test in ((ds.IWSLT2016Dataset, "tst2013", "tst2014"), (ds.IWSLT2017Dataset, "dev2010", "tst2010")):
        train, checked = [["de line", "en line"]], [[f"de {valid} & 1", f"en {valid} & 1"], ["s2", "s2"]]
        assert rows(kind(place, "train", shuffle=False)) == train
        assert rows(kind(place, "valid", shuffle=False)) == checked
        wanted = [train[0], checked[0], [f"de {test} & 1", f"en {test} & 1"], ["s2", "s2"], ["s2", "s2"]]
        assert rows(kind(place, shuffle=False)) == wanted
        with pytest.raises(ValueError, match="language_pair"):
            kind(place, language_pair=("de", "xx"))
    other = ds.IWSLT2016Dataset(place, "valid", valid_set="dev2010", shuffle=False)
    assert rows(other)[0][0] == "de dev2010 & 1"


def test_squad(folder):
    place, write = folder
    answers = [{"text": "a", "answer_start": 5}, {"text": "b", "answer_start": 7}]
    asked = [{"id": "1", "question": "q1", "answers": answers}, {"id": "2", "question": "q2", "answers": []}]
    content = json.dumps({"version": "1", "data": [{"title": "t", "paragraphs": [{"context": "c1", "qas": asked}]}]})
    write("train-v2.0.json", content)
    data = ds.SQuADDataset(place, "train", shuffle=False)
    assert data.get_col_names() == ["context", "question", "text", "answer_start"]
    wanted = [["c1", "q1", ["a", "b"], [5, 7]], ["c1", "q2", [""], [2**32 - 1]]]
    assert rows(data) == wanted and data.read(0)[3].dtype == np.uint32
    with pytest.raises(RuntimeError, match="dev-v"):
        ds.SQuADDataset(place)
    write("dev-v1.1.json", content)
    assert rows(ds.SQuADDataset(place, shuffle=False)) == [wanted[0], wanted[0], wanted[1], wanted[1]]
    write("train-v2.0.json", content[:-9])
    with pytest.raises(RuntimeError, match="train-v"):
        rows(ds.SQuADDataset(place, "train"))


def test_film_reviews(folder):
    place, write = folder
    write("train.tsv", "sentence\tlabel\nhi there \t1\nbad\t0\n")
    write("test.tsv", "index\tsentence\n0\tuneasy\n1\tx\n")
    assert rows(ds.SST2Dataset(place, shuffle=False)) == [["hi there ", "1"], ["bad", "0"]]
    assert rows(ds.SST2Dataset(place, "test", shuffle=False)) == ["uneasy", "x"]
    for part in ("train", "test"):
        for kind in ("pos", "neg"):
            for k in range(2):
                write(f"{part}/{kind}/{k}_5.txt", f"{part} {kind} {k}<br />")
    data = ds.IMDBDataset(place, shuffle=False)
    assert [label for _, label in rows(data)] == [1, 1, 0, 0] * 2 and data.read(0)[1].dtype == np.int32
    assert rows(ds.IMDBDataset(place, "test", sampler=ds.SubsetSampler([2]))) == [["test neg 0<br />", 0]]
    assert rows(ds.IMDBDataset(place, "test", shuffle=False, num_shards=2, shard_id=1))[0] == ["test pos 1<br />", 1]
    with pytest.raises(RuntimeError, match="does not exist"):
        ds.IMDBDataset(place + "/train")
