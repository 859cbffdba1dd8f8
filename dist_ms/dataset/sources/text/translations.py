"""Sets of sentences and their translations: Multi30k and IWSLT."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from html import unescape
from typing import Any

from dist_ms.common.checks import check_string, check_type, complaint
from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.text.files import ParsedSource, check_folder, check_usage, files_of

__all__ = ["IWSLT2016Dataset", "IWSLT2017Dataset", "Multi30kDataset"]

_USAGES = ("train", "valid", "test", "all")
_SEGMENT = re.compile(r"<seg[^>]*>(.*?)</seg>", re.DOTALL)
_PAIRS_2016 = [("en", other) for other in ("ar", "cs", "de", "fr")]
_LANGUAGES_2017 = ("de", "en", "it", "nl", "ro")
_SETS_2016 = ("dev2010", "tst2010", "tst2011", "tst2012", "tst2013", "tst2014")


class _Pairs(ParsedSource):
    """Base of the sets with one file of sentences in each of two languages."""

    def _open(self, pairs: Sequence[tuple[str, str]], *sampling: Any) -> None:
        self.translations = dict(pairs)
        ParsedSource.__init__(self, ["text", "translation"], [text for text, _ in pairs], *sampling)

    def parse(self, path: str) -> list[tuple]:
        """The sentences of a file, and their translations."""
        texts, translations = self.sentences(path), self.sentences(self.translations[path])
        if len(texts) != len(translations):
            raise ValueError(f"it has {len(texts)} sentences, {self.translations[path]} {len(translations)}")
        return list(zip(texts, translations))

    def sentences(self, path: str) -> list[str]:
        """The sentences of a file."""
        with open(path, encoding="utf-8", newline="\n") as file:
            return [line.rstrip("\r\n") for line in file if line.strip("\r\n")]


class Multi30kDataset(_Pairs):
    """The descriptions of Multi30k's images in English and German, in the columns "text" and "translation".

    Args:
        dataset_dir: the folder with the folders `training`, `validation` and `mmt16_task1_test`.
        usage: "train", "test", "valid" or "all" (the default).
        language_pair: ["en", "de"] (the default) or ["de", "en"].
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if a file is missing.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> pathlib.Path(folder.name, "validation").mkdir()
        >>> for language in ("en", "de"):
        ...     _ = pathlib.Path(folder.name, "validation", f"val.{language}").write_text("a dog")
        >>> ds.Multi30kDataset(folder.name, "valid").get_dataset_size()
        1
        >>> folder.cleanup()
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        language_pair: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "Multi30kDataset"
        places = {"train": "training/train", "valid": "validation/val", "test": "mmt16_task1_test/test"}
        usage = check_usage(usage, _USAGES, owner)
        source, target = _pair(language_pair, [("en", "de"), ("de", "en")], ("en", "de"), owner)
        parts = list(places.values()) if usage == "all" else [places[usage]]
        check_folder(dataset_dir, owner)
        pairs = [_both(dataset_dir, f"{part}.{source}", f"{part}.{target}", owner) for part in sorted(parts)]
        self._open(pairs, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


class _Talks(_Pairs):
    """Base of the IWSLT sets: lines between tags for training, segments of XML for the rest."""

    def sentences(self, path: str) -> list[str]:
        """The sentences of a file."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if path.endswith(".xml"):
            return [unescape(segment).strip() for segment in _SEGMENT.findall(text)]
        lines = (line.strip() for line in text.split("\n"))
        return [line for line in lines if line and not line.startswith("<")]

    def _talks(self, folder: str, year: str, usage: str, pair: tuple, sets: dict[str, str]) -> list[tuple[str, str]]:
        source, target = pair
        pairs = []
        for part in ("train", "valid", "test") if usage == "all" else (usage,):
            if part == "train":
                forms = [f"train.tags.{source}-{target}.{language}" for language in pair]
            else:
                forms = [f"IWSLT{year}.TED.{sets[part]}.{source}-{target}.{language}.xml" for language in pair]
            pairs.append(_both(folder, *forms, type(self).__name__))
        return pairs


class IWSLT2016Dataset(_Talks):
    """Sentences of TED talks and their translations, from IWSLT 2016, in the columns "text" and "translation".

    Args:
        dataset_dir: the folder with `texts/de/en/de-en` and the like.
        usage: "train", "valid", "test" or "all" (the default).
        language_pair: the languages of text and translation: English and Arabic, Czech, German or French, or the other
            way round; ("de", "en") by default.
        valid_set, test_set: "dev2010" or "tst2010" to "tst2014"; "tst2013" and "tst2014" by default.
        num_samples, shuffle, num_shards, shard_id, num_parallel_workers, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if a file is missing.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> place = pathlib.Path(folder.name, "texts/de/en/de-en")
        >>> place.mkdir(parents=True)
        >>> for language in ("de", "en"):
        ...     _ = (place / f"train.tags.de-en.{language}").write_text("<url>u</url>" + chr(10) + "Hallo")
        >>> ds.IWSLT2016Dataset(folder.name, "train").get_dataset_size()
        1
        >>> folder.cleanup()
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        language_pair: Sequence[str] | None = None,
        valid_set: str | None = None,
        test_set: str | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "IWSLT2016Dataset"
        usage = check_usage(usage, _USAGES, owner)
        known = _PAIRS_2016 + [(b, a) for a, b in _PAIRS_2016]
        source, target = _pair(language_pair, known, ("de", "en"), owner)
        sets = {
            "valid": check_string(valid_set or "tst2013", "valid_set", owner, _SETS_2016),
            "test": check_string(test_set or "tst2014", "test_set", owner, _SETS_2016),
        }
        folder = os.path.join(check_folder(dataset_dir, owner), "texts", source, target, f"{source}-{target}")
        pairs = self._talks(folder, "16", usage, (source, target), sets)
        self._open(pairs, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


class IWSLT2017Dataset(_Talks):
    """Sentences of TED talks and their translations, from IWSLT 2017, in the columns "text" and "translation".

    Args:
        dataset_dir: the folder with `texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo`.
        usage: "train", "valid", "test" or "all" (the default).
        language_pair: two of "de", "en", "it", "nl" and "ro", of text and translation; ("de", "en") by default.
        num_samples, shuffle, num_shards, shard_id, num_parallel_workers, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if a file is missing.

    Examples:
        >>> import tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> folder = tempfile.TemporaryDirectory()
        >>> place = pathlib.Path(folder.name, "texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo")
        >>> place.mkdir(parents=True)
        >>> for language in ("de", "en"):
        ...     _ = (place / f"train.tags.de-en.{language}").write_text("<url>u</url>" + chr(10) + "Hallo")
        >>> ds.IWSLT2017Dataset(folder.name, "train").get_dataset_size()
        1
        >>> folder.cleanup()
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        language_pair: Sequence[str] | None = None,
        num_samples: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "IWSLT2017Dataset"
        usage = check_usage(usage, _USAGES, owner)
        known = [(a, b) for a in _LANGUAGES_2017 for b in _LANGUAGES_2017 if a != b]
        pair = _pair(language_pair, known, ("de", "en"), owner)
        name = "DeEnItNlRo"
        folder = os.path.join(check_folder(dataset_dir, owner), "texts", name, name, f"{name}-{name}")
        pairs = self._talks(folder, "17", usage, pair, {"valid": "dev2010", "test": "tst2010"})
        self._open(pairs, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


def _pair(given: Any, known: list[tuple[str, str]], default: tuple[str, str], owner: str) -> tuple[str, str]:
    """Check the languages of text and translation."""
    if given is None:
        return default
    check_type(given, "language_pair", owner, (list, tuple))
    if tuple(given) not in known:
        raise ValueError(complaint("language_pair", owner, f"among {known}", given))
    return tuple(given)


def _both(folder: str, text: str, translation: str, owner: str) -> tuple[str, str]:
    """Two files of a folder."""
    return files_of(folder, [text], owner)[0], files_of(folder, [translation], owner)[0]
