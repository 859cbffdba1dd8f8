"""The same elements under another shape, in another order, joined, split, padded or repeated."""
