"""DataLoader: batches of an object with numbered items or of an iterable, in the form that PyTorch's users know."""

from dist_ms.dataset.dataloader.collating import default_collate, default_convert
from dist_ms.dataset.dataloader.loader import DataLoader, get_worker_info
from dist_ms.dataset.dataloader.samplers import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)
from dist_ms.dataset.dataloader.sources import Dataset, IterableDataset, TensorDataset

__all__ = [
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "TensorDataset",
    "default_collate",
    "default_convert",
    "get_worker_info",
]
