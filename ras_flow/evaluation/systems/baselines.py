"""The baselines' graphs, by the names that the registry has of them."""

from __future__ import annotations

from collections.abc import Callable

from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.systems.direct import Direct
from ras_flow.evaluation.systems.ircot import IRCoT
from ras_flow.evaluation.systems.loop import Graph, Method, build_loop
from ras_flow.evaluation.systems.react import ReAct
from ras_flow.evaluation.systems.registry import Ingredients
from ras_flow.evaluation.systems.self_ask import SelfAsk
from ras_flow.evaluation.systems.single import Single
from ras_flow.evaluation.systems.sure import Sure
from ras_flow.parts.protocols import LanguageModel

_METHODS: dict[str, Callable[[LanguageModel], Method]] = {
    "direct": Direct,
    "single": Single,
    "sure": Single,
    "react": ReAct,
    "self_ask": SelfAsk,
    "ircot": IRCoT,
}


def build(kind: str, given: Ingredients) -> Graph:
    """Build a baseline's graph."""
    model, parts = given.reader, given.parts
    if model is None:
        raise ConfigurationError("A baseline needs a language model: name one as `reader`.")
    answer = Sure(model, parts).build() if kind == "sure" else None
    return build_loop(_METHODS[kind](model), parts, answer=answer)
