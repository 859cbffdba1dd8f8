"""The same function of each element, or of pairs of them with broadcasting."""
