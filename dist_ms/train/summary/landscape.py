"""SummaryLandscape: the loss around the way that training took, over two directions of the weights."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_callable, check_positive_int, check_string, check_type, complaint
from dist_ms.train.serialization import load_checkpoint, save_checkpoint
from dist_ms.train.summary.record import SummaryRecord

__all__ = ["SummaryLandscape"]

FOLDER, FACTS = "ckpt_dir", "train_metadata.json"
_MARGIN = 0.25  # how far the picture goes on beyond the way, in its lengths
_KEYS = ("landscape_size", "unit", "create_landscape", "num_samples", "intervals")


def landscape_options(given: dict[str, Any] | None, owner: str) -> dict[str, Any] | None:
    """Check what SummaryCollector and SummaryLandscape are told of landscapes, and fill it up."""
    check_type(given, "collect_landscape", owner, (dict, type(None)))
    if given is None:
        return None
    unknown = sorted(str(key) for key in given if key not in _KEYS)
    if unknown:
        raise ValueError(complaint("collect_landscape", owner, f"a dict of {', '.join(_KEYS)}", unknown))
    size = check_positive_int(given.get("landscape_size", 40), "landscape_size", owner)
    if not 3 < size < 256:
        raise ValueError(complaint("landscape_size", owner, "above 3 and below 256", size))
    unit = check_string(given.get("unit", "step"), "unit", owner, ("step", "epoch"))
    samples = check_positive_int(given.get("num_samples", 2048), "num_samples", owner)
    wanted = check_type(given.get("create_landscape", {}), "create_landscape", owner, dict)
    create = {name: check_bool(wanted.get(name, True), name, owner) for name in ("train", "result")}
    intervals = check_type(given.get("intervals", []), "intervals", owner, list)
    for interval in intervals:
        numbers = check_type(interval, "an element of intervals", owner, list)
        for number in numbers:
            check_positive_int(number, "an element of intervals", owner)
        if len(set(numbers)) < 3:
            raise ValueError(complaint("intervals", owner, "lists of 3 numbers or more", interval))
    return {
        "landscape_size": size,
        "unit": unit,
        "create_landscape": create,
        "num_samples": samples,
        "intervals": intervals,
    }


def keep_weights(folder: str, network: Any, number: int, options: dict[str, Any]) -> None:
    """Save a network's weights where `SummaryLandscape` looks for them, if a landscape needs those of this step."""
    if number not in {n for interval in options["intervals"] for n in interval}:
        return
    place = os.path.join(folder, FOLDER)
    os.makedirs(place, exist_ok=True)
    save_checkpoint(network, os.path.join(place, f"{type(network).__name__}_{number}_{options['unit']}.ckpt"))
    with open(os.path.join(place, FACTS), "w", encoding="utf-8") as file:
        json.dump({**options, "network": type(network).__name__}, file)


class SummaryLandscape:
    """Draws the loss over two directions of the weights (Li et al., "Visualizing the Loss Landscape", 2018).

    A SummaryCollector with `collect_landscape` keeps the weights of some steps. Each of its intervals becomes a picture
    over their two main directions, with the way of training in it; the last weights become one over two directions
    drawn at random. Directions are scaled to the weights they change.

    Args:
        summary_dir: the folder that the collector wrote into.

    Raises:
        TypeError: if `summary_dir` is no str.
        ValueError: if it is empty.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> landscape = ms.SummaryLandscape(tempfile.mkdtemp())
        >>> landscape.clean_ckpt()
    """

    def __init__(self, summary_dir: str) -> None:
        self._folder = os.path.realpath(check_string(summary_dir, "summary_dir", "SummaryLandscape"))
        if not summary_dir.strip():
            raise ValueError(complaint("summary_dir", "SummaryLandscape", "a path", summary_dir))

    def gen_landscapes_with_multi_process(
        self,
        callback_fn: Callable[[], tuple],
        collect_landscape: dict[str, Any] | None = None,
        device_ids: list[int] | None = None,
        output: str | None = None,
    ) -> None:
        """Evaluate the loss over each picture, and write the pictures.

        Each is a file of NumPy, `landscape_NAME.npz` (`loss`, `x`, `y`, and `path_x` and `path_y` of the way), and an
        image in an event file.

        Args:
            callback_fn: returns the Model, its network, the dataset to evaluate, and the metrics, whose first is drawn.
            collect_landscape: replaces single options of the collector's.
            device_ids: accepted: one process evaluates, which uses all of its cores.
            output: the folder of the pictures; None for the collector's.

        Raises:
            TypeError: if an argument has the wrong type.
            ValueError: if the collector has kept no weights, or an option is wrong.
        """
        owner = "gen_landscapes_with_multi_process"
        check_callable(callback_fn, "callback_fn", owner)
        check_type(device_ids, "device_ids", owner, (list, type(None)))
        given = check_type(collect_landscape, "collect_landscape", owner, (dict, type(None))) or {}
        place = os.path.join(self._folder, FOLDER)
        try:
            with open(os.path.join(place, FACTS), encoding="utf-8") as file:
                facts = json.load(file)
        except OSError:
            raise ValueError(
                f"For '{owner}', 'summary_dir' must hold weights that SummaryCollector kept for 'collect_landscape', "
                f"but got {self._folder}."
            ) from None
        name = facts.pop("network")
        options = landscape_options({**facts, **given}, owner)
        assert options is not None
        model, network, dataset, metrics = callback_fn()
        metric = next(iter(metrics))
        weights = network.trainable_params()
        before = [w.asnumpy().copy() for w in weights]
        output = self._folder if output is None else check_string(output, "output", owner)
        os.makedirs(output, exist_ok=True)
        drawn = _Drawing(model, dataset, metric, weights, options)
        try:
            with SummaryRecord(output, file_suffix="_landscape") as record:
                for interval in options["intervals"]:
                    way = [_read(place, name, number, options["unit"], weights) for number in sorted(set(interval))]
                    title = f"{min(interval)}_{max(interval)}_{options['unit']}"
                    if options["create_landscape"]["train"]:
                        drawn.write(record, output, f"interval_{title}", way[-1], *_main_directions(way))
                    if options["create_landscape"]["result"] and interval is options["intervals"][-1]:
                        directions = _random_directions(way[-1])
                        drawn.write(record, output, f"result_{title}", way[-1], directions, np.zeros((1, 2)))
        finally:
            for weight, array in zip(weights, before):
                weight.set_data(type(weight)(array))

    def clean_ckpt(self) -> None:
        """Remove the weights that the collector has kept."""
        shutil.rmtree(os.path.join(self._folder, FOLDER), ignore_errors=True)


class _Drawing:
    """Evaluates a model over a grid of weights."""

    def __init__(self, model: Any, dataset: Any, metric: str, weights: list[Any], options: dict[str, Any]) -> None:
        batches = -(-options["num_samples"] // max(dataset.get_batch_size() or 1, 1))
        self._model, self._metric, self._weights = model, metric, weights
        self._dataset = dataset.take(batches) if batches < dataset.get_dataset_size() else dataset
        self._size = options["landscape_size"]

    def _loss(self, arrays: list[np.ndarray]) -> float:
        for weight, array in zip(self._weights, arrays):
            weight.set_data(type(weight)(array.astype(weight.dtype.np)))
        return float(self._model.eval(self._dataset, dataset_sink_mode=False)[self._metric])

    def write(
        self,
        record: SummaryRecord,
        folder: str,
        name: str,
        center: list[np.ndarray],
        directions: list[list[np.ndarray]],
        way: np.ndarray,
    ) -> None:
        """Draw one picture around some weights; `way` has the places of others in the directions."""
        low, high = np.minimum(way.min(0), 0), np.maximum(way.max(0), 0)
        length = np.where(high - low > 1e-6, high - low, 2.0)
        middle = (low + high) / 2
        half = length * (0.5 + _MARGIN)
        x, y = (np.linspace(middle[k] - half[k], middle[k] + half[k], self._size) for k in (0, 1))
        losses = np.array(
            [[self._loss([c + a * p + b * q for c, p, q in zip(center, *directions)]) for a in x] for b in y]
        )
        np.savez(
            os.path.join(folder, f"landscape_{name}.npz"), loss=losses, x=x, y=y, path_x=way[:, 0], path_y=way[:, 1]
        )
        logs = np.log(losses - losses.min() + 1e-6)
        shown = (logs - logs.min()) / max(float(np.ptp(logs)), 1e-12)
        record.add_value("image", f"landscape/{name}", shown[None, None].astype(np.float32))
        record.record(0)


def _read(place: str, name: str, number: int, unit: str, weights: list[Any]) -> list[np.ndarray]:
    """The weights of a step."""
    found: Any = load_checkpoint(os.path.join(place, f"{name}_{number}_{unit}.ckpt"))
    return [found[w.name].asnumpy().astype(np.float64) for w in weights]


def _scaled(direction: list[np.ndarray], center: list[np.ndarray]) -> list[np.ndarray]:
    """A direction with each part as long as the weight it changes."""
    return [d * (np.linalg.norm(c) / (np.linalg.norm(d) + 1e-10)) for d, c in zip(direction, center)]


def _main_directions(way: list[list[np.ndarray]]) -> tuple[list[list[np.ndarray]], np.ndarray]:
    """The two directions in which weights lie most apart, and the places of all of them in these, from the last."""
    center = way[-1]
    rows = np.stack([np.concatenate([(a - c).ravel() for a, c in zip(arrays, center)]) for arrays in way])
    _, _, axes = np.linalg.svd(rows[:-1], full_matrices=False)
    cuts = np.cumsum([c.size for c in center])[:-1]
    directions = []
    for axis in axes[:2]:
        parts = [part.reshape(c.shape) for part, c in zip(np.split(axis, cuts), center)]
        directions.append(_scaled(parts, center))
    flat = np.stack([np.concatenate([d.ravel() for d in direction]) for direction in directions], 1)
    return directions, np.linalg.lstsq(flat, rows.T, rcond=None)[0].T


def _random_directions(center: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Two directions drawn at random."""
    numbers = np.random.default_rng(0)
    return [_scaled([numbers.normal(size=c.shape) for c in center], center) for _ in range(2)]
