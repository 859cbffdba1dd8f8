"""Sets of images by class and by scene in the layout of their files; the rows are MindSpore 2.10's."""

import io

import numpy as np
import pytest
from PIL import Image

import dist_ms.dataset as ds


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def png(path, seed):
    """A small image of one colour, its number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = io.BytesIO()
    Image.fromarray(np.full((3, 2, 3), seed, np.uint8)).save(written, "PNG")
    path.write_bytes(written.getvalue())


def rows(data):
    """The colour and label of each row."""
    found = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert len(found) == data.get_dataset_size() and all(image.shape == (3, 2, 3) for image, _ in found)
    return [(int(image[0, 0, 0]), label.tolist()) for image, label in found]


def test_caltech256(tmp_path):
    for n, name in enumerate(["002.b/1.jpg", "001.a/2.jpg", "001.a/1.JPEG", "001.a/3.png", "010.c/x.txt", "2.d/1.jpg"]):
        png(tmp_path / name, n)
    data = ds.Caltech256Dataset(str(tmp_path), decode=True, shuffle=False)
    assert rows(data) == [(2, 0), (1, 0), (0, 1), (5, 3)] and data.num_classes() == 4
    assert data.output_types()[1] == np.int32
    assert len(rows(ds.Caltech256Dataset(str(tmp_path), decode=True, sampler=ds.PKSampler(1)))) == 3
    with pytest.raises(RuntimeError, match=r"\*\.jpg"):
        ds.Caltech256Dataset(str(tmp_path / "001.a"))


def test_food101(tmp_path):
    for n, name in enumerate(["b/1", "a/2", "a/1"]):
        png(tmp_path / "images" / f"{name}.jpg", n)
    write(tmp_path / "meta/train.txt", "b/1\n\na/2\n")
    write(tmp_path / "meta/test.txt", "a/1\n")
    data = ds.Food101Dataset(str(tmp_path), decode=True, shuffle=False)
    assert rows(data) == [(0, "b"), (1, "a"), (2, "a")] and data.num_classes() is None
    assert rows(ds.Food101Dataset(str(tmp_path), "test", decode=True)) == [(2, "a")]
    write(tmp_path / "meta/test.txt", "a/7\n")
    with pytest.raises(RuntimeError, match=r"7\.jpg"):
        rows(ds.Food101Dataset(str(tmp_path), "test"))
    with pytest.raises(ValueError, match="usage"):
        ds.Food101Dataset(str(tmp_path), "val")


def test_omniglot(tmp_path):
    for n, name in enumerate(["Latin/c2/1.png", "Latin/c1/2.png", "Latin/c1/1.png", "Greek/c1/1.png"]):
        png(tmp_path / "images_background" / name, n)
    data = ds.OmniglotDataset(str(tmp_path), decode=True, shuffle=False)
    assert rows(data) == [(3, 0), (2, 1), (1, 1), (0, 2)] and data.num_classes() == 3
    with pytest.raises(RuntimeError, match="images_evaluation"):
        ds.OmniglotDataset(str(tmp_path), False)
    with pytest.raises(TypeError, match="background"):
        ds.OmniglotDataset(str(tmp_path), "yes")


@pytest.mark.parametrize("validation", ["valid", "val"])
def test_rendered_sst2(tmp_path, validation):
    for n, name in enumerate(["train/positive/1", "train/negative/1", f"{validation}/negative/9", "test/positive/2"]):
        png(tmp_path / f"{name}.png", n)
    data = ds.RenderedSST2Dataset(str(tmp_path), decode=True, shuffle=False)
    assert rows(data) == [(3, 1), (1, 0), (0, 1), (2, 0)] and data.num_classes() == 2
    assert rows(ds.RenderedSST2Dataset(str(tmp_path), "val", decode=True)) == [(2, 0)]
    with pytest.raises(RuntimeError, match=r"train/positive/\*\.png"):
        ds.RenderedSST2Dataset(str(tmp_path / validation))


def test_lsun(tmp_path):
    for n, name in enumerate(
        ["tower_train/2", "tower_train/1", "bridge_val/1", "bridge_train/1", "test/1", "x_train/1"]
    ):
        png(tmp_path / f"{name}.jpg", n)
    data = ds.LSUNDataset(str(tmp_path), decode=True, shuffle=False)
    # MindSpore numbers the folders, so that a class has two labels.
    assert rows(data) == [(3, 0), (2, 0), (1, 1), (0, 1)] and data.num_classes() == 2
    assert rows(ds.LSUNDataset(str(tmp_path), "train", ["tower"], decode=True, shuffle=False)) == [(1, 0), (0, 0)]
    assert rows(ds.LSUNDataset(str(tmp_path), "valid", decode=True)) == [(2, 0)]
    assert rows(ds.LSUNDataset(str(tmp_path), "test", decode=True)) == [(4, 0)]
    for classes, error in ((["house"], ValueError), (3, TypeError), (["kitchen"], RuntimeError)):
        with pytest.raises(error, match="LSUNDataset"):
            ds.LSUNDataset(str(tmp_path), "train", classes)
    (tmp_path / "tower_train/more").mkdir()
    with pytest.raises(RuntimeError, match="is no file"):
        ds.LSUNDataset(str(tmp_path))


def test_places365(tmp_path):
    write(tmp_path / "places365_train_standard.txt", "/b/bar/1.jpg 2\n/a/hall/1.jpg 0\n")
    write(tmp_path / "places365_val.txt", "v.jpg 9\n")
    for n, name in enumerate(["data_256_standard/b/bar/1", "data_256_standard/a/hall/1", "val_large/v"]):
        png(tmp_path / f"{name}.jpg", n)
    assert rows(ds.Places365Dataset(str(tmp_path), decode=True, shuffle=False)) == [(0, 2), (1, 0)]
    assert rows(ds.Places365Dataset(str(tmp_path), "val", False, True)) == [(2, 9)]
    with pytest.raises(RuntimeError, match="places365_train_challenge"):
        ds.Places365Dataset(str(tmp_path), "train-challenge")
    write(tmp_path / "places365_val.txt", "v.jpg 9\nw.jpg\n")
    with pytest.raises(RuntimeError, match="line 2"):
        ds.Places365Dataset(str(tmp_path), "val")


def test_sun397(tmp_path):
    write(tmp_path / "ClassName.txt", "/b/bar\n/a/hall/outdoor\n")
    for n, name in enumerate(["b/bar/sun_b", "b/bar/sun_a", "a/hall/outdoor/sun_c", "b/bar/other"]):
        png(tmp_path / f"{name}.jpg", n)
    assert rows(ds.SUN397Dataset(str(tmp_path), decode=True, shuffle=False)) == [(2, 1), (1, 0), (0, 0)]
    write(tmp_path / "ClassName.txt", "/b/bar\n/a/none\n")
    with pytest.raises(RuntimeError, match="a/none"):
        ds.SUN397Dataset(str(tmp_path))
