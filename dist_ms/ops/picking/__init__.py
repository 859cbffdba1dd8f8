"""Elements picked and put by index or by bools."""
