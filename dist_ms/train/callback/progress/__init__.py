"""What is shown while a run goes on: the bar, and how fast the job is."""
