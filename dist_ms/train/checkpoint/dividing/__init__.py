"""Checkpoints divided among ranks, by the strategy files of MindSpore: put together, and divided anew."""
