"""What users of `dist_ms.rewrite` hold in their hands."""
