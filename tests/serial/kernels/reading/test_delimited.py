"""Rows of CSV files against Python's csv module, and checksums against the definition."""

import csv
import io

import numpy as np
import pytest

from dist_ms._ext.checksums import crc32c, masked
from dist_ms._ext.delimited import floats, integers, row_starts, split, strings


def parsed(text, columns, delimiter=","):
    data = np.frombuffer(text.encode(), np.uint8)
    starts = row_starts(data)
    spans, fault, row = split(data, starts[:-1], starts[1:], ord(delimiter), columns)
    return data, spans, fault, row


@pytest.mark.parametrize("seed", range(30))
def test_fields_are_those_of_the_csv_module(seed):
    rng = np.random.default_rng(seed)
    delimiter = ",;\t|"[seed % 4]
    columns = int(rng.integers(1, 5))
    letters = ["a", "é", "漢", "😀", '"', delimiter, "\n", " ", "0", ""]
    rows = [["".join(rng.choice(letters, rng.integers(0, 6))) for _ in range(columns)] for _ in range(20)]
    rows = [row for row in rows if any(row)]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=["\n", "\r\n"][seed % 2], quoting=csv.QUOTE_ALL)
    minimal = csv.writer(out, delimiter=delimiter, lineterminator="\n\n", quoting=csv.QUOTE_MINIMAL)
    for k, row in enumerate(rows):
        (writer if k % 2 else minimal).writerow(row)
    text = out.getvalue()[: -1 if seed % 3 == 0 else None]
    data, spans, fault, _ = parsed(text, columns, delimiter)
    assert fault == 0 and len(spans) == len(rows)
    for k in range(columns):
        found, wrong = strings(data, spans[:, k])
        assert wrong == -1 and found.tolist() == [row[k] for row in rows]


@pytest.mark.parametrize(
    ("text", "fault", "row"),
    [
        ('a,b\nx,y"z\n', 1, 1),
        ('a,b\n"x" ,y\n', 2, 1),
        ('a,b\n"x,y\n', 3, 1),
        ("a,b\n\nx\ny,z", 4, 1),
        ("a,b\n\nx,y\ny,z,", 5, 2),
    ],
)
def test_faults(text, fault, row):
    assert parsed(text, 2)[2:] == (fault, row)


def test_no_rows():
    for text in ("", "\n\n", "\r\n"):
        data, spans, fault, _ = parsed(text, 3)
        assert spans.shape == (0, 3, 2) and fault == 0
        assert strings(data, spans[:, 0])[0].shape == (0,)


def test_numbers():
    fields = ["1", "-2.5", "1e3", " 7", "0x10", "4x", "inf", "nan", "0.1", "3.4028235e38", "0." + "3" * 90]
    data, spans, _, _ = parsed("\n".join(fields), 1)
    wanted = np.array([1, -2.5, 1000, 7, 16, 4, np.inf, np.nan, 0.1, 3.4028235e38, 1 / 3], np.float32)
    found, wrong = floats(data, spans[:, 0])
    assert wrong == -1 and found.dtype == np.float32
    np.testing.assert_array_equal(found, wanted)
    fields = ["1", "-2", "3.7", " 7", "0x10", "4x", "2147483647", "-2147483648"]
    data, spans, _, _ = parsed("\n".join(fields), 1)
    found, wrong = integers(data, spans[:, 0])
    assert wrong == -1 and found.tolist() == [1, -2, 3, 7, 0, 4, 2**31 - 1, -(2**31)]
    for text in ("x", '""', "2147483648", "-2147483649", "9" * 30):
        data, spans, _, _ = parsed("1\n" + text, 1)
        assert integers(data, spans[:, 0])[1] == 1
    for text in ("x", '""', "1e39"):
        data, spans, _, _ = parsed("1\n" + text, 1)
        assert floats(data, spans[:, 0])[1] == 1


def test_text_that_is_no_utf8():
    for wrong in (
        b"\xff",
        b"\xc3",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf5\x80\x80\x80",
        b"\xe0\x80\x80",
        b"\x80",
        b"\xf0\x80\x80\x80",
    ):
        data = np.frombuffer(b"ok" + wrong, np.uint8)
        assert strings(data, np.array([[0, 2], [2, len(data)]]))[1] == 1
        with pytest.raises(UnicodeDecodeError):
            wrong.decode()


def test_checksums():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    rng = np.random.default_rng(0)
    for n in (*range(20), 1000):
        data = rng.integers(0, 256, n, np.uint8)
        crc = 0xFFFFFFFF
        for byte in data.tolist():
            crc = crc >> 8 ^ table[(crc ^ byte) & 255]
        crc ^= 0xFFFFFFFF
        assert crc32c(data) == crc
        assert masked(data) == ((crc >> 15 | crc << 17) + 0xA282EAD8) % 2**32
