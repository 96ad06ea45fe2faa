"""The graph for aegra, which loads graphs from files alone."""

from ras_flow.graph import graph

__all__ = ["graph"]
