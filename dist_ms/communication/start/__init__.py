"""How a rank starts: what the launcher says of it, its role, its cores, and MPI."""
