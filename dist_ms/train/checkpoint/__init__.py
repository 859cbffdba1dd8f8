"""Checkpoint files: what is saved, the two formats, encryption, checksum, safe replacement.

The public functions stand in `dist_ms.train.serialization`. Nothing here unpickles or
evaluates what a file says, and no length in a file is trusted before it is compared with
the file's size.
"""
