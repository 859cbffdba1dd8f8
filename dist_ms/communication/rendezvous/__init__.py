"""How ranks meet before a collective, wait for each other, and keep operations that are not done yet."""
