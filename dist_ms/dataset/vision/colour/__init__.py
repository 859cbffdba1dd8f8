"""Transforms of colours: each pixel by itself, or by what all of an image's pixels are."""
