"""Data pipelines: sources, transforms, batches and shards, read ahead in threads."""

import typing as _typing

from dist_ms.common.late_names import declared as _declared
from dist_ms.common.late_names import late_names as _late_names
from dist_ms.dataset.dataset import Dataset
from dist_ms.dataset.methods import attach
from dist_ms.dataset.refused import *
from dist_ms.dataset.refused import __all__ as _refused
from dist_ms.dataset.stages.joining import ZipDataset

attach()


def zip(datasets: tuple) -> Dataset:
    """Put the columns of several datasets side by side.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> a = ds.NumpySlicesDataset([1, 2], ["a"], shuffle=False)
        >>> b = ds.NumpySlicesDataset([3, 4], ["b"], shuffle=False)
        >>> print(ds.zip((a, b)).get_col_names())
        ['a', 'b']
    """
    if not isinstance(datasets, tuple) or len(datasets) < 2:
        raise ValueError(f"For 'zip', 'datasets' must be a tuple of two or more datasets, but got {datasets!r}.")
    return ZipDataset(datasets)


# Sources and transforms that load when they are first used.
if _typing.TYPE_CHECKING:
    from dist_ms.common.settings import context  # scripts take it from here, too
    from dist_ms.dataset import audio, config, dataloader, debug, text, transforms, vision
    from dist_ms.dataset.cache import DatasetCache
    from dist_ms.dataset.line_reader import LineReader
    from dist_ms.dataset.samplers import (
        BuiltinSampler,
        DistributedSampler,
        IterSampler,
        PKSampler,
        RandomSampler,
        Sampler,
        SequentialSampler,
        SubsetRandomSampler,
        SubsetSampler,
        WeightedRandomSampler,
    )
    from dist_ms.dataset.serialization import compare, deserialize, serialize, show
    from dist_ms.dataset.shuffles import Shuffle
    from dist_ms.dataset.sources.generator import GeneratorDataset
    from dist_ms.dataset.sources.images.arrays import *
    from dist_ms.dataset.sources.images.captions import *
    from dist_ms.dataset.sources.images.celeba import *
    from dist_ms.dataset.sources.images.cifar import *
    from dist_ms.dataset.sources.images.class_folders import *
    from dist_ms.dataset.sources.images.class_sets import *
    from dist_ms.dataset.sources.images.coco import *
    from dist_ms.dataset.sources.images.faces import *
    from dist_ms.dataset.sources.images.flowers import *
    from dist_ms.dataset.sources.images.idx import *
    from dist_ms.dataset.sources.images.manifest import *
    from dist_ms.dataset.sources.images.outlines import *
    from dist_ms.dataset.sources.images.pairs import *
    from dist_ms.dataset.sources.images.scenes import *
    from dist_ms.dataset.sources.images.streets import *
    from dist_ms.dataset.sources.images.voc import *
    from dist_ms.dataset.sources.numpy_slices import NumpySlicesDataset
    from dist_ms.dataset.sources.records.mind import *
    from dist_ms.dataset.sources.records.schema import *
    from dist_ms.dataset.sources.records.tfrecord import *
    from dist_ms.dataset.sources.sounds.music import *
    from dist_ms.dataset.sources.sounds.sentences import *
    from dist_ms.dataset.sources.sounds.talks import *
    from dist_ms.dataset.sources.sounds.words import *
    from dist_ms.dataset.sources.synthetic import *
    from dist_ms.dataset.sources.text.clue import *
    from dist_ms.dataset.sources.text.delimited import *
    from dist_ms.dataset.sources.text.lines import *
    from dist_ms.dataset.sources.text.questions import *
    from dist_ms.dataset.sources.text.reviews import *
    from dist_ms.dataset.sources.text.sentiments import *
    from dist_ms.dataset.sources.text.tagged import *
    from dist_ms.dataset.sources.text.translations import *
    from dist_ms.dataset.stages.batching import BatchDataset, BatchInfo
    from dist_ms.dataset.stages.callbacks import DSCallback, WaitedDSCallback
    from dist_ms.dataset.stages.joining import ConcatDataset
    from dist_ms.dataset.stages.mapping import MapDataset

__all__ = [
    "Dataset",
    "zip",
    *_refused,
    *sorted(
        set(_declared(__name__))
        - {"BatchDataset", "ConcatDataset", "MapDataset", "audio", "context", "dataloader", "debug", "text"}
    ),
]

_late_names(__name__)
