"""Small data in the formats that public programs read: drawn classes, so that a network can learn them."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np

_GOOD = "great wonderful best loved fine happy brilliant superb".split()
_BAD = "awful terrible worst hated poor sad boring dreadful".split()
_OTHER = "the a film movie plot actor scene it was and of".split()


def make(folder: Path) -> None:
    """Write all data into a folder: mnist/, cifar10/, images/, iris.data, wine.data, imdb/ and glove/.

    Args:
        folder: the place.
    """
    rng = np.random.RandomState(0)
    _mnist(folder / "mnist", rng)
    _cifar(folder / "cifar10", rng)
    _images(folder / "images", rng)
    _tables(folder)
    _reviews(folder, rng)


def _drawn(patterns: np.ndarray, labels: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """A class's pattern with noise, per label."""
    noise = rng.randint(0, 80, (len(labels), *patterns.shape[1:]))
    return np.clip(patterns[labels] * 0.7 + noise, 0, 255).astype(np.uint8)


def _mnist(folder: Path, rng: np.random.RandomState) -> None:
    patterns = rng.randint(0, 255, (10, 28, 28))
    for part, prefix, count in (("train", "train", 2000), ("test", "t10k", 500)):
        labels = rng.randint(0, 10, count).astype(np.uint8)
        (folder / part).mkdir(parents=True, exist_ok=True)
        pixels = _drawn(patterns, labels, rng)
        header = struct.pack(">IIII", 2051, count, 28, 28)
        (folder / part / f"{prefix}-images-idx3-ubyte").write_bytes(header + pixels.tobytes())
        header = struct.pack(">II", 2049, count)
        (folder / part / f"{prefix}-labels-idx1-ubyte").write_bytes(header + labels.tobytes())
        for file in (folder / part).iterdir():
            with gzip.open(folder / f"{file.name}.gz", "wb") as packed:
                packed.write(file.read_bytes())


def _cifar(folder: Path, rng: np.random.RandomState) -> None:
    patterns = rng.randint(0, 255, (10, 3, 32, 32))
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"):
        labels = rng.randint(0, 10, 10_000).astype(np.uint8)  # MindSpore takes no fewer
        rows = [labels[:, None], _drawn(patterns, labels, rng).reshape(len(labels), -1)]
        (folder / name).write_bytes(np.concatenate(rows, 1).tobytes())


def _images(folder: Path, rng: np.random.RandomState) -> None:
    from PIL import Image

    patterns = rng.randint(0, 255, (4, 12, 16, 3))
    for part in ("train", "val"):
        for label in range(4):
            (folder / part / f"class{label}").mkdir(parents=True, exist_ok=True)
            for k, pixels in enumerate(_drawn(patterns, np.full(8, label), rng)):
                large = Image.fromarray(pixels).resize((240, 200))
                large.save(folder / part / f"class{label}" / f"{k}.jpg")


def _tables(folder: Path) -> None:
    from sklearn.datasets import load_iris, load_wine

    iris, names = load_iris(), ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
    lines = [f"{','.join(f'{v:.1f}' for v in row)},{names[y]}" for row, y in zip(iris.data, iris.target, strict=True)]
    (folder / "iris.data").write_text("\n".join(lines) + "\n")
    wine = load_wine()
    lines = [f"{y + 1},{','.join(map(str, row))}" for row, y in zip(wine.data, wine.target, strict=True)]
    (folder / "wine.data").write_text("\n".join(lines) + "\n")


def _reviews(folder: Path, rng: np.random.RandomState) -> None:
    for part in ("train", "test"):
        for label, score, words in (("pos", 9, _GOOD), ("neg", 2, _BAD)):
            place = folder / "imdb" / part / label
            place.mkdir(parents=True, exist_ok=True)
            for k in range(100):
                (place / f"{k}_{score}.txt").write_text(" ".join(rng.choice(words + _OTHER, 60)))
    (folder / "glove").mkdir(exist_ok=True)
    for size in (50, 100, 200, 300):
        lines = [f"{word} {' '.join(f'{v:.4f}' for v in rng.randn(size))}" for word in _GOOD + _BAD + _OTHER]
        (folder / "glove" / f"glove.6B.{size}d.txt").write_text("\n".join(lines) + "\n")
