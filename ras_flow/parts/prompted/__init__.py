"""Planner, extractor and answerer over any language model: a prompt in, text out."""

from ras_flow.parts.prompted.answerer import PromptedAnswerer
from ras_flow.parts.prompted.extractor import KeptText, PromptedExtractor, make_extractor
from ras_flow.parts.prompted.hop_reader import PromptedHopReader
from ras_flow.parts.prompted.planner import PromptedPlanner

__all__ = [
    "KeptText",
    "PromptedAnswerer",
    "PromptedExtractor",
    "PromptedHopReader",
    "PromptedPlanner",
    "make_extractor",
]
