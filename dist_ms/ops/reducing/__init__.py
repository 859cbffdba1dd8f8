"""One value of many, running totals, groups and order."""
