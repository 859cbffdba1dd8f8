"""SQuADDataset: questions on a text, and their answers."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.text.files import ParsedSource, check_folder, check_usage

__all__ = ["SQuADDataset"]

_NONE = 2**32 - 1  # where an answer begins that is not in the text


class SQuADDataset(ParsedSource):
    """The questions of SQuAD 1.1 or 2.0.

    The columns are "context", "question", "text" with all answers, and "answer_start" with the places where they begin,
    as uint32. A question without an answer has the text "" at the greatest uint32.

    Args:
        dataset_dir: the folder with `train-v2.0.json` and `dev-v2.0.json`, or those of version 1.1.
        usage: "train", "dev" or "all" (the default).
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as of TextFileDataset.

    Raises:
        RuntimeError: if a file is missing or wrong.

    Examples:
        >>> import json, tempfile, pathlib
        >>> import dist_ms.dataset as ds
        >>> answer = {"text": "Rome", "answer_start": 3}
        >>> asked = {"context": "In Rome.", "qas": [{"question": "Where?", "answers": [answer]}]}
        >>> folder = tempfile.TemporaryDirectory()
        >>> content = json.dumps({"data": [{"paragraphs": [asked]}]})
        >>> _ = pathlib.Path(folder.name, "dev-v2.0.json").write_text(content)
        >>> data = ds.SQuADDataset(folder.name, "dev")
        >>> [row[2].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [['Rome']]
        >>> folder.cleanup()
    """

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
        owner = "SQuADDataset"
        check_folder(dataset_dir, owner)
        usage = check_usage(usage, ("train", "dev", "all"), owner)
        files = []
        for part in ("train", "dev") if usage == "all" else (usage,):
            forms = [os.path.join(dataset_dir, f"{part}-v{version}.json") for version in ("2.0", "1.1")]
            found = [path for path in forms if os.path.isfile(path)]
            if not found:
                raise RuntimeError(f"For '{owner}', {forms[0]} does not exist: unpack the set into its folder.")
            files.append(found[0])
        columns = ["context", "question", "text", "answer_start"]
        sampling = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        super().__init__(columns, sorted(files), *sampling)

    def parse(self, path: str) -> list[tuple]:
        """The questions of a file."""
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        rows = []
        for article in content["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    answers = asked["answers"]
                    texts = [answer["text"] for answer in answers] or [""]
                    starts = [answer["answer_start"] for answer in answers] or [_NONE]
                    rows.append((paragraph["context"], asked["question"], texts, np.array(starts, np.uint32)))
        return rows
