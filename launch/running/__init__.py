"""A job while it runs: signals, output, and what follows a failure."""
