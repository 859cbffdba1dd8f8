"""Tests of dist_ms.common, one file per subject."""
