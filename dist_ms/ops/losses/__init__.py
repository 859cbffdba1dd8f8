"""Losses, and the likelihood of sequences."""
