"""Small pictures to find things in: drawn shapes in COCO's format, drawn words in those of ICDAR."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

_WORDS = "great wonderful best loved fine happy brilliant superb awful terrible worst hated poor sad boring".split()


def coco(folder: Path) -> None:
    """Write images with octagons of the first three of COCO's classes, as files of YOLO's labels and as COCO's own.

    Args:
        folder: the place.
    """
    rng = np.random.RandomState(0)
    corners = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    circle = np.stack([np.cos(corners), np.sin(corners)], 1)
    width, height = 160, 120
    for part, count in (("train2017", 14), ("val2017", 4)):
        for kind in ("images", "labels"):
            (folder / kind / part).mkdir(parents=True, exist_ok=True)
        images, annotations, files = [], [], []
        for image in range(1, count + 1):
            drawn = Image.fromarray(rng.randint(0, 90, (height, width, 3)).astype(np.uint8))
            lines = []
            for label in rng.permutation(3)[: rng.randint(2, 4)]:
                radii = rng.uniform(12, 30, 2)
                centre = rng.uniform(radii, (width - radii[0], height - radii[1]))
                outline = (centre + radii * circle).round(2)
                ImageDraw.Draw(drawn).polygon(
                    [tuple(point) for point in outline], tuple(np.eye(3, dtype=int)[label] * 220)
                )
                lines.append(f"{label} {' '.join(f'{v:.6f}' for v in (outline / (width, height)).ravel())}")
                corner, size = outline.min(0), np.ptp(outline, axis=0)
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": image,
                        "category_id": int(label) + 1,
                        "bbox": [*corner.tolist(), *size.tolist()],
                        "segmentation": [outline.ravel().tolist()],
                        "area": float(size.prod()),
                        "iscrowd": 0,
                    }
                )
            name = f"{image:012d}"
            drawn.save(folder / "images" / part / f"{name}.jpg")
            (folder / "labels" / part / f"{name}.txt").write_text("\n".join(lines) + "\n")
            images.append({"id": image, "file_name": f"{name}.jpg", "width": width, "height": height})
            files.append(f"./images/{part}/{name}.jpg")
        (folder / f"{part}.txt").write_text("\n".join(files) + "\n")
        classes = [{"id": k + 1, "name": name} for k, name in enumerate(("person", "bicycle", "car"))]
        (folder / "annotations").mkdir(exist_ok=True)
        content = {"images": images, "annotations": annotations, "categories": classes}
        (folder / "annotations" / f"instances_{part}.json").write_text(json.dumps(content))


def texts(folder: Path) -> None:
    """Write words in scenes, with their places; single, as files and as LMDB; and standing on their heads or not.

    Args:
        folder: the place.
    """
    rng = np.random.RandomState(0)
    for part, images, words, count in (
        ("train", "ch4_training_images", "ch4_training_word_images_gt", 16),
        ("test", "ch4_test_images", "ch4_test_word_images_gt", 8),
    ):
        _scenes(folder / "ic15" / "det" / part, images, count, rng)
        drawn = [_word(word, rng) for word in rng.choice(_WORDS, 4 * count)]
        place = folder / "ic15" / "rec" / part
        (place / words).mkdir(parents=True, exist_ok=True)
        lines = []
        for k, (word, image) in enumerate(drawn):
            image.save(place / words / f"word_{k + 1}.png")
            lines.append(f"word_{k + 1}.png\t{word}")
        (place / "rec_gt.txt").write_text("\n".join(lines) + "\n")
        _lmdb(folder / ("training" if part == "train" else "validation") / "words", drawn)
        (folder / "all_images").mkdir(exist_ok=True)
        lines = []
        for k, (_, image) in enumerate(drawn):
            angle, name = 180 * (k % 2), f"{part}_{k + 1}.png"
            image.rotate(angle).save(folder / "all_images" / name)
            lines.append(f"{name}\t{angle}")
        (folder / f"{'train' if part == 'train' else 'val'}_cls_gt.txt").write_text("\n".join(lines) + "\n")


def _word(word: str, rng: np.random.RandomState) -> tuple:
    """A word, and an image as large as it is: a dark colour on a bright one."""
    font = ImageFont.load_default(24)
    left, top, right, bottom = font.getbbox(word)
    image = Image.new("RGB", (int(right - left) + 8, int(bottom - top) + 8), tuple(rng.randint(150, 255, 3).tolist()))
    ImageDraw.Draw(image).text((4 - left, 4 - top), word, tuple(rng.randint(0, 90, 3).tolist()), font)
    return word, image


def _scenes(folder: Path, images: str, count: int, rng: np.random.RandomState) -> None:
    (folder / images).mkdir(parents=True, exist_ok=True)
    lines = []
    for k in range(count):
        scene, texts = Image.fromarray(rng.randint(90, 160, (180, 320, 3)).astype(np.uint8)), []
        for row in range(3):
            word, image = _word(rng.choice(_WORDS), rng)
            left, top = int(rng.randint(0, 320 - image.width)), 60 * row + int(rng.randint(0, 60 - image.height))
            scene.paste(image, (left, top))
            right, bottom = left + image.width, top + image.height
            points = [[left, top], [right, top], [right, bottom], [left, bottom]]
            texts.append({"transcription": str(word), "points": points})
        scene.save(folder / images / f"img_{k + 1}.jpg")
        lines.append(f"img_{k + 1}.jpg\t{json.dumps(texts)}")
    (folder / "det_gt.txt").write_text("\n".join(lines) + "\n")


def _lmdb(folder: Path, drawn: list) -> None:
    import lmdb

    folder.mkdir(parents=True, exist_ok=True)
    with lmdb.open(str(folder), map_size=1 << 24) as base, base.begin(write=True) as content:
        for k, (word, image) in enumerate(drawn):
            packed = io.BytesIO()
            image.save(packed, "PNG")
            content.put(b"image-%09d" % (k + 1), packed.getvalue())
            content.put(b"label-%09d" % (k + 1), str(word).encode())
        content.put(b"num-samples", b"%d" % len(drawn))
