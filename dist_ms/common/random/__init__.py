"""Random numbers: seeds, generators and their states."""
