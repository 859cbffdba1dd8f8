"""The choices that transforms of text offer."""

from enum import IntEnum

__all__ = [
    "JiebaMode",
    "NormalizeForm",
    "SPieceTokenizerLoadType",
    "SPieceTokenizerOutType",
    "SentencePieceModel",
]


class JiebaMode(IntEnum):
    """How JiebaTokenizer cuts: by a dictionary (MP), a hidden Markov model (HMM), or both (MIX)."""

    MIX = 0
    MP = 1
    HMM = 2


class NormalizeForm(IntEnum):
    """Unicode's normal forms."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class SentencePieceModel(IntEnum):
    """The kinds of SentencePiece's models."""

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerLoadType(IntEnum):
    """Where a SentencePieceTokenizer's model comes from."""

    FILE = 0
    MODEL = 1


class SPieceTokenizerOutType(IntEnum):
    """What a SentencePieceTokenizer returns."""

    STRING = 0
    INT = 1
