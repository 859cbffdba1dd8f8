"""What one epoch reached, in lines that a terminal does not break."""

import textwrap
from collections.abc import Sequence

_KEPT = "\N{NO-BREAK SPACE}"


def in_lines(parts: Sequence[str], width: int) -> str:
    """Return the parts side by side, in as many lines as a width needs; a part is broken only where it has a comma.

    Args:
        parts: what to say.
        width: columns of a line.

    Examples:
        >>> from dist_ms.train.callback.progress.lines import in_lines
        >>> print(in_lines(["epoch 1/9", "loss 0.5", "10 samples/s, waiting 5 % for data"], 30))
        epoch 1/9  loss 0.5
            10 samples/s,
            waiting 5 % for data
    """
    kept = "  ".join(part.replace(" ", _KEPT).replace(f",{_KEPT}", ", ") for part in parts)
    lines = textwrap.wrap(kept, max(width, 20), subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines).replace(_KEPT, " ")
