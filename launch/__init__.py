"""The command `dist-ms`. Of the rest of dist_ms it imports what finds a container's quota of CPUs alone; no MPI."""
