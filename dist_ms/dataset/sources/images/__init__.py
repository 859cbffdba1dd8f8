"""Sources of images, reading the files of well-known data sets."""
