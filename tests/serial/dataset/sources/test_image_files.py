"""Sources of images: rows, shapes and types as in the files, and files that are missing or damaged."""

import gzip
import struct

import numpy as np
import pytest

import dist_ms.dataset as ds

rng = np.random.default_rng(0)


def write_idx(folder, name, images, labels, packed=False):
    write = (lambda path, data: gzip.open(f"{path}.gz", "wb").write(data)) if packed else type(folder).write_bytes
    n = len(images)
    write(folder / f"{name}-images-idx3-ubyte", struct.pack(">4i", 2051, n, 28, 28) + images.tobytes())
    write(folder / f"{name}-labels-idx1-ubyte", struct.pack(">2i", 2049, n) + labels.astype(np.uint8).tobytes())


@pytest.fixture
def mnist(tmp_path):
    parts = {}
    for name, n in (("train", 5), ("t10k", 3)):
        parts[name] = rng.integers(0, 256, (n, 28, 28), np.uint8), rng.integers(0, 10, n)
        write_idx(tmp_path, name, *parts[name], packed=name == "t10k")
    return tmp_path, parts


def rows_of(data):
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


def check(data, images, labels):
    rows = rows_of(data)
    assert len(rows) == len(data) == len(images)
    for (image, *found), wanted, label in zip(rows, images, labels, strict=True):
        assert image.dtype == np.uint8 and (image == wanted).all() and image.shape == wanted.shape
        assert all(f.dtype == np.uint32 and f.shape == () for f in found)
        assert [int(f) for f in found] == np.atleast_1d(label).tolist()
    many = rows_of(data.batch(2))
    assert np.concatenate([m[0] for m in many]).tolist() == np.array(images).tolist()


@pytest.mark.parametrize("kind", [ds.MnistDataset, ds.FashionMnistDataset, ds.KMnistDataset])
def test_mnist_family(mnist, kind):
    folder, parts = mnist
    for usage, names in (
        ("train", ["train"]),
        ("test", ["t10k"]),
        ("all", ["t10k", "train"]),
        (None, ["t10k", "train"]),
    ):
        images = np.concatenate([parts[n][0] for n in names])[..., None]
        check(kind(str(folder), usage, shuffle=False), images, np.concatenate([parts[n][1] for n in names]))
    pk = kind(str(folder), "train", sampler=ds.PKSampler(1))
    assert [int(label) for _, label in rows_of(pk)] == sorted(set(parts["train"][1].tolist()))


def test_emnist(tmp_path):
    images, labels = rng.integers(0, 256, (4, 28, 28), np.uint8), np.arange(4)
    write_idx(tmp_path, "emnist-letters-train", images, labels)
    check(ds.EMnistDataset(str(tmp_path), "letters", "train", shuffle=False), images[..., None], labels)
    with pytest.raises(RuntimeError, match="emnist-digits-train"):
        ds.EMnistDataset(str(tmp_path), "digits", "train")


def test_qmnist(tmp_path):
    images = rng.integers(0, 256, (10_002, 28, 28), np.uint8)
    labels = rng.integers(0, 10, (10_002, 8)).astype(">i4")
    head = struct.pack(">4i", 2051, *images.shape)
    (tmp_path / "qmnist-test-images-idx3-ubyte").write_bytes(head + images.tobytes())
    head = struct.pack(">3i", 3074, *labels.shape)
    (tmp_path / "qmnist-test-labels-idx2-int").write_bytes(head + labels.tobytes())
    last = ds.QMnistDataset(str(tmp_path), "test50k", shuffle=False)
    check(last, images[10_000:, ..., None], labels[10_000:, 0])
    assert (
        len(ds.QMnistDataset(str(tmp_path), "test10k")) == 10_000
        and len(ds.QMnistDataset(str(tmp_path), "test")) == 10_002
    )
    whole = ds.QMnistDataset(str(tmp_path), "test50k", compat=False, shuffle=False)
    assert rows_of(whole)[1][1].tolist() == labels[10_001].tolist()


def test_cifar(tmp_path):
    planes = rng.integers(0, 256, (6, 3, 32, 32), np.uint8)
    labels = np.array([[1, 2], [0, 7], [3, 99], [4, 5], [1, 1], [2, 0]], np.uint8)
    ten, hundred = tmp_path / "ten", tmp_path / "hundred"
    ten.mkdir()
    hundred.mkdir()
    flat = planes.reshape(6, -1)
    for k in range(2):
        part = slice(2 * k, 2 * k + 2)
        (ten / f"data_batch_{k + 1}.bin").write_bytes(np.hstack([labels[part, :1], flat[part]]).tobytes())
    (ten / "test_batch.bin").write_bytes(np.hstack([labels[4:, :1], flat[4:]]).tobytes())
    (hundred / "train.bin").write_bytes(np.hstack([labels, flat]).tobytes())
    images = planes.transpose(0, 2, 3, 1)
    check(ds.Cifar10Dataset(str(ten), shuffle=False), images, labels[:, 0])
    check(ds.Cifar10Dataset(str(ten), "test", shuffle=False), images[4:], labels[4:, 0])
    check(ds.Cifar100Dataset(str(hundred), "train", shuffle=False), images, labels)
    fine = ds.Cifar100Dataset(str(hundred), "train", sampler=ds.PKSampler(1, class_column="fine_label"))
    assert [int(f) for *_, f in rows_of(fine)] == [0, 1, 2, 5, 7, 99]


def test_damaged_files(mnist, tmp_path):
    folder, _ = mnist
    labels = folder / "train-labels-idx1-ubyte"
    whole = labels.read_bytes()
    for damaged, text in (
        (whole[:-1], "it is cut off"),
        (whole[:5], "only 5 bytes"),
        (b"abcd" + whole[4:], "must begin with the word 2049"),
        (struct.pack(">2i", 2049, 4) + whole[8:-1], "must have as many rows, but got 5 and 4"),
    ):
        labels.write_bytes(damaged)
        with pytest.raises(RuntimeError, match=f"MnistDataset.*train-(labels|images).*{text}"):
            ds.MnistDataset(str(folder), "train")
    labels.unlink()
    with pytest.raises(RuntimeError, match="train-labels-idx1-ubyte' is missing"):
        ds.MnistDataset(str(folder), "train")
    (tmp_path / "data_batch_1.bin").write_bytes(bytes(3000))
    with pytest.raises(RuntimeError, match="data_batch_1.bin' must consist of records of 3073 bytes, but it has 3000"):
        ds.Cifar10Dataset(str(tmp_path), "train")


@pytest.mark.parametrize("kind", [ds.MnistDataset, ds.Cifar10Dataset, ds.Cifar100Dataset, ds.ImageFolderDataset])
def test_missing_and_empty_folders(tmp_path, kind):
    with pytest.raises(ValueError, match=f"For '{kind.__name__}', 'dataset_dir' must be a folder.*nowhere"):
        kind(str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeError, match=f"For '{kind.__name__}'.*must hold"):
        kind(str(tmp_path))
    with pytest.raises(TypeError):
        kind(3)


def test_usage_is_checked(mnist):
    with pytest.raises(ValueError, match="'usage'"):
        ds.MnistDataset(str(mnist[0]), "valid")
    with pytest.raises(TypeError, match="'usage'"):
        ds.MnistDataset(str(mnist[0]), 1)


@pytest.fixture
def folder(tmp_path):
    from PIL import Image

    for name, sizes in (("b", [(4, 3), (2, 5)]), ("a", [(3, 3)]), ("c", [(6, 1)])):
        (tmp_path / name / "deep").mkdir(parents=True)
        for i, size in enumerate(sizes):
            pixels = rng.integers(0, 256, (size[1], size[0], 3), np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / ("deep" if i else "") / f"{i}.png")
        (tmp_path / name / "notes.txt").write_text("x")
    return tmp_path


def test_image_folder(folder):
    data = ds.ImageFolderDataset(str(folder), shuffle=False)
    assert data.get_class_indexing() == {"a": 0, "b": 1, "c": 2} and data.num_classes() == 3
    rows = rows_of(data)
    assert [int(label) for _, label in rows] == [0, 1, 1, 2] and rows[0][1].dtype == np.int32
    assert bytes(rows[1][0]) == (folder / "b" / "0.png").read_bytes()
    shapes = [image.shape for image, _ in rows_of(ds.ImageFolderDataset(str(folder), decode=True, shuffle=False))]
    assert shapes == [(3, 3, 3), (3, 4, 3), (5, 2, 3), (1, 6, 3)]
    chosen = ds.ImageFolderDataset(str(folder), class_indexing={"c": 7, "a": 3}, shuffle=False)
    assert [int(label) for _, label in rows_of(chosen)] == [3, 7] and chosen.num_classes() == 2
    with pytest.raises(RuntimeError, match=r"no files \.jpg"):
        ds.ImageFolderDataset(str(folder), extensions=[".jpg"])
    secret = ds.ImageFolderDataset(str(folder), shuffle=False, decrypt=lambda path: path.encode())
    assert bytes(rows_of(secret)[0][0]).endswith(b"0.png")


def test_an_image_that_cannot_be_decoded_is_named(folder):
    (folder / "a" / "0.png").write_bytes(b"no image")
    with pytest.raises(RuntimeError) as error:
        rows_of(ds.ImageFolderDataset(str(folder), decode=True, shuffle=False))
    notes = "\n".join(error.value.__notes__)
    assert "a/0.png" in notes and "row 0 of ImageFolderDataset" in notes


def test_image_folders_arguments(folder):
    for options in ({"extensions": ".png"}, {"class_indexing": ["a"]}, {"decode": 1}, {"decrypt": 3}):
        with pytest.raises(TypeError, match=f"'{next(iter(options))}'"):
            ds.ImageFolderDataset(str(folder), **options)
