"""What large language models run that MindSpore has on Ascend only: attention to parts of the keys, paged caches."""
