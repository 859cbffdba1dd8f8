"""Transforms of texts, for `Dataset.map`: tokenizers, vocabularies, vectors."""

import typing as _typing

from dist_ms.common.late_names import declared as _declared
from dist_ms.common.late_names import late_names as _late_names

# What loads when it is first used.
if _typing.TYPE_CHECKING:
    from dist_ms.dataset.text import transforms
    from dist_ms.dataset.text.bert import *
    from dist_ms.dataset.text.encodings import *
    from dist_ms.dataset.text.enums import *
    from dist_ms.dataset.text.jieba import *
    from dist_ms.dataset.text.normalizing import *
    from dist_ms.dataset.text.numbers import *
    from dist_ms.dataset.text.sentencepiece import *
    from dist_ms.dataset.text.sequences import *
    from dist_ms.dataset.text.splitting import *
    from dist_ms.dataset.text.vectors import *
    from dist_ms.dataset.text.vocabulary import *

__all__ = sorted(set(_declared(__name__)) - {"transforms"})

_late_names(__name__)
