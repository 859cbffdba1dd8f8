"""Convolution, its transposes, and sliding windows as columns."""
