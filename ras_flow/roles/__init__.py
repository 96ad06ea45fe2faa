"""Planner, extractor and answerer over any language model: a prompt in, text out."""

from ras_flow.roles.answerer import PromptedAnswerer
from ras_flow.roles.extractor import PromptedExtractor
from ras_flow.roles.extractors import make_extractor
from ras_flow.roles.kept_text import KeptText
from ras_flow.roles.planner import PromptedPlanner
from ras_flow.roles.shared import SharedExtractor

__all__ = [
    "KeptText",
    "PromptedAnswerer",
    "PromptedExtractor",
    "PromptedPlanner",
    "SharedExtractor",
    "make_extractor",
]
