"""Pairs of images, the post's digits, and rows that stand in no file."""

import hashlib

import numpy as np
import pytest
from PIL import Image

import dist_ms.dataset as ds


def rows(data):
    found = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert len(found) == data.get_dataset_size()
    return found


def png(path, colour):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (2, 3), (colour,) * 3).save(path, "PNG")


@pytest.mark.parametrize(
    ("downgrade", "scale", "place"),
    [
        ("bicubic", 2, "LR_bicubic/X2/0001x2"),
        ("unknown", 4, "LR_unknown/X4/0001x4"),
        ("bicubic", 8, "LR_x8/0001x8"),
        ("wild", 4, "LR_wild/0001x4w"),
    ],
)
def test_div2k(tmp_path, downgrade, scale, place):
    png(tmp_path / "DIV2K_train_HR/0001.png", 1)
    png(tmp_path / f"DIV2K_train_{place}.png", 2)
    data = ds.DIV2KDataset(str(tmp_path), "train", downgrade, scale, decode=True)
    ((large, small),) = rows(data)
    assert (large[0, 0, 0], small[0, 0, 0]) == (1, 2) and data.get_col_names() == ["hr_image", "lr_image"]
    (tmp_path / f"DIV2K_train_{place}.png").unlink()
    with pytest.raises(RuntimeError, match="0001x"):
        ds.DIV2KDataset(str(tmp_path), "train", downgrade, scale)


@pytest.mark.parametrize("options", [("train", "wild", 2), ("train", "unknown", 8), ("test",), ("all", "bad")])
def test_div2k_that_there_is_not(tmp_path, options):
    with pytest.raises(ValueError, match="DIV2KDataset"):
        ds.DIV2KDataset(str(tmp_path), *options)


def test_photo_tour(tmp_path):
    folder = tmp_path / "liberty"
    folder.mkdir()
    sheets = np.random.RandomState(1).randint(0, 255, (2, 1024, 1024)).astype(np.uint8)
    for number, sheet in enumerate(sheets):
        Image.fromarray(sheet).save(folder / f"patches{number:04d}.bmp")
    (folder / "info.txt").write_text("0 0\n" * 300)
    (folder / "m50_100000_100000_0.txt").write_text("1 0 0 17 5 0 0\n257 3 0 258 3 0 0\n")
    data = ds.PhotoTourDataset(str(tmp_path), "liberty", sampler=[1, 257, 18])
    assert data.count() == 300
    wanted = [(0, 0, 64), (1, 0, 64), (0, 64, 128)]
    for (patch,), (sheet, top, left) in zip(rows(data), wanted, strict=True):
        np.testing.assert_array_equal(patch[..., 0], sheets[sheet, top : top + 64, left : left + 64])
    pairs = rows(ds.PhotoTourDataset(str(tmp_path), "liberty", "test", shuffle=False))
    assert [int(matches) for _, _, matches in pairs] == [0, 1] and pairs[0][2].dtype == np.uint32
    np.testing.assert_array_equal(pairs[1][1][..., 0], sheets[1, :64, 128:192])
    (folder / "patches0001.bmp").unlink()
    with pytest.raises(RuntimeError, match=r"patches0001\.bmp"):
        rows(data)
    (folder / "m50_100000_100000_0.txt").write_text("1 0 0\n")
    with pytest.raises(RuntimeError, match="seven numbers"):
        ds.PhotoTourDataset(str(tmp_path), "liberty", "test")


def test_usps(tmp_path):
    draw = np.random.RandomState(0)
    values = np.round(draw.uniform(-1, 1, (7, 256)), 3)
    values[0, :5] = -1, 1, 0, -0.2, 0.545098  # the last two are below a whole number in float64 after rounding
    lines = [" ".join([str(n + 1), *(f"{k}:{v:.6f}" for k, v in enumerate(row, 1))]) for n, row in enumerate(values)]
    (tmp_path / "usps").write_text(" \n".join(lines[:5]) + " \n")
    (tmp_path / "usps.t").write_text("\n".join(lines[5:]))
    found = rows(ds.USPSDataset(str(tmp_path), "train", shuffle=False))
    assert found[0][0].shape == (16, 16, 1) and found[0][0].ravel()[:5].tolist() == [0, 255, 127, 101, 196]
    labels = [int(label) for _, label in rows(ds.USPSDataset(str(tmp_path), shuffle=False))]
    assert labels == [0, 5, 1, 6, 2, 3, 4]  # a line of each file in turn
    shard = ds.USPSDataset(str(tmp_path), shuffle=False, num_shards=2, shard_id=1)
    assert [int(label) for _, label in rows(shard)] == [4, 5, 0, 6]
    (tmp_path / "usps").write_text("1 1:0.5\n")
    with pytest.raises(RuntimeError, match="line 1"):
        rows(ds.USPSDataset(str(tmp_path)))
    (tmp_path / "usps").unlink()
    with pytest.raises(RuntimeError, match="usps"):
        ds.USPSDataset(str(tmp_path))


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ((4, (33, 7, 3), 1000, 12345), [("d73a72f0", 929), ("bc9a8e92", 928), ("87ef6805", 703), ("227b2aa3", 370)]),
        (
            (6, (5, 5, 1), 2147483647, -3),
            [
                ("394ba6fa", 1137703825),
                ("9f4b8e46", 1118123725),
                ("1a17d6b8", 209663185),
                ("5d7a3c7f", 1178568022),
                ("c09cb42e", 895547922),
                ("50d86b84", 936291924),
            ],
        ),
    ],
)
def test_fake_images(options, wanted):
    data = ds.FakeImageDataset(*options, shuffle=False)
    found = rows(data)
    digests = [(hashlib.md5(image.tobytes()).hexdigest()[:8], int(label)) for image, label in found]
    assert digests == wanted and found[0][0].shape == options[1] and data.num_classes() == options[2]
    np.testing.assert_array_equal(data.labels("label"), [label for _, label in found])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ((0,), ValueError),
        (("3",), TypeError),
        ((3, (2, 2)), ValueError),
        ((3, 4), TypeError),
        ((3, (2, 0, 3)), ValueError),
        ((3, (2, 2, 3), 0), ValueError),
    ],
)
def test_fake_images_that_are_refused(options, error):
    with pytest.raises(error, match="FakeImageDataset"):
        ds.FakeImageDataset(*options)


def test_padded():
    samples = [{"a": np.zeros(2, np.uint8), "b": 1.5}, {"b": 2.5, "a": np.ones(1, np.uint8)}]
    data = ds.PaddedDataset(samples)
    assert data.get_col_names() == ["a", "b"] and [a.tolist() for a, _ in rows(data)] == [[0, 0], [1]]
    fives = np.full((3, 2), 5, np.uint8)
    whole = ds.NumpySlicesDataset({"a": fives, "b": [0.5] * 3}, shuffle=False) + data
    whole.use_sampler(ds.DistributedSampler(2, 1, shuffle=False))
    assert [float(b) for _, b in rows(whole)] == [0.5, 1.5]
    for wrong, error in (
        ([], ValueError),
        ({"a": 1}, TypeError),
        ([3], TypeError),
        ([{"a": 1}, {"b": 1}], RuntimeError),
    ):
        with pytest.raises(error, match="PaddedDataset"):
            ds.PaddedDataset(wrong)


def test_random_rows():
    schema = ds.Schema()
    for name, kind, shape in (("x", "uint8", [50]), ("y", "float32", [2, -1]), ("z", "bool", []), ("w", "int64", [2])):
        schema.add_column(name, kind, shape)
    data = ds.RandomDataset(40, schema, shuffle=False)
    found = rows(data)
    assert [a.dtype for a in found[0]] == [np.uint8, np.float32, np.bool_, np.int64]
    assert {row[0].shape for row in found} == {(50,)} and len({row[1].shape for row in found}) > 5
    x, z, w = (np.stack([row[k] for row in found]) for k in (0, 2, 3))
    assert x.min() < 5 and x.max() > 250 and set(z.tolist()) == {True, False} and w.min() < -(2**60) < 2**60 < w.max()
    assert all(0 <= row[1].min() and row[1].max() < 1 for row in found)
    for row, same in zip(found, rows(data), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(row, same, strict=True))
    assert ds.RandomDataset(5, schema, ["z", "x"]).get_col_names() == ["z", "x"]
    assert len(rows(ds.RandomDataset(5, schema, num_shards=2, shard_id=0))) == 3
    assert len(rows(ds.RandomDataset(5, schema, num_samples=2))) == 2


def test_random_rows_without_a_schema(tmp_path):
    named = ds.RandomDataset(3, columns_list=["a", "b"])
    assert named.get_col_names() == ["a", "b"] and len(rows(named)) == 3
    assert ds.RandomDataset().get_dataset_size() > 0 and ds.RandomDataset(2).get_col_names()[0] == "c0"
    texts = ds.Schema()
    texts.add_column("t", "string", [1])
    wrong = [((-1,), ValueError), ((2.5,), TypeError), ((2, 3), TypeError), ((2, "none.json"), ValueError)]
    wrong += [((2, texts), RuntimeError), ((2, texts, ["u"]), RuntimeError), ((2, None, "a"), TypeError)]
    for options, error in wrong:
        with pytest.raises(error):
            ds.RandomDataset(*options)
