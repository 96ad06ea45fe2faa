"""The graph for aegra, which loads graphs from files only."""

from ras_flow.graph import graph

__all__ = ["graph"]
