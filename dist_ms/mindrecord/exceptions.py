"""MindRecord's errors, each with the number MindSpore gives it."""

from __future__ import annotations

from typing import Any

__all__ = [
    "DbConnectionError",
    "MRMAddIndexError",
    "MRMAddSchemaError",
    "MRMBuildSchemaError",
    "MRMCloseError",
    "MRMCommitError",
    "MRMDefineBlobError",
    "MRMDefineCategoryError",
    "MRMDefineIndexError",
    "MRMFetchCandidateFieldsError",
    "MRMFetchDataError",
    "MRMFinishError",
    "MRMGenerateIndexError",
    "MRMGetMetaError",
    "MRMIndexGeneratorError",
    "MRMInitSegmentError",
    "MRMInvalidHeaderSizeError",
    "MRMInvalidPageSizeError",
    "MRMInvalidSchemaError",
    "MRMLaunchError",
    "MRMOpenError",
    "MRMOpenForAppendError",
    "MRMReadCategoryInfoError",
    "MRMSetHeaderError",
    "MRMUnsupportedSchemaError",
    "MRMValidateDataError",
    "MRMWriteDatasetError",
    "MindRecordException",
    "ParamMissError",
    "ParamTypeError",
    "ParamValueError",
    "PathNotExistsError",
    "UnknownError",
]

_BASE = 1 << 30 | 1 << 28 | 0b00101010 << 17  # raised on the host, an error code, of MindRecord


class MindRecordException(RuntimeError):
    """Base of MindRecord's errors; many are plain RuntimeErrors in MindSpore.

    Attributes:
        error_msg: what went wrong.
        error_code: the number of the kind of error.

    Examples:
        >>> from dist_ms.mindrecord import ParamValueError
        >>> str(ParamValueError("shard_num must be positive."))
        '[ParamValueError]: Invalid parameter value. shard_num must be positive.'
    """

    number, text = 0, "Unknown error."

    def __init__(self, detail: Any = None) -> None:
        super().__init__()
        self.error_msg = self.text if detail is None else f"{self.text} {detail}"

    def __str__(self) -> str:
        return f"[{type(self).__name__}]: {self.error_msg}"

    @property
    def error_code(self) -> int:
        """The number of the kind of error."""
        return self.transform_error_code(self.number)

    @staticmethod
    def transform_error_code(exception_no: int) -> int:
        """The error code that stands for a number of MindRecord's list."""
        return _BASE | (exception_no // 100 + 1) << 12 | exception_no


class UnknownError(MindRecordException):
    """Something unexpected."""


class ParamTypeError(MindRecordException):
    """An argument of another type."""

    number = 1

    def __init__(self, param_name: str, expected_type: str) -> None:
        super().__init__()
        self.error_msg = f"Invalid parameter type. '{param_name}' must be a {expected_type}."


def _kind(name: str, number: int, text: str) -> type[MindRecordException]:
    """An error class."""
    return type(name, (MindRecordException,), {"__doc__": text, "__module__": __name__, "number": number, "text": text})


ParamValueError = _kind("ParamValueError", 2, "Invalid parameter value.")
ParamMissError = _kind("ParamMissError", 3, "A parameter is missing:")
PathNotExistsError = _kind("PathNotExistsError", 4, "The path does not exist:")
DbConnectionError = _kind("DbConnectionError", 5, "The index file cannot be read:")
MRMOpenError = _kind("MRMOpenError", 100, "The MindRecord file cannot be opened.")
MRMOpenForAppendError = _kind("MRMOpenForAppendError", 101, "The MindRecord file cannot be opened for appending.")
MRMInvalidPageSizeError = _kind("MRMInvalidPageSizeError", 102, "The page size cannot be set.")
MRMInvalidHeaderSizeError = _kind("MRMInvalidHeaderSizeError", 103, "The header size cannot be set.")
MRMSetHeaderError = _kind("MRMSetHeaderError", 104, "The header cannot be set.")
MRMWriteDatasetError = _kind("MRMWriteDatasetError", 105, "The rows cannot be written.")
MRMCommitError = _kind("MRMCommitError", 107, "The files cannot be completed.")
MRMLaunchError = _kind("MRMLaunchError", 108, "Reading cannot be started.")
MRMFinishError = _kind("MRMFinishError", 109, "Reading cannot be finished.")
MRMCloseError = _kind("MRMCloseError", 110, "The files cannot be closed.")
MRMAddSchemaError = _kind("MRMAddSchemaError", 111, "The schema cannot be added.")
MRMAddIndexError = _kind("MRMAddIndexError", 112, "The index field cannot be added.")
MRMBuildSchemaError = _kind("MRMBuildSchemaError", 113, "The schema cannot be built.")
MRMGetMetaError = _kind("MRMGetMetaError", 114, "There is no schema: call add_schema first.")
MRMIndexGeneratorError = _kind("MRMIndexGeneratorError", 115, "The index cannot be made.")
MRMGenerateIndexError = _kind("MRMGenerateIndexError", 116, "The index cannot be written.")
MRMInitSegmentError = _kind("MRMInitSegmentError", 117, "The pages cannot be opened.")
MRMFetchCandidateFieldsError = _kind("MRMFetchCandidateFieldsError", 118, "The index fields cannot be read.")
MRMReadCategoryInfoError = _kind("MRMReadCategoryInfoError", 119, "The categories cannot be read.")
MRMFetchDataError = _kind("MRMFetchDataError", 120, "The rows of a category cannot be read.")
MRMInvalidSchemaError = _kind("MRMInvalidSchemaError", 200, "The schema is wrong.")
MRMValidateDataError = _kind("MRMValidateDataError", 201, "The rows do not fit the schema.")
MRMDefineIndexError = _kind("MRMDefineIndexError", 202, "The index field is wrong.")
MRMDefineBlobError = _kind("MRMDefineBlobError", 203, "The blob field is wrong.")
MRMUnsupportedSchemaError = _kind("MRMUnsupportedSchemaError", 204, "The schema does not fit the stored values.")
MRMDefineCategoryError = _kind("MRMDefineCategoryError", 205, "The category field is wrong.")
