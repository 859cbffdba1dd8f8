"""Sets of images with objects, attributes and lists in the layout of their files; the rows are MindSpore 2.10's."""

import io
import json

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

import dist_ms.dataset as ds


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def png(path, seed):
    """A small image, and its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = io.BytesIO()
    pixels = np.random.RandomState(seed).randint(0, 255, (6, 5, 3), np.uint8)
    Image.fromarray(pixels).save(written, "PNG")
    path.write_bytes(written.getvalue())
    return pixels


def rows(data):
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_celeba(tmp_path):
    pixels = [png(tmp_path / f"{i}.jpg", i) for i in range(3)]
    write(tmp_path / "list_attr_celeba.txt", "3\na b\n0.jpg  1 -1\n1.jpg -1 -1\n2.jpg  1  1\n")
    write(tmp_path / "list_eval_partition.txt", "0.jpg 0\n1.jpg 1\n2.jpg 0\n")
    found = rows(ds.CelebADataset(str(tmp_path), usage="train", shuffle=False, decode=True))
    assert [attr.tolist() for _, attr in found] == [[1, 0], [1, 1]] and found[0][1].dtype == np.uint32
    np.testing.assert_array_equal(found[1][0], pixels[2])
    assert ds.CelebADataset(str(tmp_path), extensions=[".jpg"]).get_dataset_size() == 3
    write(tmp_path / "list_attr_celeba.txt", "3\na b\n0.jpg  1 -1\n1.jpg -1\n2.jpg  1  1\n")
    with pytest.raises(RuntimeError, match="line 4"):
        ds.CelebADataset(str(tmp_path))
    with pytest.raises(ValueError, match="dataset_dir"):
        ds.CelebADataset(str(tmp_path / "none"))


def voc(folder):
    def thing(name, x, difficult=0, cut=0):
        box = f"<xmin>{x}</xmin><ymin>{x + 1}</ymin><xmax>{x + 7}</xmax><ymax>{x + 9}</ymax>"
        flags = f"<truncated>{cut}</truncated><difficult>{difficult}</difficult>"
        return f"<object><name>{name}</name>{flags}<bndbox>{box}</bndbox></object>"

    for i, (name, things) in enumerate({"b": [("dog", 3, 1), ("cat", 1, 0, 1)], "a": [("train", 2)]}.items()):
        png(folder / "JPEGImages" / f"{name}.jpg", i)
        png(folder / "SegmentationClass" / f"{name}.png", 10 + i)
        write(folder / "Annotations" / f"{name}.xml", f"<annotation>{''.join(thing(*t) for t in things)}</annotation>")
    for part in ("Main", "Segmentation"):
        write(folder / "ImageSets" / part / "train.txt", "b\na\n")


def test_voc(tmp_path):
    voc(tmp_path)
    images = rows(ds.VOCDataset(str(tmp_path), shuffle=False, decode=True))
    assert [image.shape for row in images for image in row] == [(6, 5, 3)] * 4
    data = ds.VOCDataset(str(tmp_path), "Detection", shuffle=False)
    assert data.get_class_indexing() == {"cat": 0, "dog": 1, "train": 2}
    _, boxes, labels, difficult, cut = rows(data)[0]
    assert boxes.tolist() == [[3, 4, 7, 8], [1, 2, 7, 8]] and boxes.dtype == np.float32
    assert (labels.tolist(), difficult.tolist(), cut.tolist()) == ([[1], [0]], [[1], [0]], [[0], [1]])
    chosen = ds.VOCDataset(str(tmp_path), "Detection", class_indexing={"cat": 5}, shuffle=False)
    assert [row[2].tolist() for row in rows(chosen)] == [[[5]]]
    named = ds.VOCDataset(str(tmp_path), shuffle=False, extra_metadata=True)
    assert named.get_col_names()[-1] == "_meta-filename" and len(rows(named)[0]) == 2
    renamed = rows(named.rename("_meta-filename", "name"))
    assert str(renamed[0][2]).endswith("b.jpg")
    with pytest.raises(ValueError, match="usage"):
        ds.VOCDataset(str(tmp_path), usage="none")
    write(tmp_path / "Annotations" / "a.xml", "<annotation>")
    with pytest.raises(RuntimeError, match=r"a\.xml"):
        ds.VOCDataset(str(tmp_path), "Detection")


def coco(folder):
    for name in "xyw":
        png(folder / f"{name}.jpg", 1)
    images = [{"id": i, "file_name": f"{name}.jpg"} for i, name in ((9, "x"), (4, "y"), (7, "w"))]
    kinds = [{"id": 3, "name": "person", "isthing": 1}, {"id": 1, "name": "bag", "isthing": 0}]
    run_lengths = {"counts": [4, 2, 6], "size": [3, 4]}
    things = [
        {"image_id": 4, "category_id": 3, "bbox": [1.5, 2, 3, 4], "iscrowd": 0, "segmentation": [[1, 2, 3.5], [7]],
         "keypoints": [1, 2, 2], "num_keypoints": 1, "caption": "a cat"},
        {"image_id": 9, "category_id": 1, "bbox": [0, 0, 1, 1], "iscrowd": 1, "segmentation": run_lengths,
         "keypoints": [0, 0, 0], "num_keypoints": 0, "caption": "two dogs"},
        {"image_id": 4, "category_id": 1, "bbox": [2, 2, 2, 2], "iscrowd": 0, "segmentation": [[1, 2]],
         "keypoints": [3, 4, 1], "num_keypoints": 1, "caption": "cats"},
    ]  # fmt: skip
    write(folder / "all.json", json.dumps({"images": images, "annotations": things, "categories": kinds}))
    segments = [{"category_id": 3, "bbox": [1, 2, 3, 4], "area": 7, "iscrowd": 0}]
    panoptic = [{"image_id": 4, "file_name": "y.png", "segments_info": segments}]
    write(folder / "pan.json", json.dumps({"images": images, "annotations": panoptic, "categories": kinds}))


@pytest.mark.parametrize(
    ("task", "wanted"),
    [
        ("Detection", [[[1.5, 2, 3, 4], [2, 2, 2, 2]], [[3], [1]], [[0], [0]]]),
        ("Stuff", [[[1, 2, 3.5], [7, -1, -1], [1, 2, -1]], [[0], [0]]]),
        ("Keypoint", [[[1, 2, 2], [3, 4, 1]], [[1], [1]]]),
        ("Captioning", [[["a cat"], ["cats"]]]),
    ],
)
def test_coco(tmp_path, task, wanted):
    coco(tmp_path)
    found = rows(ds.CocoDataset(str(tmp_path), str(tmp_path / "all.json"), task, shuffle=False))
    assert len(found) == 2  # images without annotations are left out
    assert [column.tolist() for column in found[1][1:]] == wanted


def test_coco_panoptic_and_categories(tmp_path):
    coco(tmp_path)
    data = ds.CocoDataset(str(tmp_path), str(tmp_path / "pan.json"), "Panoptic", shuffle=False)
    assert [column.tolist() for column in rows(data)[0][1:]] == [[[1, 2, 3, 4]], [[3]], [[0]], [[7]]]
    assert data.get_class_indexing() == {"person": [3, 1], "bag": [1, 0]}
    data = ds.CocoDataset(str(tmp_path), str(tmp_path / "all.json"))
    assert data.get_class_indexing() == {"person": [3], "bag": [1]}
    with pytest.raises(RuntimeError, match="Panoptic"):
        ds.CocoDataset(str(tmp_path), str(tmp_path / "all.json"), "Panoptic")
    write(tmp_path / "bad.json", "{")
    with pytest.raises(RuntimeError, match="annotations"):
        ds.CocoDataset(str(tmp_path), str(tmp_path / "bad.json"))


def test_manifest(tmp_path):
    lines = []
    for i, (usage, names) in enumerate([("train", ["cat"]), ("eval", ["dog"]), ("train", ["cat", "ant"])]):
        png(tmp_path / f"{i}.jpg", i)
        labels = [{"type": "modelarts/image_classification", "name": name} for name in names]
        lines.append(json.dumps({"source": str(tmp_path / f"{i}.jpg"), "usage": usage, "annotation": labels}))
    write(tmp_path / "m.manifest", "\n".join(lines))
    data = ds.ManifestDataset(str(tmp_path / "m.manifest"), shuffle=False)
    assert data.get_class_indexing() == {"ant": 0, "cat": 1} and data.num_classes() == 2
    assert [label.tolist() for _, label in rows(data)] == [1, [1, 0]]
    chosen = ds.ManifestDataset(str(tmp_path / "m.manifest"), class_indexing={"cat": 4}, shuffle=False)
    assert [label.tolist() for _, label in rows(chosen)] == [4, 4]
    with pytest.raises(RuntimeError, match="inference"):
        ds.ManifestDataset(str(tmp_path / "m.manifest"), "inference")
    write(tmp_path / "bad.manifest", lines[0] + "\n{")
    with pytest.raises(RuntimeError, match="line 2"):
        ds.ManifestDataset(str(tmp_path / "bad.manifest"))


def test_flowers(tmp_path):
    for i in range(1, 7):
        png(tmp_path / "jpg" / f"image_{i:05d}.jpg", i)
        png(tmp_path / "segmim" / f"segmim_{i:05d}.jpg", 20 + i)
    savemat(tmp_path / "imagelabels.mat", {"labels": np.uint8([[1, 1, 3, 3, 102, 5]])})
    parts = {"trnid": np.uint16([[4, 1]]), "valid": np.uint16([[2, 3]]), "tstid": np.uint16([[6, 5]])}
    savemat(tmp_path / "setid.mat", parts)
    data = ds.Flowers102Dataset(str(tmp_path), shuffle=False)
    assert [int(label) for _, label in rows(data)] == [2, 0, 4, 101, 0, 2]
    assert len(data.get_class_indexing()) == 102 and data.get_class_indexing()["moon orchid"] == 6
    segmented = rows(ds.Flowers102Dataset(str(tmp_path), "Segmentation", "test", shuffle=False, decode=True))
    assert [(a.shape, b.shape, int(c)) for a, b, c in segmented] == [((6, 5, 3), (6, 5, 3), n) for n in (4, 101)]
    savemat(tmp_path / "setid.mat", {**parts, "valid": np.uint16([[9]])})
    with pytest.raises(RuntimeError, match="from 1 to 6"):
        ds.Flowers102Dataset(str(tmp_path))


def test_arrays(tmp_path):
    draw = np.random.RandomState(1)
    for part, count in (("train", 2), ("test", 1), ("unlabeled", 1)):
        draw.randint(0, 255, count * 27648).astype(np.uint8).tofile(tmp_path / f"{part}_X.bin")
        np.arange(1, count + 1, dtype=np.uint8).tofile(tmp_path / f"{part}_y.bin")
        if part != "unlabeled":
            pixels = draw.randint(0, 255, (32, 32, 3, 2)).astype(np.uint8)
            savemat(tmp_path / f"{part}_32x32.mat", {"X": pixels, "y": np.uint8([[10], [2]])})
    stl = rows(ds.STL10Dataset(str(tmp_path), "train+unlabeled", shuffle=False))
    assert [int(label) for _, label in stl] == [0, 1, -1]
    raw = np.fromfile(tmp_path / "train_X.bin", np.uint8)
    assert stl[0][0].shape == (96, 96, 3) and stl[0][0][1, 0, 2] == raw[2 * 9216 + 1]  # planes by columns
    svhn = rows(ds.SVHNDataset(str(tmp_path), "train", shuffle=False))
    assert [int(label) for _, label in svhn] == [0, 2] and svhn[0][0].shape == (32, 32, 3)
    lines = [" ".join(["1.0000"] * 128 + ["0.0000"] * 128 + [str(int(k == n)) for k in range(10)]) for n in (3, 0)]
    write(tmp_path / "semeion.data", "\n".join(lines))
    semeion = rows(ds.SemeionDataset(str(tmp_path), shuffle=False))
    assert [int(label) for _, label in semeion] == [3, 0] and semeion[0][0].sum() == 128
    (tmp_path / "test_X.bin").write_bytes(b"12")
    with pytest.raises(RuntimeError, match="test_X"):
        ds.STL10Dataset(str(tmp_path), "test")
    with pytest.raises(ValueError, match="extra"):
        ds.SVHNDataset(str(tmp_path), "extra")
    write(tmp_path / "semeion.data", "1 2 3")
    with pytest.raises(RuntimeError, match="line 1"):
        ds.SemeionDataset(str(tmp_path))
