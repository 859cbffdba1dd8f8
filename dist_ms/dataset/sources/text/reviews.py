"""Sets of texts and their classes, in CSV files for training and test."""

from __future__ import annotations

from typing import Any

from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.text.delimited import DelimitedSource
from dist_ms.dataset.sources.text.files import check_folder, check_usage, files_of

__all__ = [
    "AGNewsDataset",
    "AmazonReviewDataset",
    "DBpediaDataset",
    "SogouNewsDataset",
    "YahooAnswersDataset",
    "YelpReviewDataset",
]


class _Classified(DelimitedSource):
    """Base of the sets with `train.csv` and `test.csv`."""

    names: tuple[str, ...] = ()
    by_name = True  # whether the files come in the order of their names, or training first

    def _open(self, dataset_dir: str, usage: str | None, *sampling: Any) -> None:
        owner = type(self).__name__
        usage = check_usage(usage, ("train", "test", "all"), owner)
        parts = ("train", "test") if usage == "all" else (usage,)
        names = [f"{part}.csv" for part in parts]
        files = files_of(check_folder(dataset_dir, owner), sorted(names) if self.by_name else names, owner)
        DelimitedSource.__init__(self, self.names, files, [str] * len(self.names), ",", False, *sampling)


class _WorkersFirst(_Classified):
    """Those whose arguments have the workers before the order."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        self._open(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


class _OrderFirst(_Classified):
    """Those whose arguments have the order before the workers."""

    by_name = False

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        self._open(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


_DOC = """{about}

    The columns are text: {columns}.

    Args:
        dataset_dir: the folder with `train.csv` and `test.csv`.
        usage: "train", "test" or "all" (the default).
        num_samples: read at most so many rows.
        num_parallel_workers: how many workers read.
        shuffle: True or Shuffle.GLOBAL: all rows; Shuffle.FILES: the files; False: nothing.
        num_shards, shard_id: read the part of one rank.
        cache: a DatasetCache.

    Raises:
        RuntimeError: if a file is missing, or a row is wrong.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> _ = pathlib.Path(folder.name, "test.csv").write_text('{example}')
        >>> ds.{name}(folder.name, "test").get_dataset_size()
        1
        >>> folder.cleanup()
    """


def _described(about: str) -> Any:
    """Give a class its docstring."""

    def decorate(kind: type[_Classified]) -> type[_Classified]:
        example = ",".join(f'"{k}"' for k in range(1, len(kind.names) + 1))
        columns = ", ".join(f'"{name}"' for name in kind.names)
        kind.__doc__ = _DOC.format(about=about, columns=columns, example=example, name=kind.__name__)
        return kind

    return decorate


@_described("News articles of AG's corpus, in four classes.")
class AGNewsDataset(_WorkersFirst):
    names = ("index", "title", "description")


@_described("Amazon reviews, with their polarity or number of stars.")
class AmazonReviewDataset(_WorkersFirst):
    names = ("label", "title", "content")


@_described("DBpedia's abstracts, in fourteen classes.")
class DBpediaDataset(_WorkersFirst):
    names = ("class", "title", "content")


@_described("Sogou's news articles, in five classes.")
class SogouNewsDataset(_OrderFirst):
    names = ("index", "title", "content")


@_described("Yahoo's questions and answers, in ten classes.")
class YahooAnswersDataset(_WorkersFirst):
    names = ("class", "title", "content", "answer")


@_described("Yelp reviews, with their polarity or number of stars.")
class YelpReviewDataset(_OrderFirst):
    names = ("label", "text")
