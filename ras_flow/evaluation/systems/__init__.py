"""The systems that are compared, each a LangGraph graph over the same parts and models."""

from ras_flow.evaluation.systems.registry import SYSTEMS, Ingredients, System, find_system

__all__ = ["SYSTEMS", "Ingredients", "System", "find_system"]
