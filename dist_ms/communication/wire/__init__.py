"""What goes over the wire: reductions between machines, messages, and the form of their arrays."""
