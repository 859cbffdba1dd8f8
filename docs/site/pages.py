"""What the site makes of the pages' Markdown, which stays plain: links out of docs/, and code side by side."""

import re

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")
# Another framework's code, in a block without a language, and then "Here ...:" with this one's.
_PAIR = re.compile(
    r"^((?:In|With) [^\n]*:\n\n)```\n(.*?^```)\n\n(Here[^\n]*:\n\n```python\n.*?^```)$", re.DOTALL | re.MULTILINE
)
_LONG_PATH = re.compile(r"<code>(?=[^<]{40,}</code>)(?=[^<]*/)")
_BESIDE = '<div class="beside" markdown>\n<div markdown>\n\n{}\n\n</div>\n<div markdown>\n\n{}\n\n</div>\n</div>'


def on_page_markdown(markdown, page, **_):
    """What mkdocs calls with each page; pages in folders link to the pages above them and stay as they are."""
    if "/" in page.file.src_uri:
        return markdown
    markdown = _OUTSIDE.sub(r"`\1`", markdown)
    return _PAIR.sub(lambda found: _BESIDE.format(f"{found[1]}```python\n{found[2]}", found[3]), markdown)


def on_page_content(html, **_):
    """What mkdocs calls with each page's HTML."""
    return _LONG_PATH.sub('<code class="path">', html)
