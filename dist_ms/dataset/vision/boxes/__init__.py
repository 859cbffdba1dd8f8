"""Transforms of images together with their bounding boxes, rows of (x, y, width, height) in float32."""
