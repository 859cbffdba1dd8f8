"""Small data in the formats that public programs read: drawn classes, so that a network can learn them."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np

from tests.wild.small_scenes import coco, texts

_GOOD = "great wonderful best loved fine happy brilliant superb".split()
_BAD = "awful terrible worst hated poor sad boring dreadful".split()
_OTHER = "the a film movie plot actor scene it was and of".split()


def make(folder: Path) -> None:
    """Write all data into a folder: mnist/, cifar10/, images/, iris.data, wine.data, imdb/, glove/, word2vec/, criteo/,
    ml-1m/, isbi/, facades/, bert/, wmt/, mr/, conll2000/, graphs/, census/, coco/ and ocr/.

    Args:
        folder: the place.
    """
    rng = np.random.RandomState(0)
    _mnist(folder / "mnist", rng)
    _cifar(folder / "cifar10", rng)
    _images(folder / "images", rng)
    _tables(folder)
    _reviews(folder, rng)
    _clicks(folder / "criteo", rng)
    _ratings(folder / "ml-1m", rng)
    _slices(folder / "isbi", rng)
    _facades(folder / "facades", rng)
    _sentences(folder, rng)
    _tagged(folder, rng)
    _graphs(folder / "graphs", rng)
    _census(folder / "census", rng)
    coco(folder / "coco")
    texts(folder / "ocr")


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
    for kind in ("glove", "word2vec"):
        (folder / kind).mkdir(exist_ok=True)
    for size in (50, 100, 200, 300):
        lines = [f"{word} {' '.join(f'{v:.4f}' for v in rng.randn(size))}" for word in _GOOD + _BAD + _OTHER]
        (folder / "glove" / f"glove.6B.{size}d.txt").write_text("\n".join(lines) + "\n")
        counted = [f"{len(lines)} {size}", *lines]
        (folder / "word2vec" / f"glove.6B.{size}d.txt").write_text("\n".join(counted) + "\n")


def _clicks(folder: Path, rng: np.random.RandomState) -> None:
    """Criteo's advertisements as MindRecord: 13 numbers and 26 categories a click, a thousand clicks a sample."""
    for name, parts in (("train", 21), ("test", 3)):
        rows = []
        for _ in range(parts):
            ids = np.concatenate([np.tile(np.arange(13), (1000, 1)), rng.randint(13, 2000, (1000, 26))], 1)
            values = np.concatenate([rng.random_sample((1000, 13)), np.ones((1000, 26))], 1)
            clicked = values[:, 0] + (ids[:, 13] % 2) > 1
            numbers = {"label": clicked, "feat_vals": values.ravel()}
            row = {column: array.astype(np.float32) for column, array in numbers.items()}
            rows.append({**row, "feat_ids": ids.ravel().astype(np.int32)})
        _records(folder / f"{name}_input_part.mindrecord", rows, parts)


def _ratings(folder: Path, rng: np.random.RandomState) -> None:
    """MovieLens 1M's users and films, with twenty ratings a user."""
    folder.mkdir(parents=True)
    users, films, each = 6040, 3706, 20
    rated = [(user, (user * each + k) % films) for user in range(users) for k in range(each)]
    when = rng.permutation(len(rated)) + 978_300_000
    lines = [f"{user + 1},{film + 1},{1 + film % 5},{time}" for (user, film), time in zip(rated, when, strict=True)]
    (folder / "ratings.csv").write_text("\n".join(["user_id,item_id,rating,timestamp", *lines]) + "\n")


def _slices(folder: Path, rng: np.random.RandomState) -> None:
    """ISBI's slices of cells: pictures and masks, each many pages of a TIFF file."""
    from PIL import Image

    folder.mkdir(parents=True)
    masks = rng.random_sample((5, 8, 8)) > 0.3
    for name, pages in (("train-volume", masks * 120 + rng.randint(0, 80, masks.shape)), ("train-labels", masks * 255)):
        images = [Image.fromarray(page.astype(np.uint8)).resize((512, 512), Image.Resampling.NEAREST) for page in pages]
        images[0].save(folder / f"{name}.tif", save_all=True, append_images=images[1:])


def _facades(folder: Path, rng: np.random.RandomState) -> None:
    """Pairs of pictures, side by side, and the two of each apart."""
    from PIL import Image

    for part in ("train", "trainA", "trainB"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for k in range(1, 5):
        plan = rng.randint(0, 255, (8, 8, 3)).astype(np.uint8)
        for part, pixels in (
            ("train", np.concatenate([plan, 255 - plan], 1)),
            ("trainA", plan),
            ("trainB", 255 - plan),
        ):
            size = (32 * pixels.shape[1], 256)
            Image.fromarray(pixels).resize(size, Image.Resampling.NEAREST).save(folder / part / f"{k}.jpg")


def _sentences(folder: Path, rng: np.random.RandomState) -> None:
    """Rows for BERT's first training, and pairs of sentences of at most 16 tokens for a Transformer."""
    rows = []
    for _ in range(32):
        ids, places = np.zeros(128, np.int32), np.sort(rng.permutation(60)[:20]) + 1
        ids[:64] = rng.randint(5, 200, 64)
        rows.append(
            {
                "input_ids": np.where(np.isin(np.arange(128), places), 103, ids),
                "input_mask": np.arange(128) < 64,
                "segment_ids": (np.arange(128) >= 32) & (np.arange(128) < 64),
                "next_sentence_labels": rng.randint(0, 2, 1),
                "masked_lm_positions": places,
                "masked_lm_ids": ids[places],
                "masked_lm_weights": np.ones(20, np.float32),
            }
        )
    _records(folder / "bert" / "pretrain.mindrecord", rows)
    rows = []
    for _ in range(64):
        source, length = rng.randint(3, 200, 15), rng.randint(6, 15)
        mask = np.arange(16) <= length
        sentence = np.where(np.arange(15) < length, source, 0)
        columns = {"source_eos": [*sentence, 0], "target_sos": [1, *sentence], "target_eos": [*sentence, 0]}
        row = {f"{column}_ids": np.array(ids) for column, ids in columns.items()}
        for column, ids in row.items():
            ids[length] = ids[length] if column == "target_sos_ids" else 2
        rows.append({**row, **{f"{column}_mask": mask for column in columns}})
    _records(folder / "wmt" / "ende-l128-mindrecord_16_00", rows)


def _tagged(folder: Path, rng: np.random.RandomState) -> None:
    """Sentences of reviews, a line each, and sentences with their words' kinds and phrases."""
    (folder / "mr").mkdir(exist_ok=True)
    for name, words in (("pos", _GOOD), ("neg", _BAD)):
        lines = [" ".join(rng.choice(words + _OTHER, 12)) for _ in range(200)]
        (folder / "mr" / f"rt-polarity.{name}").write_text("\n".join(lines) + "\n")
    (folder / "conll2000").mkdir(exist_ok=True)
    tags = {**dict.fromkeys(_GOOD + _BAD, "JJ B-ADJP"), **dict.fromkeys(_OTHER, "NN B-NP")}
    for part, count in (("train", 60), ("test", 30)):
        words = [rng.choice(list(tags), rng.randint(5, 12)) for _ in range(count)]
        lines = ["".join(f"{word} {tags[word]}\n" for word in sentence) for sentence in words]
        (folder / "conll2000" / f"{part}.txt").write_text("\n".join(lines) + "\n")


def _graphs(folder: Path, rng: np.random.RandomState) -> None:
    """Edges: of trust and distrust, as Bitcoin Alpha's, and between pages, as Wiki's."""
    folder.mkdir(exist_ok=True)
    edges = [(a, b) for a in range(150) for b in rng.permutation(150)[:6] if a != b]
    signs = ["-1" if (a + b) % 3 == 0 else "1" for a, b in edges]
    lines = [f"{a},{b},{sign}" for (a, b), sign in zip(edges, signs, strict=True)]
    (folder / "bitcoin_alpha.csv").write_text("\n".join(["Node id 1,Node id 2,Sign", *lines]) + "\n")
    (folder / "Wiki_edgelist.txt").write_text("\n".join(f"{a} {b}" for a, b in edges) + "\n")


def _census(folder: Path, rng: np.random.RandomState) -> None:
    """Rows of the census of incomes, with its two questions."""
    for name, count in (("train", 256), ("eval", 64)):
        people = rng.random_sample((count, 499)).astype(np.float32)
        answers = np.eye(2, dtype=np.float32)[(people[:, :2] > 0.5).astype(int)]
        rows = [
            {"data": row, "income_labels": income, "married_labels": married}
            for row, (income, married) in zip(people, answers, strict=True)
        ]
        _records(folder / f"{name}.mindrecord", rows)


def _records(file: Path, rows: list[dict[str, np.ndarray]], parts: int = 1) -> None:
    """Write rows as MindRecord: of int32, but for numbers of float32."""
    from dist_ms.mindrecord import FileWriter

    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [{k: v if v.dtype == np.float32 else v.astype(np.int32) for k, v in row.items()} for row in rows]
    writer = FileWriter(str(file), parts)
    writer.add_schema({k: {"type": str(v.dtype), "shape": [-1]} for k, v in rows[0].items()}, file.parent.name)
    writer.write_raw_data(rows)
    writer.commit()
