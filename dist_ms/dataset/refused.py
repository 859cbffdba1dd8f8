"""MindSpore's datasets that dist_ms does not read; making one of them raises an error."""

from dist_ms.common.refusing import refused

_REMEDY = "Read the files in a class with __getitem__ and __len__, and give it to GeneratorDataset."

# What dist_ms does not do, and the datasets that need it.
_NEEDS = {
    "copies no files from a cloud's storage": "OBSMindDataset sync_wait_for_dataset",
}

_REFUSED = {name: refused(name, lacks, _REMEDY) for lacks, names in _NEEDS.items() for name in names.split()}
globals().update(_REFUSED)

__all__ = sorted(_REFUSED)
