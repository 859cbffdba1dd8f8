"""What each Primitive is in MINDIR: a table from its class's name to a function that adds the nodes."""
