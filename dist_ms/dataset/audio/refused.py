"""MindSpore's transforms of audio that dist_ms does not have; making one raises an error."""

from dist_ms.common.refusing import refused

__all__ = ["Vad"]

Vad = refused("Vad", "finds no voice in a signal", "Cut silence off with a function of your own in map.")
