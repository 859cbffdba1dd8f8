"""Carrying out a pipeline: workers that load rows, and the iterators that give them."""
