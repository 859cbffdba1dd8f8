"""What MindSpore's inner modules have and scripts take from them: values, checks and small functions."""
