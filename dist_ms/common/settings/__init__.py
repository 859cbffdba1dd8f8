"""The settings of a process, each checked by a table, and the environment variables that dist_ms reads."""
