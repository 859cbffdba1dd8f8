"""The command `dist-ms`. Imports no other part of dist_ms, and no MPI."""
