"""Transforms that choose among others."""
