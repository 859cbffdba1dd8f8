"""What ranks write: past mpirun or through it, with their rank, in files of their own."""
