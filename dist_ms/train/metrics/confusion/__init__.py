"""The confusion matrix of classes, and the rates it gives."""
