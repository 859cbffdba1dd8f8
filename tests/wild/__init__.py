"""Public MindSpore programs, run unedited but for device, epochs and paths."""
