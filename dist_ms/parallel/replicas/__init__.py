"""The ranks' copies of the weights: that they stay equal, at each update, over many, and in the end."""
