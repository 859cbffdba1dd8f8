"""Summary classes that need MindInsight's own file formats; making one of them raises an error."""

from dist_ms.common.refusing import refused

SummaryCollector = refused(
    "SummaryCollector", "does not collect graphs and lineage", "Write the values you need with SummaryRecord."
)
SummaryLandscape = refused("SummaryLandscape", "draws no loss landscapes", "Write values with SummaryRecord.")

__all__ = ["SummaryCollector", "SummaryLandscape"]
