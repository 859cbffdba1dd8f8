"""Images at other sizes, in other colors, in parts; boxes."""
