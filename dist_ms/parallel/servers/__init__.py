"""Parameter servers: what servers run, what workers ask of them, and how tables are cut and kept."""
