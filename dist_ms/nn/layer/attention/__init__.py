"""Attention in several heads, its masks, and the layers of a transformer."""
