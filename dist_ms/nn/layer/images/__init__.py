"""Parts of images, and how alike images are."""
