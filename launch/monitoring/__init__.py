"""Looking at jobs: what ranks write of themselves, the closing line, and `dist-ms top`."""
