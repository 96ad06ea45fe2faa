"""A bad passage among good ones: a result or one clear warning, and the others as without it."""

from __future__ import annotations

from typing import Any

import pytest

from ras_flow import Context
from ras_flow.parts.prompted import PromptedExtractor
from ras_flow.testing import ListRetriever, ScriptedModel
from tests.graph.world import DOCUMENTS, QUESTION, TRIPLES, build, world

FOUND = "In which town was the designer of the Aurora Bridge born? "
"""Words of the question, by which the retriever finds the passage first."""

BAD = {
    "enormous": (FOUND + "word " * 80_000, "Split it into smaller documents"),
    "no words": (FOUND + "x" * 400_000, "Split it into smaller documents"),
    "non-english": (FOUND + "ナルヴィクはノルウェー北部の町である。نارفيك بلدة. " * 30, None),
    "markup": (FOUND + "{{Infobox|a=[[b]]}} <table><tr><td>|</td></tr> &lt; %s {0} " * 30, None),
    "invisible": (FOUND + "\u200b\u202e\ufeff" * 50, None),
    "marks": (FOUND + "(S> P> O> | ) " * 100, None),
}


def extract(text: str) -> str:
    """Answer with what is known of the title; of a bad passage, with its own first words."""
    title, _, body = text.partition("\n")
    title = title.removeprefix("Title: ")
    return TRIPLES.get(title) or f"(S> {title}| P> begins| O> {body[:40]})"


async def run(documents: list[dict[str, str]]) -> dict[str, Any]:
    extractor = PromptedExtractor(ScriptedModel(extract))
    parts = world(retriever=ListRetriever(documents), extractor=extractor)
    result: dict[str, Any] = await build(parts).ainvoke(
        {"question": QUESTION}, context=Context(top_k=4)
    )
    return result


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_passage_costs_nothing_but_itself(name: str) -> None:
    text, problem = BAD[name]
    calm = await run(DOCUMENTS)
    result = await run([{"title": "Bad", "text": text}, *DOCUMENTS])
    [bad] = [id for id, passage in result["passages"].items() if passage["title"] == "Bad"]
    assert result["answer"] == calm["answer"] == "Narvik"
    own = [t for t in result["triples"].values() if bad in t["passages"]]
    others = {id: t for id, t in result["triples"].items() if bad not in t["passages"]}
    assert others.items() <= calm["triples"].items()
    assert {t["subject"] for t in others.values()} >= {"Aurora Bridge", "Mira Lund"}
    if problem:
        [warning] = result["warnings"]
        assert warning.startswith("No triples from passage 'Bad': ") and problem in warning
        assert own == []
    else:
        assert result["warnings"] == [] and [t["subject"] for t in own] == ["Bad"]
