"""Groups of ranks: made, found by name, and asked who is in them."""
