"""Planner, extractor and answerer over any language model: a prompt in, text out."""

from ras_flow.roles.answerer import PromptedAnswerer
from ras_flow.roles.extractor import PromptedExtractor
from ras_flow.roles.planner import PromptedPlanner

__all__ = ["PromptedAnswerer", "PromptedExtractor", "PromptedPlanner"]
