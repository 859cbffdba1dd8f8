"""Sets of images with outlines, captions, boxes or names; the rows are MindSpore 2.10's."""

import io
import json

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from scipy.sparse import csc_matrix

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
    """The rows with the colour of each image in its place."""
    found = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert len(found) == data.get_dataset_size() and all(len(row) == len(data.get_col_names()) for row in found)
    return [[int(a[0, 0, 0]) if a.shape == (3, 2, 3) else a.tolist() for a in row] for row in found]


def test_caltech101(tmp_path):
    for n, (kind, outlines) in enumerate([("ant", "ant"), ("Faces", "Faces_2"), ("BACKGROUND_Google", "")]):
        png(tmp_path / "101_ObjectCategories" / kind / "image_0001.jpg", n)
        (tmp_path / "Annotations" / outlines).mkdir(parents=True, exist_ok=True)
        savemat(tmp_path / "Annotations" / outlines / "annotation_0001.mat", {"obj_contour": np.full((2, 2), n + 0.5)})
    data = ds.Caltech101Dataset(str(tmp_path), "all", decode=True, shuffle=False)
    assert rows(data) == [[1, 0, [[1.5] * 2] * 2], [0, 1, [[0.5] * 2] * 2]]
    assert data.get_class_indexing() == {"Faces": 0, "ant": 1} and data.output_types()[1:] == [np.int64, np.float64]
    assert rows(ds.Caltech101Dataset(str(tmp_path), decode=True, shuffle=False)) == [[1, 0], [0, 1]]
    assert ds.Caltech101Dataset(str(tmp_path), "annotation").get_col_names() == ["image", "annotation"]
    with pytest.raises(FileNotFoundError, match="101_ObjectCategories"):
        ds.Caltech101Dataset(str(tmp_path / "Annotations"))
    with pytest.raises(ValueError, match="target_type"):
        ds.Caltech101Dataset(str(tmp_path), "words")


def test_sbd(tmp_path):
    edges = np.empty((2, 1), object)
    for n, name in enumerate("abc"):
        png(tmp_path / "img" / f"{name}.jpg", n)
        (tmp_path / "cls").mkdir(exist_ok=True)
        for k in range(2):
            edges[k, 0] = csc_matrix(np.eye(3, 2) * (n == k), dtype=bool)
        savemat(tmp_path / "cls" / f"{name}.mat", {"GTcls": {"Boundaries": edges, "Segmentation": np.eye(3, 2) * n}})
    write(tmp_path / "train.txt", "b\na\n")
    write(tmp_path / "val.txt", "c\n")
    eye, none = np.eye(3, 2).tolist(), np.zeros((3, 2)).tolist()
    data = ds.SBDataset(str(tmp_path), decode=True, shuffle=False)
    assert rows(data) == [[1, [none, eye]], [0, [eye, none]], [2, [none, none]]]
    assert data.output_types()[1] == np.uint8
    segmented = ds.SBDataset(str(tmp_path), "Segmentation", "val", decode=True)
    assert rows(segmented) == [[2, (2 * np.eye(3, 2)).tolist()]]
    with pytest.raises(FileNotFoundError, match="train_noval"):
        ds.SBDataset(str(tmp_path), usage="train_noval")
    savemat(tmp_path / "cls" / "c.mat", {"GTcls": {"Boundaries": edges}})
    with pytest.raises(RuntimeError, match=r"c\.mat"):
        rows(segmented)


def test_flickr(tmp_path):
    for n, name in enumerate(["b.jpg", "a.jpg"]):
        png(tmp_path / name, n)
    write(tmp_path / "captions", "b.jpg#0\tA dog , running .\na.jpg#0\tA cat .\nb.jpg#1\tA dog .\n")
    data = ds.FlickrDataset(str(tmp_path), str(tmp_path / "captions"), decode=True, shuffle=False)
    assert rows(data) == [[1, ["A cat ."]], [0, ["A dog , running .", "A dog ."]]]
    write(tmp_path / "captions", "b.jpg#0\tA dog\nb.jpg A dog\n")
    with pytest.raises(RuntimeError, match="line 2"):
        ds.FlickrDataset(str(tmp_path), str(tmp_path / "captions"))


def test_sbu(tmp_path):
    addresses = "\n".join(f"http://static.flickr.com/{name}.jpg" for name in ("1/2_3", "4/none", "5/6/7"))
    write(tmp_path / "SBU_captioned_photo_dataset_urls.txt", addresses + "\n")
    write(tmp_path / "SBU_captioned_photo_dataset_captions.txt", "  A man . \nnot there\nA dog\nmore\n")
    png(tmp_path / "sbu_images/m_1_2_3.jpg", 1)
    png(tmp_path / "sbu_images/m_5_6_7.jpg", 2)
    assert rows(ds.SBUDataset(str(tmp_path), decode=True, shuffle=False)) == [[1, "  A man ."], [2, "A dog"]]
    write(tmp_path / "SBU_captioned_photo_dataset_captions.txt", "A\n\nB\n")
    with pytest.raises(RuntimeError, match="line 2"):
        ds.SBUDataset(str(tmp_path))


def test_cityscapes(tmp_path):
    for n, (part, city) in enumerate([("train", "bonn"), ("train", "aachen"), ("val", "ulm")]):
        png(tmp_path / "leftImg8bit" / part / city / f"{city}_1_leftImg8bit.png", n)
        png(tmp_path / "gtFine" / part / city / f"{city}_1_gtFine_labelIds.png", 10 + n)
        write(tmp_path / "gtCoarse" / part / city / f"{city}_1_gtCoarse_polygons.json", '{"b": [1, 2.5],\n "a": "ü"}')
    data = ds.CityscapesDataset(str(tmp_path), "all", task="semantic", decode=True, shuffle=False)
    assert rows(data) == [[1, 11], [0, 10], [2, 12]]
    drawn = ds.CityscapesDataset(str(tmp_path), "val", "coarse", "polygon", decode=True)
    assert rows(drawn) == [[2, json.dumps({"a": "ü", "b": [1, 2.5]}, separators=(",", ":"), ensure_ascii=False)]]
    with pytest.raises(RuntimeError, match="instanceIds"):
        ds.CityscapesDataset(str(tmp_path))
    for options in (("test", "coarse"), ("train_extra", "fine"), ("val", "good"), ("val", "fine", "names")):
        with pytest.raises(ValueError, match="CityscapesDataset"):
            ds.CityscapesDataset(str(tmp_path), *options)


def test_kitti(tmp_path):
    said = "0.5 2 -1.5 1 2 3 4 5 6 7 8 9 10 0.25"
    for n, kinds in enumerate([["Van", "Car"], [], ["DontCare"]]):
        png(tmp_path / f"data_object_image_2/training/image_2/00000{n}.png", n)
        lines = "".join(f"{kind} {said}\n" for kind in kinds)
        write(tmp_path / f"data_object_label_2/training/label_2/00000{n}.txt", lines)
    data = ds.KITTIDataset(str(tmp_path), decode=True, shuffle=False)
    one = [[0.5]], [[2]], [[-1.5]], [[1, 2, 3, 4]], [[5, 6, 7]], [[8, 9, 10]], [[0.25]]
    assert rows(data) == [[0, [[2], [0]], *(2 * part for part in one)], [2, [[1]], *one]]
    whole = [np.uint8, np.uint32, np.float32, np.uint32]
    assert data.output_types() == [*whole, *[np.float32] * 5]
    assert data.get_class_indexing() == {"Car": 0, "DontCare": 1, "Van": 2}
    png(tmp_path / "data_object_image_2/testing/image_2/000007.png", 7)
    assert rows(ds.KITTIDataset(str(tmp_path), "test", decode=True)) == [[7]]
    write(tmp_path / "data_object_label_2/training/label_2/000001.txt", "Car 1 2\n")  # MindSpore crashes
    with pytest.raises(RuntimeError, match=r"000001\.txt"):
        ds.KITTIDataset(str(tmp_path))


def test_lfw(tmp_path):
    for n, (name, k) in enumerate([("Zoe", 1), ("Zoe", 2), ("Al", 1)]):
        png(tmp_path / "lfw_funneled" / name / f"{name}_000{k}.jpg", n)
    png(tmp_path / "lfw/Al/Al_0001.jpg", 9)
    write(tmp_path / "lfw-names.txt", "Zoe\t2\nAl\t1\n")
    write(tmp_path / "peopleDevTrain.txt", "1\nZoe\t2\n")
    write(tmp_path / "peopleDevTest.txt", "1\nAl\t1\n")
    write(tmp_path / "people.txt", "2\n1\nAl\t1\n1\nZoe\t1\n")
    write(tmp_path / "pairs.txt", "1\t2\nZoe\t1\t2\nZoe\t2\tAl\t1\n")
    assert rows(ds.LFWDataset(str(tmp_path), decode=True, shuffle=False)) == [[0, 0], [1, 0], [2, 1]]
    assert rows(ds.LFWDataset(str(tmp_path), None, "test", "original", decode=True)) == [[9, 1]]
    assert rows(ds.LFWDataset(str(tmp_path), usage="10fold", decode=True, shuffle=False)) == [[2, 1], [0, 0]]
    pairs = ds.LFWDataset(str(tmp_path), "pairs", "10fold", decode=True, shuffle=False)
    assert rows(pairs) == [[0, 1, 1], [1, 2, 0]] and pairs.output_types()[2] == np.uint32
    write(tmp_path / "pairsDevTest.txt", "1\nZoe\t1\n")  # MindSpore runs out of memory
    with pytest.raises(RuntimeError, match="line 2"):
        ds.LFWDataset(str(tmp_path), "pairs", "test")
    write(tmp_path / "people.txt", "1\nBo\t1\n")
    with pytest.raises(RuntimeError, match="Bo"):
        ds.LFWDataset(str(tmp_path), usage="10fold")
    for options in (("words",), (None, "words"), (None, None, "words")):
        with pytest.raises(ValueError, match="words"):
            ds.LFWDataset(str(tmp_path), *options)


def test_wider_face(tmp_path):
    for n, name in enumerate(
        ["train/images/1--Hand/z", "train/images/0--Parade/a", "val/images/2--C/q", "test/images/t"]
    ):
        png(tmp_path / f"WIDER_{name}.jpg", n)
    said = "1--Hand/z.jpg\n2\n1 2 3 4 0 1 0 1 2 0 \n5 6 7 8 2 0 1 0 1 1 \n0--Parade/a.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \n"
    write(tmp_path / "wider_face_split/wider_face_train_bbx_gt.txt", said)
    write(tmp_path / "wider_face_split/wider_face_val_bbx_gt.txt", "2--C/q.jpg\n1\n1 2 3 4 5 6 7 8 9 10 \n")
    write(tmp_path / "wider_face_split/wider_face_test_filelist.txt", "t.jpg\n")
    data = ds.WIDERFaceDataset(str(tmp_path), decode=True, shuffle=False)
    first = [0, [[1, 2, 3, 4], [5, 6, 7, 8]], [0, 2], [1, 0], [0, 1], [1, 0], [2, 1], [0, 1]]
    last = [2, [[1, 2, 3, 4]], *([n] for n in range(5, 11))]
    assert rows(data) == [first, [1, [[0] * 4], *[[0]] * 6], last]
    assert data.output_types()[1:] == [np.int32] * 7
    assert rows(ds.WIDERFaceDataset(str(tmp_path), "test", decode=True)) == [[3]]
    write(tmp_path / "wider_face_split/wider_face_val_bbx_gt.txt", "2--C/q.jpg\n2\n1 2 3 4 5 6 7 8 9 10 \n")
    with pytest.raises(RuntimeError, match="line 1"):  # MindSpore hangs
        ds.WIDERFaceDataset(str(tmp_path), "valid")
