"""Look into Python's syntax trees, and change them."""

from dist_ms.rewrite.ast_helpers.changing import AstFlattener, AstModifier, AstReplacer
from dist_ms.rewrite.ast_helpers.finding import (
    AstAssignFinder,
    AstClassFinder,
    AstFinder,
    AstFunctionFinder,
    AstImportFinder,
    CheckPropertyIsUsed,
    GetPropertyOfObj,
    StrChecker,
)
from dist_ms.rewrite.ast_helpers.reading import AstConverter

__all__ = [
    "AstAssignFinder",
    "AstClassFinder",
    "AstConverter",
    "AstFinder",
    "AstFlattener",
    "AstFunctionFinder",
    "AstImportFinder",
    "AstModifier",
    "AstReplacer",
    "CheckPropertyIsUsed",
    "GetPropertyOfObj",
    "StrChecker",
]
