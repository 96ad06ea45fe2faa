"""The systems that are compared, each a LangGraph graph over the same parts and models."""

from ras_flow.evaluation.systems.registry import SYSTEMS, EvalSystem, Ingredients, find_system

__all__ = ["SYSTEMS", "EvalSystem", "Ingredients", "find_system"]
