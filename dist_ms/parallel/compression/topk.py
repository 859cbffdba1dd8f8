"""TopK: the largest elements of each gradient, and the rest later."""

from __future__ import annotations

import math

import numpy as np

from dist_ms.parallel.compression.report import Compression
from dist_ms.parallel.reduction.gradient_hook import GradBucket


class TopK(Compression):
    """Sends the elements of largest magnitude of each gradient; what was not sent is added to the next step's.

    With the gradient g and the error e of the step before,  a = g + e;  the k largest elements of a
    are sent, and e becomes a without them. Source: Aji and Heafield, Sparse Communication for
    Distributed Gradient Descent, 2017.

    Args:
        ratio: the part of each gradient's elements that is sent, in (0, 1].
        measure: as for `Compression`.

    Raises:
        ValueError: if the ratio is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.parallel.compression import TopK
        >>> reducer = ms.nn.DistributedGradReducer([ms.Parameter(ms.Tensor([1.0]), name="w")])
        >>> reducer.register_comm_hook(TopK(0.01))
    """

    def __init__(self, ratio: float = 0.01, measure: bool = False) -> None:
        super().__init__(measure)
        if not 0 < ratio <= 1:
            raise ValueError(f"For 'TopK', 'ratio' must be in (0, 1], but got {ratio!r}.")
        self.ratio = ratio
        self._errors: dict[int, np.ndarray] = {}

    def __call__(self, bucket: GradBucket) -> np.ndarray:
        """Add a bucket over the ranks."""
        error = self._errors.get(bucket.index)
        total = bucket.array if error is None else bucket.array + error
        places, start = [], 0
        for name, grad in bucket.parts():
            part = total[start : start + grad.size]
            places.append(start + self._largest(part))
            sent = len(places[-1]) * (4 + part.itemsize)
            left = None
            if self.measure:
                left = part.copy()
                left[places[-1] - start] = 0
            self.note(name, grad.nbytes, sent, part, left)
            start += grad.size
        indices = np.concatenate(places).astype(np.uint32 if total.size < 2**32 else np.uint64)
        values = total[indices]
        rest = total.copy()
        rest[indices] = 0
        self._errors[bucket.index] = rest
        out = np.zeros_like(total)
        # A rank has each index once, so rank after rank may be added by plain indexing.
        every = zip(bucket.comm.all_gather(indices), bucket.comm.all_gather(values), strict=True)
        for places_of_rank, values_of_rank in every:
            out[places_of_rank] += values_of_rank
        return out

    def state_dict(self) -> dict[str, dict[int, np.ndarray]]:
        """What this rank has left over, by bucket."""
        return {"errors": dict(self._errors)}

    def load_state_dict(self, state: dict[str, dict[int, np.ndarray]]) -> None:
        """Go back to what `state_dict` returned."""
        self._errors = dict(state["errors"])

    def _largest(self, part: np.ndarray) -> np.ndarray:
        """Return the places of the largest elements, ascending; as many on every rank."""
        count = min(part.size, max(1, math.ceil(self.ratio * part.size)))
        if count == part.size:
            return np.arange(part.size)
        found = np.argpartition(np.abs(part), part.size - count)[part.size - count :]
        found.sort()
        return found
