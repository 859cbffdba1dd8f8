"""Formulas of docstrings as MathML, which browsers draw without a script."""

import re
import textwrap

import griffe
from latex2mathml.converter import convert

_BLOCK = re.compile(r"^( *)\.\. math::[ ]*(.*(?:\n(?:\1 +\S.*| *$))*)", re.MULTILINE)
_INLINE = re.compile(r":math:`([^`]+)`")


def with_mathml(text):
    """Return a docstring with its formulas in MathML."""

    def block(found):
        formula = convert(textwrap.dedent(found[2]).strip(), display="block")
        return f'{found[1]}<div class="formula">{formula}</div>\n\n'

    def within(found):  # Markdown would make a paragraph of a line that begins with <math>
        return f"<span>{convert(found[1])}</span>"

    return _INLINE.sub(within, _BLOCK.sub(block, text))


class Formulas(griffe.Extension):
    """What mkdocstrings runs on each object that it has read."""

    def on_object(self, *, obj, **_):
        """Rewrite the docstring."""
        if obj.docstring is not None and "math:" in obj.docstring.value:
            obj.docstring.value = with_mathml(obj.docstring.value)
