"""Transforms that make one text of another: normal forms, case, replacements, Wikipedia's markup."""

from __future__ import annotations

import html
import re
import unicodedata

from dist_ms.common.checks import check_bool, check_string, complaint
from dist_ms.dataset.text.enums import NormalizeForm
from dist_ms.dataset.text.operation import EachText
from dist_ms.dataset.text.splitting import pattern

__all__ = ["CaseFold", "FilterWikipediaXML", "NormalizeUTF8", "RegexReplace"]

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

# Unicode's Default_Ignorable_Code_Point, 15.1: soft hyphens, joiners, marks of direction, selectors of variants.
_INVISIBLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def folded(text: str) -> str:
    """A text for comparisons without case, in the form NFKC and without what nobody sees: Unicode's NFKC_Casefold."""
    if text.isascii():
        return text.lower()
    text = _INVISIBLE.sub("", text)
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", once.casefold())


def normalized(text: str, form: NormalizeForm) -> str:
    """A text in a normal form."""
    return text if form is NormalizeForm.NONE or text.isascii() else unicodedata.normalize(form.name, text)  # type: ignore[arg-type]


def check_form(form: NormalizeForm, name: str, owner: str) -> NormalizeForm:
    """Require a normal form.

    Raises:
        TypeError: for anything else.
    """
    if not isinstance(form, NormalizeForm):
        raise TypeError(complaint(name, owner, "a NormalizeForm", type(form).__name__))
    return form


class CaseFold(EachText):
    """Folds the case of all characters, as for comparisons: more than lower case, in NFKC and without invisible ones.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.CaseFold()("STRASSE Straße"))
        strasse strasse
    """

    def change(self, text: str) -> str:
        """Fold one text."""
        return folded(text)


class NormalizeUTF8(EachText):
    """Brings texts into one of Unicode's normal forms.

    Args:
        normalize_form: the form.

    Raises:
        TypeError: if it is no NormalizeForm.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.NormalizeUTF8(text.NormalizeForm.NFKC)("ﬁ"))
        fi
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC) -> None:
        self.form = check_form(normalize_form, "normalize_form", type(self).__name__)

    def change(self, text: str) -> str:
        """Normalise one text."""
        return normalized(text, self.form)


class RegexReplace(EachText):
    r"""Replaces what a pattern matches, in each text.

    Args:
        pattern: a regular expression, with Unicode's properties as in `\p{P}`.
        replace: what stands there then; `$1` is what the first group matched, a backslash makes the next
            character stand for itself.
        replace_all: all matches, not the first alone.

    Raises:
        TypeError: for arguments of other types.
        RuntimeError: for a pattern that is no regular expression.

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.RegexReplace(r"(\w+) (\w+)", "$2 $1")("one two"))
        two one
    """

    def __init__(self, pattern: str, replace: str, replace_all: bool = True) -> None:
        owner = type(self).__name__
        self._pattern = _compiled(pattern, "pattern", owner)
        self._template = _template(check_string(replace, "replace", owner))
        self.replace_all = check_bool(replace_all, "replace_all", owner)

    def change(self, text: str) -> str:
        """Replace in one text."""
        return self._pattern.sub(self._expanded, text, count=0 if self.replace_all else 1)

    def _expanded(self, match: re.Match) -> str:
        return "".join([part if isinstance(part, str) else match[part] or "" for part in self._template])


_compiled = pattern  # which an argument above is called, too


def _template(replace: str) -> list[str | int]:
    """The parts of a replacement: texts, and the numbers of groups."""
    parts = re.split(r"(\\.|\$\d+)", replace, flags=re.DOTALL)
    return [int(p[1:]) if re.fullmatch(r"\$\d+", p) else p[1:] if p.startswith("\\") else p for p in parts if p]


class FilterWikipediaXML(EachText):
    """Makes plain words of a dump of Wikipedia: only the letters a to z, with digits spelt out, between single spaces.

    Source: Mahoney, "About the Test Data" (the text8 benchmark).

    Examples:
        >>> import dist_ms.dataset.text as text
        >>> print(text.FilterWikipediaXML()("<b>Page 7:</b> [[Anarchism|the idea]] of &amp; on"))
        page seven the idea of on
    """

    _RULES = (
        (re.compile(r"<[^>]*>"), ""),
        (re.compile(r"\[http[^] ]*"), "["),
        (re.compile(r"\|(?:thumb|left|right|\d+px)"), ""),
        (re.compile(r"\[\[image:[^\[\]]*\|"), ""),
        (re.compile(r"\[\[category:([^|\]]*)[^]]*\]\]"), r"[[\1]]"),
        (re.compile(r"\[\[[a-z-]*:[^\]]*\]\]"), ""),
        (re.compile(r"\[\[[^|\]]*\|"), "[["),
        (re.compile(r"\{\{[^}]*\}\}"), ""),
        (re.compile(r"\{[^}]*\}"), ""),
    )

    def change(self, text: str) -> str:
        """Filter one text."""
        text = html.unescape(text).lower()
        for rule, replacement in self._RULES:
            text = rule.sub(replacement, text)
        text = re.sub(r"[0-9]", lambda digit: f" {_DIGITS[int(digit[0])]} ", text)
        return " ".join(re.sub(r"[^a-z]+", " ", text).split())
