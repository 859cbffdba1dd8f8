"""Sums, extremes, statistics and histograms."""
