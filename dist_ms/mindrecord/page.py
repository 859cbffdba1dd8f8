"""MindPage: the rows of a category, page by page."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from dist_ms.mindrecord.exceptions import MRMDefineCategoryError, ParamTypeError, ParamValueError
from dist_ms.mindrecord.index import open_index
from dist_ms.mindrecord.reader import check_consumers, check_names
from dist_ms.mindrecord.shards import Shards

__all__ = ["MindPage"]


class MindPage:
    """Reads the rows of MindRecord files by the value of an index field.

    Args:
        file_name: one of the files that were written together, or a list of files.
        num_consumer: accepted; one thread reads.

    Raises:
        ParamValueError: if an argument is wrong.
        RuntimeError: if a file is missing or damaged.

    Examples:
        >>> import tempfile
        >>> from dist_ms.mindrecord import FileWriter, MindPage
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = FileWriter(folder.name + "/rows.mindrecord")
        >>> writer.add_schema({"label": {"type": "int32"}, "name": {"type": "string"}})
        >>> writer.write_raw_data([{"label": k % 2, "name": str(k)} for k in range(5)])
        >>> writer.commit()
        >>> pages = MindPage(folder.name + "/rows.mindrecord")
        >>> pages.category_field = "label"
        >>> print(pages.read_category_info())
        {"categories":[{"count":3,"id":0,"name":"0"},{"count":2,"id":1,"name":"1"}],"key":"label_0"}
        >>> [row["name"] for row in pages.read_at_page_by_name("0", 1, 2)]
        ['4']
        >>> folder.cleanup()
    """

    def __init__(self, file_name: str | list[str], num_consumer: int = 4) -> None:
        check_names(file_name)
        check_consumers(num_consumer)
        self._shards = Shards(file_name)
        self._category_field: str | None = None

    @property
    def candidate_fields(self) -> list[str]:
        """The index fields."""
        return list(self._shards.header.index_fields)

    @property
    def category_field(self) -> str | None:
        """The index field whose values are the categories.

        Raises:
            ParamTypeError: if it is set to no name.
            MRMDefineCategoryError: if it is set to no index field.
        """
        return self._category_field

    @category_field.setter
    def category_field(self, category_field: str) -> None:
        if not category_field or not isinstance(category_field, str):
            raise ParamTypeError("category_fields", "str")
        if category_field not in self.candidate_fields:
            raise MRMDefineCategoryError(f"It must be among {self.candidate_fields}, but got {category_field!r}.")
        self._category_field = category_field

    def _ask(self, what: str, values: tuple = ()) -> list[list[tuple]]:
        """What each index file answers to a query, where {} is the category field."""
        if self._category_field is None:
            raise RuntimeError("For 'MindPage', 'category_field' must be set first.")
        answers = []
        for path in self._shards.paths:
            connection = open_index(path)
            try:
                answers.append(connection.execute(what.format(f"{self._category_field}_0"), values).fetchall())
            finally:
                connection.close()
        return answers

    def _categories(self) -> list[tuple[str, int]]:
        """The values, as text and in its order, and how many rows have each."""
        counts: Counter = Counter()
        for answer in self._ask("SELECT CAST({0} AS TEXT), COUNT(*) FROM INDEXES GROUP BY {0}"):
            for name, count in answer:
                counts[name] += count
        return sorted(counts.items())

    def read_category_info(self) -> str:
        """The categories and how many rows each has, as JSON."""
        found = [{"count": count, "id": k, "name": name} for k, (name, count) in enumerate(self._categories())]
        return json.dumps(
            {"categories": found, "key": f"{self._category_field}_0"}, separators=(",", ":"), ensure_ascii=False
        )

    def read_at_page_by_id(self, category_id: int, page: int, num_row: int) -> list[dict]:
        """Rows of a category.

        Args:
            category_id: its number in `read_category_info`.
            page: the number of the page.
            num_row: how many rows a page has.

        Raises:
            ParamValueError: if an argument is wrong.
            RuntimeError: if there is no such category or page.
        """
        _at_least(category_id, "category_id", 0)
        categories = self._categories()
        if category_id >= len(categories):
            raise RuntimeError(
                f"For 'MindPage', 'category_id' must be less than {len(categories)}, but got {category_id}."
            )
        return self._rows(categories[category_id], page, num_row)

    def read_at_page_by_name(self, category_name: str, page: int, num_row: int) -> list[dict]:
        """Rows of a category.

        Args:
            category_name: its value, as text.
            page: the number of the page.
            num_row: how many rows a page has.

        Raises:
            ParamValueError: if an argument is wrong.
            RuntimeError: if there is no such category or page.
        """
        if not isinstance(category_name, str):
            raise ParamValueError(f"'category_name' must be a str, but got {category_name!r}.")
        found = [entry for entry in self._categories() if entry[0] == category_name]
        if not found:
            raise RuntimeError(f"For 'MindPage', there is no category {category_name!r}.")
        return self._rows(found[0], page, num_row)

    def _rows(self, category: tuple[str, int], page: int, num_row: int) -> list[dict]:
        _at_least(page, "page", 0)
        _at_least(num_row, "num_row", 1)
        name, count = category
        if page * num_row >= count:
            raise RuntimeError(f"For 'MindPage', category {name!r} has {count} rows, none on page {page} of {num_row}.")
        answers = self._ask("SELECT ROW_ID FROM INDEXES WHERE CAST({0} AS TEXT) = ? ORDER BY ROW_ID", (name,))
        numbers, start = [], 0
        for answer, rows in zip(answers, self._shards.counts):
            numbers += [start + row for (row,) in answer]
            start += rows
        schema = self._shards.schema
        names = [*schema.raw_fields, *schema.blob_fields]
        return [self._shards.values(n, names) for n in numbers[page * num_row : (page + 1) * num_row]]


def _at_least(value: Any, name: str, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ParamValueError(f"'{name}' must be an int of {low} or more, but got {value!r}.")
