"""Text files: lines, delimited rows, JSON, and the sets of text."""
