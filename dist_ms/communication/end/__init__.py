"""How a rank ends: with the others, without them, or as a process that never was a rank."""
