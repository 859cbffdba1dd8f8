"""SentencePiece's models: learnt from texts or read from files; the tokenizer that uses them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.common.checks import (
    check_elements,
    check_non_negative_int,
    check_number_range,
    check_string,
    check_type,
    complaint,
)
from dist_ms.dataset.text.enums import SentencePieceModel, SPieceTokenizerOutType
from dist_ms.dataset.text.libraries import library
from dist_ms.dataset.text.operation import TextOperation

__all__ = ["SentencePieceTokenizer", "SentencePieceVocab"]


class SentencePieceVocab:
    """A model of SentencePiece; made by one of its `from_` methods.

    Kudo and Richardson, "SentencePiece: A simple and language independent subword tokenizer and detokenizer for
    Neural Text Processing", 2018.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> text.SentencePieceVocab().model
        b''
    """

    def __init__(self) -> None:
        self.model = b""

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        col_names: list[str],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict,
    ) -> SentencePieceVocab:
        """Learn a model from the texts of a dataset's rows.

        Args:
            dataset: its rows are read once.
            col_names: the columns with the texts.
            vocab_size: how many pieces.
            character_coverage: the share of all characters that the pieces cover, such as 0.9995.
            model_type: the kind of model.
            params: further options of SentencePiece's trainer.

        Raises:
            TypeError, ValueError: for wrong arguments.
            RuntimeError: if a column is missing or holds no texts, or the trainer refuses.
        """
        owner = "SentencePieceVocab.from_dataset"
        check_elements(col_names, "col_names", owner, str, list)

        def sentences() -> Iterator[str]:
            for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
                for name in col_names or row:
                    if name not in row or row[name].dtype.kind not in "US":
                        raise RuntimeError(complaint("col_names", owner, f"columns of texts among {list(row)}", name))
                    yield from (str(text) for text in row[name].reshape(-1))

        return cls._trained(owner, vocab_size, character_coverage, model_type, params, sentence_iterator=sentences())

    @classmethod
    def from_file(
        cls,
        file_path: list[str],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict,
    ) -> SentencePieceVocab:
        """Learn a model from the lines of files.

        Args:
            file_path: the files.
            vocab_size: how many pieces.
            character_coverage: as for `from_dataset`.
            model_type: as for `from_dataset`.
            params: as for `from_dataset`.

        Raises:
            TypeError, ValueError: for wrong arguments.
            RuntimeError: if the trainer refuses.
        """
        owner = "SentencePieceVocab.from_file"
        for path in check_elements(file_path, "file_path", owner, str, list):
            if not os.path.isfile(path):
                raise RuntimeError(complaint("file_path", owner, "files", repr(path)))
        return cls._trained(owner, vocab_size, character_coverage, model_type, params, input=",".join(file_path))

    @classmethod
    def _trained(
        cls, owner: str, vocab_size: Any, character_coverage: Any, model_type: Any, params: Any, **source: Any
    ) -> SentencePieceVocab:
        check_non_negative_int(vocab_size, "vocab_size", owner)
        check_number_range(character_coverage, "character_coverage", owner, 0.0, 1.0, "[]")
        if not isinstance(model_type, SentencePieceModel):
            raise TypeError(complaint("model_type", owner, "a SentencePieceModel", type(model_type).__name__))
        check_type(params, "params", owner, dict)
        trainer = library("sentencepiece", owner).SentencePieceTrainer
        written = io.BytesIO()
        options = {
            "vocab_size": vocab_size,
            "character_coverage": character_coverage,
            "model_type": model_type.name.lower(),
            "minloglevel": 2,
            "num_threads": 1,
            **params,
        }
        try:
            trainer.train(model_writer=written, **options, **source)
        except (OSError, RuntimeError, TypeError) as error:
            raise RuntimeError(f"For '{owner}', SentencePiece's trainer refused: {error}") from error
        made = cls()
        made.model = written.getvalue()
        return made

    @classmethod
    def save_model(cls, vocab: SentencePieceVocab, path: str, filename: str) -> None:
        """Write a model to a file, which SentencePiece reads everywhere.

        Args:
            vocab: the model.
            path: the folder.
            filename: the file's name.

        Raises:
            TypeError: for arguments of other types.
            RuntimeError: if there is no such folder.
        """
        owner = "SentencePieceVocab.save_model"
        if not isinstance(vocab, SentencePieceVocab):
            raise TypeError(complaint("vocab", owner, "a SentencePieceVocab", type(vocab).__name__))
        check_string(path, "path", owner)
        check_string(filename, "filename", owner)
        if not os.path.isdir(path):
            raise RuntimeError(complaint("path", owner, "a folder", repr(path)))
        aside = os.path.join(path, f".{filename}.{os.getpid()}.tmp")
        with open(aside, "wb") as file:
            file.write(vocab.model)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, os.path.join(path, filename))


class SentencePieceTokenizer(TextOperation):
    """Cuts texts into the pieces of a SentencePiece model.

    Args:
        mode: the model, or its file.
        out_type: pieces as texts, or their numbers, int32.

    Raises:
        TypeError: for arguments of other types.
        RuntimeError: if the file is no model; when called with more than one text.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> text.SPieceTokenizerOutType.INT.name
        'INT'
    """

    def __init__(self, mode: str | SentencePieceVocab, out_type: SPieceTokenizerOutType) -> None:
        owner = type(self).__name__
        if not isinstance(mode, (str, SentencePieceVocab)):
            raise TypeError(complaint("mode", owner, "a SentencePieceVocab or a file's path", type(mode).__name__))
        if not isinstance(out_type, SPieceTokenizerOutType):
            raise TypeError(complaint("out_type", owner, "a SPieceTokenizerOutType", type(out_type).__name__))
        self.out_type = out_type
        if isinstance(mode, str):
            try:
                with open(mode, "rb") as file:
                    self._model = file.read()
            except OSError as error:
                raise RuntimeError(complaint("mode", owner, "a model's file", f"{mode!r}: {error.strerror}")) from None
        else:
            self._model = mode.model
        self._processor: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_processor": None}

    def transform(self, array: np.ndarray) -> np.ndarray:
        """Cut one text."""
        owner = type(self).__name__
        if array.ndim:
            raise RuntimeError(complaint("text", owner, "one text", f"the shape {array.shape}"))
        if self._processor is None:
            processor = library("sentencepiece", owner).SentencePieceProcessor()
            try:
                processor.LoadFromSerializedProto(self._model)
            except RuntimeError as error:
                raise RuntimeError(complaint("mode", owner, "a SentencePiece model", str(error))) from None
            self._processor = processor
        if self.out_type is SPieceTokenizerOutType.INT:
            return np.array(self._processor.EncodeAsIds(str(array)), np.int32)
        return np.array(self._processor.EncodeAsPieces(str(array)), "U")
