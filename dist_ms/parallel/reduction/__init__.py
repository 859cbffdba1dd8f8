"""The sum of all ranks' gradients: a sink, buckets of flat memory, rows of tables, and what stays on its rank."""
