"""Collectives of one machine, through memory that its ranks share."""
