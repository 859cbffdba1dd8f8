"""TCPStore: keys and values over TCP, and the token by which the processes of a job know each other."""
