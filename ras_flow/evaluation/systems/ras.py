"""RAS itself, with its inference ablations (table 2) and the sweep of figure 4."""

from __future__ import annotations

from typing import Literal, TypeVar

from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.systems.loop import Graph
from ras_flow.evaluation.systems.variants import (
    NoPlanner,
    ShareAnswerer,
    TextAnswerer,
    TextPlanner,
)
from ras_flow.graph import build_graph
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import Answerer, Planner

P = TypeVar("P", Planner, Answerer)

Variant = Literal["whole", "no_graph", "no_planning", "share"]


def build(
    parts: Parts,
    *,
    variant: Variant = "whole",
    share: float = 1.0,
    shuffle: int = 1,
    seed: int = 0,
) -> Graph:
    """Build RAS's graph. Other ablations are settings: no hops, or no extractor."""
    planner, answerer = parts.planner, parts.answerer
    match variant:
        case "no_graph":
            planner = TextPlanner(_given(planner, "planner"))
            answerer = TextAnswerer(_given(answerer, "answerer"))
        case "no_planning":
            planner = NoPlanner()
        case "share":
            if not 0 < share <= 1:
                raise ConfigurationError(f"share = {share} must be over 0 and at most 1.")
            answerer = ShareAnswerer(_given(answerer, "answerer"), share, shuffle, seed)
    return build_graph(
        planner=planner,
        retriever=parts.retriever,
        extractor=parts.extractor,
        answerer=answerer,
        encoder=parts.encoder,
        defaults=parts.defaults,
    )


def _given(part: P | None, role: str) -> P:
    if part is None:
        raise ConfigurationError(f"This variant of RAS changes the {role}: give it as an object.")
    return part
