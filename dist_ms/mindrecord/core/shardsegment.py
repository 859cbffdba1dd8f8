"""ShardSegment: rows of MindRecord files by the value of a field, page by page."""

from __future__ import annotations

from typing import Any

from dist_ms.mindrecord.exceptions import MRMOpenError, ParamTypeError
from dist_ms.mindrecord.page import MindPage
from dist_ms.mindrecord.status import SUCCESS, MSRStatus

__all__ = ["ShardSegment"]


class ShardSegment:
    """What `MindPage` does, after `open`."""

    def __init__(self) -> None:
        self._pages: MindPage | None = None
        self._columns: list[str] = []

    def _opened(self) -> MindPage:
        if self._pages is None:
            raise MRMOpenError("'open' must be called first.")
        return self._pages

    def open(
        self,
        file_name: str | list[str],
        num_consumer: int = 4,
        columns: list[str] | None = None,
        operator: Any = None,
    ) -> MSRStatus:
        """Open files.

        Args:
            file_name, num_consumer: as for `MindPage`.
            columns: the fields to read; all by default.
            operator: must be None or empty.

        Raises:
            ParamTypeError: if `columns` is no list.
            ValueError: if there is an `operator`.
        """
        if columns and not isinstance(columns, list):
            raise ParamTypeError("columns", "list")
        if operator:
            raise ValueError(f"For 'ShardSegment.open', 'operator' must be None, but got {operator!r}.")
        self._pages, self._columns = MindPage(file_name, num_consumer), columns or []
        return SUCCESS

    def get_category_fields(self) -> list[str]:
        """Return the index fields, as their columns in the index are called."""
        return [f"{name}_0" for name in self._opened().candidate_fields]

    def set_category_field(self, category_field: str) -> MSRStatus:
        """Choose the field whose values are the categories.

        Args:
            category_field: an index field.

        Raises:
            MRMDefineCategoryError: if it is none.
        """
        pages = self._opened()
        known = {f"{name}_0": name for name in pages.candidate_fields}
        pages.category_field = known.get(category_field, category_field)
        return SUCCESS

    def read_category_info(self) -> str:
        """Return the categories and how many rows each has, as JSON."""
        return self._opened().read_category_info()

    def _chosen(self, rows: list[dict]) -> list[dict]:
        return [{k: v for k, v in row.items() if not self._columns or k in self._columns} for row in rows]

    def read_at_page_by_id(self, category_id: int, page: int, num_row: int) -> list[dict]:
        """Return rows of a category.

        Args:
            category_id, page, num_row: as for `MindPage.read_at_page_by_id`.
        """
        return self._chosen(self._opened().read_at_page_by_id(category_id, page, num_row))

    def read_at_page_by_name(self, category_name: str, page: int, num_row: int) -> list[dict]:
        """Return rows of a category.

        Args:
            category_name, page, num_row: as for `MindPage.read_at_page_by_name`.
        """
        return self._chosen(self._opened().read_at_page_by_name(category_name, page, num_row))
