"""Runs of T²RAG over scripted parts: what each round asks, fills and searches for next."""

from __future__ import annotations

from typing import Any

from tests.t2rag.world import QUESTION, ROUNDS, build, world


async def ask(parts: dict[str, Any], **settings: Any) -> Any:
    return await build(parts).ainvoke({"question": QUESTION, "settings": ROUNDS | settings})


def filled(result: Any) -> dict[str, str]:
    return {one["slot"]: one["value"] for one in result["fills"].values()}


def calls(result: Any) -> int:
    return sum(use["calls"] for use in result["usage"].values())


async def test_two_films_and_their_directors_births_take_two_rounds_and_four_calls() -> None:
    parts = world()
    result = await ask(parts)
    assert result["answer"] == "Northern Light" and result["stop_reason"] == "sufficient"
    assert filled(result) == {
        "?director_a": "Aino Laine",
        "?director_b": "Per Holm",
        "?birth_a": "1931",
        "?birth_b": "1942",
    }
    assert parts["triple_retriever"].queries == [
        ["Northern Light directed by", "Salt Road directed by"],
        ["Aino Laine born in", "Per Holm born in"],
    ]
    assert calls(result) == 4 and len(result["hops"]) == 2
    assert result["supported"] and {one["title"] for one in result["citations"]} >= {"Aino Laine"}
    assert all(fill["grounded"] for fill in result["fills"].values())
