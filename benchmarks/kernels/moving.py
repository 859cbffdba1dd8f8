"""Operations that move elements: transposes, joins, borders, triangles, picking and scattering by index."""

from collections.abc import Iterator

import numpy as np

from kernels import Case

ROWS, COUNT = 1024, 4096
IMAGES = (32, 64, 56, 56)


def arrays() -> dict[str, np.ndarray]:
    """What both sides move."""
    rng = np.random.default_rng(0)
    return {
        "a": rng.standard_normal((ROWS, ROWS), np.float32),
        "images": rng.standard_normal(IMAGES, np.float32),
        "ids": rng.integers(0, ROWS, COUNT),
        "places": rng.integers(0, ROWS, (ROWS, ROWS)),
    }


def named(functions: dict) -> Iterator[Case]:
    """A case per function; bytes that must move: of all it reads and of its result."""
    whole, images = 4 * ROWS * ROWS, 4 * int(np.prod(IMAGES))
    border = 4 * IMAGES[0] * IMAGES[1] * (IMAGES[2] + 2) * (IMAGES[3] + 2)
    traffic = {
        "permute NCHW to NHWC": 2 * images,
        "pad with zeros": images + border,
        "pad with mirrored elements": images + border,
        "concat": 4 * whole,
        "stack behind": 4 * whole,
        "tile 2 x 2": 5 * whole,
        "gather rows": 2 * 4 * ROWS * COUNT,
        "index_select of columns": 4 * ROWS * COUNT + whole,
        "index_add rows": 4 * ROWS * COUNT + 2 * whole,
        "gather_elements": 4 * whole,
        "scatter": 5 * whole,
        "one_hot": whole,
    }
    for name, run in functions.items():
        yield Case(f"moving: {name}", run, traffic.get(name, 2 * whole))


def ours() -> Iterator[Case]:
    """The functions of ops."""
    import dist_ms as ms

    ops = ms.ops
    a, images, ids, places = [ms.Tensor(x) for x in arrays().values()]
    rows = a[ids]
    yield from named(
        {
            "transpose": lambda: a.T.contiguous(),
            "permute NCHW to NHWC": lambda: images.permute(0, 2, 3, 1).contiguous(),
            "concat": lambda: ops.cat((a, a), 1),
            "stack behind": lambda: ops.stack((a, a), -1),
            "tile 2 x 2": lambda: ops.tile(a, (2, 2)),
            "flip": lambda: ops.flip(a, (1,)),
            "roll": lambda: ops.roll(a, 3, 1),
            "pad with zeros": lambda: ops.pad(images, (1, 1, 1, 1)),
            "pad with mirrored elements": lambda: ops.pad(images, (1, 1, 1, 1), "reflect"),
            "tril": lambda: ops.tril(a),
            "gather rows": lambda: a[ids],
            "index_select of columns": lambda: ops.index_select(a, 1, ids),
            "index_add rows": lambda: ms.mint.index_add(a, 0, ids, rows),
            "gather_elements": lambda: ops.gather_elements(a, 1, places),
            "scatter": lambda: ops.scatter(a, 1, places, a),
            "one_hot": lambda: ops.one_hot(ids[:ROWS], ROWS, ms.Tensor(1), ms.Tensor(0)),
        }
    )


def torch() -> Iterator[Case]:
    """The same in PyTorch."""
    import torch

    pad = torch.nn.functional.pad
    a, images, ids, places = map(torch.from_numpy, arrays().values())
    rows = a[ids]
    yield from named(
        {
            "transpose": lambda: a.t().contiguous(),
            "permute NCHW to NHWC": lambda: images.permute(0, 2, 3, 1).contiguous(),
            "concat": lambda: torch.cat((a, a), 1),
            "stack behind": lambda: torch.stack((a, a), -1),
            "tile 2 x 2": lambda: a.tile(2, 2),
            "flip": lambda: a.flip(1),
            "roll": lambda: a.roll(3, 1),
            "pad with zeros": lambda: pad(images, (1, 1, 1, 1)),
            "pad with mirrored elements": lambda: pad(images, (1, 1, 1, 1), mode="reflect"),
            "tril": lambda: a.tril(),
            "gather rows": lambda: a[ids],
            "index_select of columns": lambda: a.index_select(1, ids),
            "index_add rows": lambda: a.index_add(0, ids, rows),
            "gather_elements": lambda: a.gather(1, places),
            "scatter": lambda: a.scatter(1, places, a),
            "one_hot": lambda: torch.nn.functional.one_hot(ids[:ROWS], ROWS),
        }
    )
