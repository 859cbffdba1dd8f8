"""How far masks overlap, and how far their surfaces lie apart."""
