"""What `dist-ms report` makes of a traced run: one trace of all ranks, and a page."""
