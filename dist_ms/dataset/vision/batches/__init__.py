"""Transforms of batches of images with their labels."""
