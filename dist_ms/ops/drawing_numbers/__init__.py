"""Numbers drawn at random."""
