"""Draw what docs/tutorials/data_parallel.md explains: `python docs/pictures/drawings.py` writes the .svg files here.

A white ground, as a picture in a page cannot know whether the page is light or dark.
"""

from pathlib import Path
from xml.sax.saxutils import escape

COLOURS = ("#dbe4ff", "#ffe8cc")  # of ranks 0 and 1
BOTH, PLAIN, INK = "#d3f9d8", "#f1f3f5", "#212529"


class Drawing:
    """Boxes, arrows and words on a ground of so many pixels."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.parts = [f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>']

    def text(self, x: float, y: float, words: str, anchor: str = "middle", size: int = 14) -> None:
        """Words whose middle line is y; x is their middle, start or end."""
        self.parts.append(
            f'<text x="{x:g}" y="{y + size * 0.35:g}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, words: str = "", colour: str = PLAIN) -> None:
        """A box, with words in its middle."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{colour}" stroke="{INK}"/>'
        )
        if words:
            self.text(x + width / 2, y + height / 2, words)

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """A line with a head at its end."""
        self.parts.append(
            f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}" stroke="{INK}" marker-end="url(#head)"/>'
        )

    def write(self, path: Path) -> None:
        """The file's text is the same at every run."""
        head = (
            '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            f'<path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker></defs>'
        )
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        style = f'font-family="sans-serif" fill="{INK}"'
        body = "\n".join([head, *self.parts])
        path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n{body}\n</svg>\n')


def shards() -> Drawing:
    """A shuffled order of eight rows, and which rank reads which."""
    drawing, order = Drawing(640, 210), (5, 2, 7, 0, 3, 6, 1, 4)
    drawing.text(160, 45, "the order of an epoch,", "end")
    drawing.text(160, 63, "alike on all ranks", "end")
    for place, row in enumerate(order):
        rank, x = place % 2, 180 + 54 * place
        drawing.box(x, 35, 46, 38, f"row {row}", COLOURS[rank])
        drawing.arrow(x + 23, 73, 200 + 220 * rank + 46 * (place // 2) + 20, 138)
    for rank in range(2):
        drawing.text(290 + 220 * rank, 190, f"rank {rank} reads")
        for place, row in enumerate(order[rank::2]):
            drawing.box(200 + 220 * rank + 46 * place, 140, 42, 34, str(row), COLOURS[rank])
    drawing.text(160, 157, "batches of its own", "end")
    return drawing


def step() -> Drawing:
    """One step of two ranks, from the rows to the same new weights."""
    drawing = Drawing(640, 400)
    for rank in range(2):
        x, colour = 60 + 280 * rank, COLOURS[rank]
        drawing.text(x + 120, 22, f"rank {rank}")
        drawing.box(x, 40, 240, 36, "its rows of the batch", colour)
        drawing.arrow(x + 120, 76, x + 120, 98)
        drawing.box(x, 100, 240, 50, "forward, backward with weights w", colour)
        drawing.arrow(x + 120, 150, x + 120, 178)
        drawing.box(x, 180, 240, 36, f"gradients g{rank}, of its rows", colour)
        drawing.arrow(x + 120, 216, x + 120, 238)
        drawing.arrow(x + 120, 282, x + 120, 308)
        drawing.box(x, 310, 240, 36, "w - rate * g", colour)
        drawing.text(x + 120, 370, "the same weights")
    drawing.box(60, 240, 520, 42, "all-reduce: g = (g0 + g1) / 2, the same on both", BOTH)
    return drawing


def buckets() -> Drawing:
    """A backward pass that ends with one sum, and one whose buckets are summed as they fill."""
    drawing = Drawing(760, 290)
    layers = ("layer 4", "layer 3", "layer 2", "layer 1")
    for top, title in ((40, "one sum in the end"), (160, "buckets, summed beside the backward pass")):
        drawing.text(20, top - 18, title, "start")
        for place, layer in enumerate(layers):
            drawing.box(110 + 90 * place, top, 86, 30, layer)
        drawing.text(100, top + 15, "backward", "end")
        drawing.text(100, top + 55, "all-reduce", "end")
    drawing.box(470, 80, 176, 30, "all gradients", BOTH)
    drawing.box(650, 40, 60, 30, "update")
    drawing.box(290, 200, 88, 30, "4 and 3", BOTH)
    drawing.box(470, 200, 88, 30, "2 and 1", BOTH)
    drawing.box(562, 160, 60, 30, "update")
    drawing.arrow(110, 258, 720, 258)
    drawing.text(415, 274, "time")
    return drawing


def main() -> None:
    """Write all drawings."""
    for draw in (shards, step, buckets):
        draw().write(Path(__file__).with_name(f"{draw.__name__}.svg"))


if __name__ == "__main__":
    main()
