"""Transforms that move pixels."""
