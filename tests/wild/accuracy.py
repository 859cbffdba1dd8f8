"""Train with mindcv's train.py, unedited, on dist_ms, on 2 ranks of it, and on MindSpore; print what accuracies came.

    python tests/wild/accuracy.py --mindcv FOLDER [--referee PYTHON] [--seeds 3]

FOLDER is a copy of mindspore-lab/mindcv. The data are drawn: 10 classes in CIFAR-10's files, 6 in folders of JPEG
files. A colour tells the class, but neighbours overlap, so that no network can tell more than about 85 %.
"""

from __future__ import annotations

import argparse
import colorsys
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
_TRAINING = (
    "--model mobilenet_v1_025 --image_resize 32 --epoch_size 6 --decay_epochs 6 --warmup_epochs 0 --opt momentum "
    "--lr 0.1 --weight_decay 1e-4 --val_while_train True --val_interval 5 --device_target CPU --num_parallel_workers 1"
)


def drawn(
    labels: np.ndarray, classes: int, height: int, width: int, noise: float, rng: np.random.RandomState
) -> np.ndarray:
    """Striped images with noise and a bright spot, whose hue and whose spot's height follow roughly from the class.

    Args:
        labels: a class per image.
        classes: how many there are.
        height: of the images.
        width: of the images.
        noise: of each pixel, where 1 is white.
        rng: draws all else.
    """
    count = len(labels)
    hues = (labels + rng.normal(0, 0.35, count)) / classes
    colours = np.array([colorsys.hsv_to_rgb(hue % 1, 0.6, 0.8) for hue in hues])
    y, x = np.mgrid[0:height, 0:width] / height
    angle = np.where(rng.randint(0, 2, count), 0, np.pi / 2) + rng.normal(0, 0.45, count)
    across = np.cos(angle)[:, None, None] * x + np.sin(angle)[:, None, None] * y
    stripes = np.sin(2 * np.pi * (rng.uniform(4, 7, (count, 1, 1)) * across + rng.rand(count, 1, 1)))
    top = (labels % 3 + 0.5) / 3 + rng.normal(0, 0.15, count)
    left = rng.rand(count, 1, 1) * width / height
    spot = np.exp(-((y - top[:, None, None]) ** 2 + (x - left) ** 2) / 0.02)
    light = 1 + 0.35 * stripes + 0.5 * spot
    pixels = colours[:, None, None] * light[..., None] + rng.normal(0, noise, (count, height, width, 3))
    return (np.clip(pixels, 0, 1) * 255).astype(np.uint8)


def make(folder: Path) -> None:
    """Write cifar10/ and images/.

    Args:
        folder: the place.
    """
    from PIL import Image

    rng = np.random.RandomState(0)
    (folder / "cifar10").mkdir(parents=True)
    for name in (*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"):
        labels = rng.randint(0, 10, 10_000)  # MindSpore takes no fewer
        pixels = np.concatenate([drawn(part, 10, 32, 32, 0.25, rng) for part in np.split(labels, 20)])
        rows = [labels[:, None].astype(np.uint8), pixels.transpose(0, 3, 1, 2).reshape(len(labels), -1)]
        (folder / "cifar10" / name).write_bytes(np.concatenate(rows, 1).tobytes())
    for part, count in (("train", 250), ("val", 100)):
        for label in range(6):
            place = folder / "images" / part / f"class{label}"
            place.mkdir(parents=True)
            for k, one in enumerate(drawn(np.full(count, label), 6, 80, 96, 0.2, rng)):
                Image.fromarray(one).save(place / f"{k:04d}.jpg", quality=90)


def train(command: list[str], mindcv: Path, arguments: str) -> float:
    """Run train.py; return the accuracy in percent that it tells last.

    Args:
        command: what stands before the script.
        mindcv: the repository.
        arguments: of the script.

    Raises:
        RuntimeError: if it fails or tells none.
    """
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [*command, str(mindcv / "train.py"), *_TRAINING.split(), *arguments.split(), "--ckpt_save_dir", "saved"],
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(mindcv), "GLOG_v": "3"},
            capture_output=True,
            text=True,
        )
    told = re.findall(r"Top_1_Accuracy: (\d+\.\d+)%", done.stdout + done.stderr)
    if done.returncode or not told:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return float(told[-1])


def reading(kind: str, data: Path, on_two: bool) -> str:
    """Arguments that name the data: a step has 128 images, an epoch of CIFAR-10 has 2,000.

    Args:
        kind: cifar10 or images.
        data: the folder of both.
        on_two: whether 2 ranks share a step.

    Examples:
        >>> from pathlib import Path
        >>> from tests.wild.accuracy import reading
        >>> reading("images", Path("x"), True)
        '--dataset imagenet --data_dir x/images --batch_size 64 --distribute True'
    """
    ranks = 1 + on_two
    words = f"--dataset {'imagenet' if kind == 'images' else kind} --data_dir {data / kind}"
    if kind == "cifar10":
        words += f" --val_split test --num_samples {2000 // ranks}"
    return f"{words} --batch_size {128 // ranks}{' --distribute True' if on_two else ''}"


def main() -> int:
    """Print a line per data set and framework; return 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mindcv", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--referee", metavar="PYTHON", help="has MindSpore")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    alone = [sys.executable, "-m", "dist_ms.compat"]
    launched = [sys.executable, "-m", "dist_ms.launch", "run", "-n", "2", "-m", "dist_ms.compat"]
    commands = {"dist_ms": alone, "dist_ms, 2 ranks": launched}
    if options.referee:
        commands["MindSpore"] = [options.referee, str(HERE / "on_cpu.py")]
    with tempfile.TemporaryDirectory() as temporary:
        data = Path(temporary, "data")
        make(data)
        for kind in ("cifar10", "images"):
            for name, command in commands.items():
                found = [
                    train(
                        command, options.mindcv.resolve(), f"{reading(kind, data, command is launched)} --seed {seed}"
                    )
                    for seed in range(1, options.seeds + 1)
                ]
                spread = f"mean {np.mean(found):.1f}, deviation {np.std(found, ddof=len(found) > 1):.1f}"
                print(f"{kind}, {name}: {' '.join(f'{one:.1f}' for one in found)}; {spread}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
