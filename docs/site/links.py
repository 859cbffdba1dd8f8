"""Links of the pages to files outside docs/, which a repository shows and the site has not, become their names."""

import re

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")


def on_page_markdown(markdown, page, **_):
    """What mkdocs calls with each page; pages in folders link to the pages above them and stay as they are."""
    return markdown if "/" in page.file.src_uri else _OUTSIDE.sub(r"`\1`", markdown)
