"""The summary class that needs MindInsight's own file formats; making one raises an error."""

from dist_ms.common.refusing import refused

SummaryLandscape = refused("SummaryLandscape", "draws no loss landscapes", "Write values with SummaryRecord.")

__all__ = ["SummaryLandscape"]
