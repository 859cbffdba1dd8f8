"""rotated_iou, compared with areas counted on a fine grid of points."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops

AXIS = np.linspace(-4, 4, 801)
POINTS = np.stack(np.meshgrid(AXIS, AXIS), -1)


def covers(box):
    x, y, w, h, angle = box
    turn = np.deg2rad(angle)
    d = POINTS - [x, y]
    along = d[..., 0] * np.cos(turn) + d[..., 1] * np.sin(turn)
    across = -d[..., 0] * np.sin(turn) + d[..., 1] * np.cos(turn)
    return (np.abs(along) <= w / 2) & (np.abs(across) <= h / 2)


def draw(seed, n):
    r = np.random.default_rng(seed)
    sizes = r.uniform(0.8, 3, (2, n, 2))
    return np.concatenate([r.uniform(-1, 1, (2, n, 2)), sizes, r.uniform(-180, 180, (2, n, 1))], -1).astype(np.float32)


def test_shares_of_areas():
    a, b = draw(0, 4), draw(1, 3)
    iou, iof = (ops.rotated_iou(Tensor(a), Tensor(b), mode=m).asnumpy() for m in (0, 1))
    assert iou.shape == iof.shape == (2, 4, 3)
    for batch, i, j in np.ndindex(2, 4, 3):
        p, q = covers(a[batch, i]), covers(b[batch, j])
        assert abs(iou[batch, i, j] - (p & q).sum() / (p | q).sum()) < 0.02
        assert abs(iof[batch, i, j] - (p & q).sum() / p.sum()) < 0.02
    pairs = ops.rotated_iou(Tensor(a[:, :3]), Tensor(b), is_cross=False).asnumpy()
    np.testing.assert_allclose(pairs, iou[:, [0, 1, 2], [0, 1, 2]], rtol=1e-5)


@pytest.mark.parametrize(
    ("box", "other", "wanted"),
    [
        ([0, 0, 2, 2, 0], [0, 0, 2, 2, 90], 1),
        ([0, 0, 2, 2, 30], [0, 0, 2, 2, 30], 1),
        ([0, 0, 2, 2, 0], [0, 0, 1, 1, 45], 1 / 4),
        ([0, 0, 2, 2, 0], [2, 0, 2, 2, 0], 0),
        ([0, 0, 2, 2, 0], [5, 5, 2, 2, 0], 0),
        ([0, 0, 2, 2, 0], [0, 0, 2, 2, 45], 8 * (2**0.5 - 1) / (8 - 8 * (2**0.5 - 1))),
        ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], 0),
    ],
)
def test_boxes_with_common_edges_and_corners(box, other, wanted):
    found = ops.rotated_iou(Tensor([[box]], ms.float32), Tensor([[other]], ms.float32)).asnumpy()[0, 0, 0]
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_corners_given_and_errors():
    a, b = Tensor([[[-1.0, -1, 1, 1, 20]]]), Tensor([[[0.0, 0, 2, 2, 20]]])
    assert abs(float(ops.rotated_iou(a, a, trans=True)[0, 0, 0]) - 1) < 1e-5
    np.testing.assert_allclose(ops.rotated_iou(a, a, trans=True).asnumpy(), ops.rotated_iou(b, b).asnumpy(), rtol=1e-5)
    for wrong in ({"mode": 2}, {"is_cross": 1}, {"v_threshold": "a"}):
        with pytest.raises((TypeError, ValueError)):
            ops.rotated_iou(a, b, **wrong)
    with pytest.raises(ValueError, match="'boxes' must be"):
        ops.rotated_iou(a[..., :4], b)
    with pytest.raises(TypeError):
        ops.rotated_iou(1, b)
