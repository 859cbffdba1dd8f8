"""Where MindSpore keeps the iterators of datasets."""

from dist_ms.dataset.execution.iterators import RowIterator as DictIterator
from dist_ms.dataset.execution.iterators import RowIterator as Iterator
from dist_ms.dataset.execution.iterators import RowIterator as TupleIterator

__all__ = ["DictIterator", "Iterator", "TupleIterator"]
