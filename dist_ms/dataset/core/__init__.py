"""MindSpore's path to the settings of data pipelines, which `dist_ms.dataset.config` holds."""
