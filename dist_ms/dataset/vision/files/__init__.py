"""Files of images read and written."""
