"""Functions of functions, loops, hooks and side effects."""
