"""Other files into MindRecord files."""
