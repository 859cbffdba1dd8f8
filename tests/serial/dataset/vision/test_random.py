"""Random transforms: what they draw, that a seed repeats it, and that images of one call share it."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dist_ms.dataset import config, vision
from tests.serial.dataset.vision.cases import IMAGE

pytest.importorskip("cv2")
pil = pytest.importorskip("PIL.Image")

V = vision
RANDOM = {
    "RandomCrop": V.RandomCrop(3, 2),
    "RandomResizedCrop": V.RandomResizedCrop(4),
    "RandomHorizontalFlip": V.RandomHorizontalFlip(),
    "RandomVerticalFlip": V.RandomVerticalFlip(),
    "RandomRotation": V.RandomRotation(40),
    "RandomAffine": V.RandomAffine(20, (-0.2, 0.2), (0.8, 1.2), 10),
    "RandomColorAdjust": V.RandomColorAdjust(0.4, 0.4, 0.4, 0.1),
    "RandomColor": V.RandomColor(),
    "RandomSharpness": V.RandomSharpness(),
    "RandomLighting": V.RandomLighting(0.5),
    "RandomPosterize": V.RandomPosterize((1, 7)),
    "RandomSolarize": V.RandomSolarize(),
    "RandomResize": V.RandomResize((7, 8)),
    "RandomAdjustSharpness": V.RandomAdjustSharpness(2.0),
    "RandomAutoContrast": V.RandomAutoContrast(),
    "RandomEqualize": V.RandomEqualize(),
    "RandomInvert": V.RandomInvert(),
    "CutOut": V.CutOut(2, 2),
    "AutoAugment": V.AutoAugment(V.AutoAugmentPolicy.CIFAR10),
    "RandAugment": V.RandAugment(),
    "TrivialAugmentWide": V.TrivialAugmentWide(),
    "UniformAugment": V.UniformAugment([V.Invert(), V.Posterize(1), V.Equalize()], 2),
    "RandomSelectSubpolicy": V.RandomSelectSubpolicy([[(V.Invert(), 0.5)], [(V.Equalize(), 0.5)]]),
}
WITH_PIL = """
RandomCrop RandomResizedCrop RandomHorizontalFlip RandomVerticalFlip RandomRotation RandomAffine RandomColorAdjust
RandomColor RandomSharpness RandomLighting
""".split()


def twelve(transform, seed):
    """Results from the seed's first random numbers on."""
    config.set_seed(seed + 1)
    transform(IMAGE)
    config.set_seed(seed)
    return [transform(IMAGE) for _ in range(12)]


@pytest.mark.parametrize("name", RANDOM)
def test_the_seed_repeats_them(name):
    first = twelve(RANDOM[name], 5)
    assert any(a.shape != first[0].shape or (a != first[0]).any() for a in first)
    for a, b in zip(first, twelve(pickle.loads(pickle.dumps(RANDOM[name])), 5)):
        assert a.dtype == b.dtype == np.uint8
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", WITH_PIL)
def test_they_take_pil_images(name):
    config.set_seed(5)
    results = [RANDOM[name](pil.fromarray(IMAGE)) for _ in range(12)]
    assert all(isinstance(r, pil.Image) and r.mode == "RGB" for r in results)
    assert any((np.asarray(r) != np.asarray(results[0])).any() for r in results)


@pytest.mark.parametrize("name", WITH_PIL)
def test_images_of_one_call_share_the_parameters(name):
    for _ in range(5):
        first, second = RANDOM[name](IMAGE, IMAGE.copy())
        np.testing.assert_array_equal(first, second)


def test_calls_from_threads():
    transform = vision.RandomResizedCrop((3, 4))
    with ThreadPoolExecutor(4) as pool:
        shapes = {r.shape for r in pool.map(transform, [IMAGE] * 200)}
    assert shapes == {(3, 4, 3)}


def test_parts_are_within_their_limits():
    config.set_seed(1)
    crop = vision.RandomResizedCrop(4, (0.2, 0.5), (0.5, 2.0))
    parts = np.array([crop.parameters(100, 80) for _ in range(2000)])
    top, left, height, width = parts.T
    share, ratio = height * width / 8000, width / height
    assert 0.19 < share.min() < 0.22 and 0.47 < share.max() < 0.51
    assert abs(share.mean() - 0.35) < 0.01
    assert 0.48 < ratio.min() < 0.52 and 1.9 < ratio.max() < 2.05
    assert abs(np.log(ratio).mean()) < 0.08
    assert (top + height <= 100).all() and (left + width <= 80).all() and top.min() == 0 and left.min() == 0
    # No part fits: the middle is taken.
    assert vision.RandomResizedCrop(4, (1.0, 1.0), (4.0, 4.0)).parameters(100, 100) == (38, 0, 25, 100)


def test_probabilities():
    config.set_seed(2)
    for transform in (vision.RandomHorizontalFlip(0.3), vision.RandomInvert(0.3), vision.RandomEqualize(0.3)):
        share = np.mean([transform.parameters(4, 5) for _ in range(3000)])
        assert abs(share - 0.3) < 0.03
    assert not vision.RandomInvert(0.0).parameters(4, 5)


def test_what_is_drawn():
    config.set_seed(3)
    assert {vision.RandomPosterize((3, 5)).parameters(4, 5) for _ in range(100)} == {3, 4, 5}
    ranges = np.array([vision.RandomSolarize((10, 20)).parameters(4, 5) for _ in range(500)])
    assert ranges.min() == 10 and ranges.max() == 20 and (ranges[:, 0] <= ranges[:, 1]).all()
    angles = np.array([vision.RandomRotation(30).parameters(4, 5) for _ in range(500)])
    assert -30 <= angles.min() < -28 and 28 < angles.max() <= 30
    kinds = {vision.RandomResize(4).parameters(4, 5) for _ in range(200)}
    assert kinds == {vision.Inter.NEAREST, vision.Inter.LINEAR, vision.Inter.BICUBIC, vision.Inter.AREA}
    names, factors = zip(*vision.RandomColorAdjust(0.4, hue=0.1).parameters(4, 5))
    assert sorted(names) == ["brightness", "contrast", "hue", "saturation"]
    assert dict(zip(names, factors))["contrast"] == 1
    orders = {tuple(n for n, _ in vision.RandomColorAdjust(0.4).parameters(4, 5)) for _ in range(300)}
    assert len(orders) == 24
    places = np.array([vision.CutOut(3).parameters(8, 9)[0] for _ in range(1000)])
    assert places.min(0).tolist() == [-3, -3] and places.max(0).tolist() == [8, 9]


def test_random_affine_moves_within_its_limits():
    dot = np.zeros((21, 21), np.uint8)
    dot[10, 10] = 255
    config.set_seed(4)
    move = vision.RandomAffine(0, (0.1, 0.4, -0.4, -0.2))
    places = [np.argwhere(move(dot))[0] for _ in range(300)]
    rows, columns = np.array(places).T
    assert 12 <= columns.min() <= 13 and 17 <= columns.max() <= 19
    assert 1 <= rows.min() <= 3 and 5 <= rows.max() <= 6


def test_random_erasing():
    config.set_seed(5)
    image = np.ones((3, 32, 32), np.float32)
    areas = [(vision.RandomErasing(1.0, (0.1, 0.2))(image) == 0).mean() for _ in range(300)]
    assert 0.08 < min(areas) and max(areas) < 0.22
    assert np.mean([(vision.RandomErasing(0.25)(image) == 0).any() for _ in range(2000)]) == pytest.approx(
        0.25, abs=0.04
    )
    coloured = vision.RandomErasing(1.0, value=(1, 2, 3))(np.zeros((3, 32, 32), np.float32))
    assert coloured.max(axis=(1, 2)).tolist() == [1, 2, 3]
    noise = vision.RandomErasing(1.0, value="random")(np.zeros((3, 32, 32), np.float32))
    assert 0.5 < noise[noise != 0].std() < 1.5
    same = np.ones((3, 32, 32), np.float32)
    assert vision.RandomErasing(1.0, inplace=True)(same) is same and same.min() == 0


def test_random_perspective_keeps_the_middle():
    image = pil.fromarray(np.full((20, 20, 3), 200, np.uint8))
    result = np.asarray(vision.RandomPerspective(0.5, 1.0)(image))
    assert result[10, 10].tolist() == [200, 200, 200] and result.min() == 0
    assert vision.RandomPerspective(0.5, 0.0)(image) is image
    with pytest.raises(ValueError, match="must be a PIL image"):
        vision.RandomPerspective()(IMAGE)


def test_every_step_of_the_policies():
    config.set_seed(6)
    seen = set()
    for transform in (*(vision.AutoAugment(p) for p in vision.AutoAugmentPolicy), vision.TrivialAugmentWide()):
        for _ in range(300):
            steps = transform.parameters(32, 32)
            seen |= {name for name, _ in steps}
            assert transform.apply(np.zeros((8, 8, 3), np.uint8), steps).shape == (8, 8, 3)
    assert len(seen) == 15
    levels = [
        m for name, m in (vision.TrivialAugmentWide().parameters(9, 9)[0] for _ in range(3000)) if name == "Rotate"
    ]
    assert min(levels) < -120 and max(levels) > 120 and len(set(levels)) > 40
    strong = vision.RandAugment(50, 30).parameters(331, 331)
    assert len(strong) == 50
    wanted = {"ShearX": 0.3, "TranslateX": 150, "Rotate": 30, "Color": 0.9, "Posterize": 4, "Solarize": 0}
    for name, magnitude in strong:
        if name in wanted:
            assert abs(magnitude) == pytest.approx(wanted[name])


def test_policies_move_by_pixels():
    image = np.zeros((16, 16, 3), np.uint8)
    image[8, 8] = 255
    moved = vision.TrivialAugmentWide().apply(image, [("TranslateX", 3.0), ("TranslateY", -4.0)])
    assert np.argwhere(moved[:, :, 0]).tolist() == [[4, 11]]
    filled = vision.RandAugment(fill_value=(1, 2, 3)).apply(image, [("TranslateX", 15.0)])
    assert filled[0, 0].tolist() == [1, 2, 3]
