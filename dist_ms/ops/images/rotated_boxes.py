"""How much rectangles overlap that are turned."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import check_bool, check_choice, check_number, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import floating, tensor

__all__ = ["rotated_iou"]


def rotated_iou(
    boxes: Tensor,
    query_boxes: Tensor,
    trans: bool = False,
    mode: int = 0,
    is_cross: bool = True,
    v_threshold: float = 0.0,
    e_threshold: float = 0.0,
) -> Tensor:
    """The overlap of turned rectangles as a share of their union, or of the first one.

    Args:
        boxes: (B, N, 5) floats: x and y of the centre, width, height and the angle in degrees, counterclockwise.
        query_boxes: (B, K, 5), likewise.
        trans: the numbers are x1, y1, x2, y2 and the angle instead: corners before turning about the centre.
        mode: 0: intersection over union; 1: over the area of `boxes`.
        is_cross: compare each with each; else K is N, and each is compared with the one of its place.
        v_threshold: how far outside of the other rectangle a corner may be and still count as inside, in lengths of
            that rectangle's sides.
        e_threshold: how far beyond its ends an edge may cross another one, in lengths of the edge.

    Returns:
        Tensor (B, N, K), or (B, N) without `is_cross`, of the type of `boxes`; it has no gradient.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a shape or `mode` does not fit.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.Tensor([[[0.0, 0.0, 2.0, 2.0, 0.0]]]), ms.Tensor([[[1.0, 0.0, 2.0, 2.0, 90.0]]])
        >>> print(ms.ops.rotated_iou(a, b))
        [[[0.33333334]]]
    """
    owner = "rotated_iou"
    given = (("boxes", boxes), ("query_boxes", query_boxes))
    first, second = (floating(tensor(x, n, owner).array(), n, owner, False) for n, x in given)
    for name, array in (("boxes", first), ("query_boxes", second)):
        if array.ndim != 3 or array.shape[2] != 5:
            raise ValueError(complaint(name, owner, "(B, N, 5)", array.shape))
    if first.shape[0] != second.shape[0] or (
        not check_bool(is_cross, "is_cross", owner) and first.shape != second.shape
    ):
        raise ValueError(complaint("query_boxes", owner, f"to fit 'boxes' {first.shape}", second.shape))
    check_choice(mode, "mode", owner, (0, 1))
    slack = check_number(v_threshold, "v_threshold", owner), check_number(e_threshold, "e_threshold", owner)
    (p, area), (q, other) = (_corners(a.astype(np.float64), check_bool(trans, "trans", owner)) for a in (first, second))
    if is_cross:
        p, q, area, other = p[:, :, None], q[:, None], area[:, :, None], other[:, None]
    shared = _intersections(*np.broadcast_arrays(p, q), *slack)
    whole = np.broadcast_to(area, shared.shape) if mode else area + other - shared
    return wrap(np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0).astype(first.dtype))


def _corners(boxes: np.ndarray, given_corners: bool) -> tuple[np.ndarray, np.ndarray]:
    """The corners (..., 4, 2), counterclockwise, and the areas."""
    a, b, c, d, degrees = np.moveaxis(boxes, -1, 0)
    x, y, w, h = ((a + c) / 2, (b + d) / 2, np.abs(c - a), np.abs(d - b)) if given_corners else (a, b, c, d)
    cos, sin = np.cos(np.deg2rad(degrees))[..., None], np.sin(np.deg2rad(degrees))[..., None]
    dx, dy = w[..., None] * np.array([-0.5, 0.5, 0.5, -0.5]), h[..., None] * np.array([-0.5, -0.5, 0.5, 0.5])
    return np.stack([x[..., None] + dx * cos - dy * sin, y[..., None] + dx * sin + dy * cos], -1), w * h


def _intersections(p: np.ndarray, q: np.ndarray, v_slack: float, e_slack: float) -> np.ndarray:
    """The areas that two sets of quadrilaterals (..., 4, 2) share, pair by pair."""
    inside = [_inside(p, q, v_slack), _inside(q, p, v_slack)]
    points, crossing = _crossings(p, q, e_slack)
    points = np.concatenate([p, q, points], -2)
    there = np.concatenate([*inside, crossing], -1)
    count = there.sum(-1, keepdims=True)
    centre = (points * there[..., None]).sum(-2, keepdims=True) / np.maximum(count, 1)[..., None]
    around = np.where(there[..., None], points - centre, 0)
    order = np.argsort(np.where(there, np.arctan2(around[..., 1], around[..., 0]), np.inf), -1, kind="stable")
    around = np.take_along_axis(around, order[..., None], -2)
    # What is not there lies last: the first corner again, which adds nothing and closes the polygon.
    last = np.arange(around.shape[-2]) >= count
    around = np.where(last[..., None], around[..., :1, :], around)
    x, y = around[..., 0], around[..., 1]
    area = 0.5 * (x * np.roll(y, -1, -1) - y * np.roll(x, -1, -1)).sum(-1)
    return np.where(count[..., 0] > 2, np.abs(area), 0)


def _inside(points: np.ndarray, box: np.ndarray, slack: float) -> np.ndarray:
    """Whether points (..., 4, 2) lie in rectangles, by their shares along two sides."""
    found = np.ones(points.shape[:-1], bool)
    for other in (1, 3):
        side = (box[..., other, :] - box[..., 0, :])[..., None, :]
        length = (side * side).sum(-1)
        share = ((points - box[..., :1, :]) * side).sum(-1) / np.where(length > 0, length, 1)
        found &= (share >= -slack - 1e-12) & (share <= 1 + slack + 1e-12) & (length > 0)
    return found


def _crossings(p: np.ndarray, q: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the edges of quadrilaterals cross, (..., 16, 2), and whether they do."""
    start, other = p[..., :, None, :], q[..., None, :, :]
    along, across = np.roll(p, -1, -2)[..., :, None, :] - start, np.roll(q, -1, -2)[..., None, :, :] - other
    turn = along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0]
    scale = np.sqrt((along**2).sum(-1) * (across**2).sum(-1))
    parallel = np.abs(turn) <= 1e-12 * scale
    turn = np.where(parallel, 1, turn)
    gap = other - start
    s = (gap[..., 0] * across[..., 1] - gap[..., 1] * across[..., 0]) / turn
    t = (gap[..., 0] * along[..., 1] - gap[..., 1] * along[..., 0]) / turn
    there = ~parallel & (s >= -slack) & (s <= 1 + slack) & (t >= -slack) & (t <= 1 + slack)
    points = start + s[..., None] * along
    return points.reshape(*p.shape[:-2], 16, 2), there.reshape(*p.shape[:-2], 16)
