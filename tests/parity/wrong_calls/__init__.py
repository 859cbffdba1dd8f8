"""Wrong calls of MindSpore's functions, made by changing one argument of right ones, and who raises what."""
