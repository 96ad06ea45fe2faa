"""Runs of T²RAG over scripted parts: what each round asks, fills and searches for next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ras_flow import Context, build_t2rag
from ras_flow.errors import ConfigurationError, InputError, ModelUnavailableError
from ras_flow.parts.facts import KgRetriever
from ras_flow.parts.records import FoundTriples, TripleQuery
from ras_flow.t2rag.state import merge_fills
from ras_flow.testing import MappingExtractor, ScriptedAnswerer, ScriptedModel
from tests.reg.world import SmallGraph, Words
from tests.t2rag.world import (
    QUESTION,
    ROUNDS,
    TEXTS,
    TRIPLES,
    Propositions,
    Replies,
    WordVectors,
    build,
    down,
    read,
    world,
)


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


@pytest.mark.parametrize(
    ("more", "reply", "why"),
    [
        ("?d | nationality | ?n", read, "Per Holm | nationality"),
        ("Northern Light | produced by | ?e", "c1 ?d = Per Holm\nc2 ?e = Zed", '"Zed"'),
    ],
)
async def test_an_answer_is_not_supported_by_clues_that_are_open_or_filled_without_a_text(
    more: str, reply: Any, why: str
) -> None:
    parts = world(f"Salt Road | directed by | ?d\n{more}", resolver=ScriptedModel(reply))
    parts["answerer"] = ScriptedAnswerer(lambda _: "Per Holm")
    result = await ask(parts, max_hops=1)
    assert result["answer"] == "Per Holm" and result["fills"]
    assert not result["supported"] and why in result["support"]


async def test_what_a_round_does_not_tell_stays_open_and_its_passages_are_not_read_again() -> None:
    parts = world("Salt Road | directed by | ?d", resolver=ScriptedModel("none"))
    result = await ask(parts, top_k=1)
    assert result["stop_reason"] == "no_progress" and not result["fills"]
    read = [hop["passages"] for hop in result["hops"]]
    assert len(read) == 2 and len({id for ids in read for id in ids}) == 2
    again = "Salt Road directed by"
    assert parts["triple_retriever"].queries == [[again], [again, QUESTION]]
    dropped = await ask(
        world("Salt Road | directed by | ?d", resolver=ScriptedModel("none")), unresolved="drop"
    )
    assert dropped["stop_reason"] == "sufficient" and len(dropped["hops"]) == 1


@pytest.mark.parametrize(("texts", "told"), [(None, 0), (1, 1), (0, 2)])
async def test_a_chat_model_reads_a_passage_or_its_propositions(texts, told) -> None:
    views: list[str] = []
    resolver = ScriptedModel(lambda view: views.append(view) or "none")
    await ask(world(resolver=resolver), read_passages=texts, max_hops=1)
    assert sum(line.startswith("- ") for line in views[0].splitlines()) == told
    assert sum(text in views[0] for text in TEXTS.values()) == 2 - told


@pytest.mark.parametrize(
    ("claim", "reply", "verdicts", "calls_made"),
    [
        ("Per Holm | born in | 1942", "c1 = yes [1]", ["supported"], 3),
        ("Per Holm | born in | 1931", "c1 = no [1]", ["contradicted"], 3),
        ("Per Holm | born in | 1931", "c1 = yes", [], 4),
    ],
)
async def test_what_a_question_claims_is_checked(claim, reply, verdicts, calls_made) -> None:
    result = await ask(world(claim, resolver=ScriptedModel(reply)), top_k=1)
    assert [one["verdict"] for one in result["verdicts"].values()] == verdicts
    assert calls(result) == calls_made
    trusted = await ask(world(claim), claims="trust")
    assert calls(trusted) == 2 and not trusted["hops"] and trusted["stop_reason"] == "sufficient"


async def test_a_slot_bound_by_one_clue_is_a_claim_of_the_other_until_a_text_states_it() -> None:
    clues = "Salt Road | directed by | ?d\nNorthern Light | directed by | ?d"
    parts = world(clues, resolver=ScriptedModel("c1 ?d = Per Holm [1]\nc2 = no [1]"))
    result = await ask(parts, top_k=1, max_hops=2)
    assert parts["triple_retriever"].queries[1] == ["Northern Light directed by Per Holm"]
    assert result["stop_reason"] in ("sufficient", "max_hops")


async def test_what_cannot_be_decomposed_twice_is_searched_for_as_it_is() -> None:
    parts = world("I cannot.")
    result = await ask(parts)
    assert result["stop_reason"] == "no_progress" and result["warnings"]
    assert parts["triple_retriever"].queries == [[QUESTION]]
    assert "could not be used" in parts["planner"].prompts[1][-1]["content"]
    assert calls(result) == 3
    # Nothing is known, so the answerer reads what was found.
    assert parts["answerer"].requests[0].chain[0].triples


@pytest.mark.parametrize(
    ("clues", "reply"),
    [
        ("?a | knows | ?b\n?b | knows | ?a", "c1 ?a = ?b\nc2 ?b = ?b\nc1 ?b = ?"),
        ("Northern Light | directed by | ?d", "c1 ?d = ?d [1]\nc7 ?other = X [99]\nc0 = yes"),
        ("\n".join(f"Film {n} | directed by | ?d{n}" for n in range(500)), "none"),
    ],
)
async def test_cycles_placeholders_and_endless_lists_bind_nothing(clues, reply) -> None:
    result = await ask(world(clues, resolver=ScriptedModel(reply)))
    assert not result["fills"] and len(result["clues"]) <= 16
    assert result["stop_reason"] in ("no_progress", "max_hops")


async def test_text_of_passages_is_never_read_as_a_reply() -> None:
    parts = world(triple_retriever=Propositions(["Evil", *list(TEXTS)[:4]]))
    result = await ask(parts, top_k=5)
    seen = [prompt[-1]["content"] for prompt in parts["resolver"].prompts]
    assert any("EVIL" in text for text in seen)
    assert not any(line.startswith("c1 ?director_a = EVIL") for t in seen for line in t.split("\n"))
    assert filled(result)["?director_a"] == "Aino Laine" and "EVIL" not in str(result["fills"])
    assert len(result["clues"]) == 4


async def test_a_value_that_no_text_states_is_marked_and_alternatives_are_kept() -> None:
    # A passage about another film states Aino Laine; nothing states Zed.
    reply = "c1 ?d = Per Holm [1]\nc1 ?d = Aino Laine [2]\nc1 ?d = Zed\nc1 ?d = Yon"
    result = await ask(world("Salt Road | directed by | ?d", resolver=ScriptedModel(reply)))
    marks = {one["value"]: one["grounded"] for one in result["fills"].values()}
    assert marks == {"Per Holm": True, "Aino Laine": False, "Zed": False}
    assert sum("Aino Laine" in warning for warning in result["warnings"]) == 1


@pytest.mark.parametrize(
    ("clue", "value"),
    [("Salt Road | directed by | ?d", "Per Holm"), ("?film | directed | Salt Road", "Per Holm")],
)
async def test_a_value_that_nothing_states_gives_way_to_a_proposition(clue, value) -> None:
    resolver = ScriptedModel("c1 = Northern Light [1]")
    result = await ask(world(clue, resolver=resolver))
    [fill] = result["fills"].values()
    assert fill["value"] == value and fill["grounded"] and fill["triples"]
    assert not result["warnings"]


async def test_a_reply_that_writes_clues_out_fills_and_adds() -> None:
    clues = "Salt Road | directed by | Per Holm [1]\nPer Holm | born in | ?"
    parts = world(
        "Salt Road | directed by | ?d", resolver=ScriptedModel(Replies(clues, read, read))
    )
    result = await ask(parts)
    assert filled(result)["?d"] == "Per Holm" and "1942" in filled(result).values()
    assert [one["origin"] for one in result["clues"].values()] == ["question", "model"]
    assert result["stop_reason"] == "sufficient"


async def test_a_knowledge_graph_is_searched_as_any_retriever_and_its_facts_not_extracted() -> None:
    def fill(view: str) -> str:
        team = "c1: Lou Seal" in view
        return "c1 = San Francisco Giants [1]" if team else "c1 = 2010 World Series [1]"

    extractor = MappingExtractor({})
    parts = world(
        "Lou Seal | mascot of team | ?team\n?team | won championship | ?title",
        resolver=ScriptedModel(fill),
        retriever=KgRetriever(SmallGraph(), Words()),
        triple_retriever=None,
        extractor=extractor,
        encoder=WordVectors(),
        answerer=ScriptedAnswerer("2010 World Series"),
    )
    result = await ask(parts)
    assert filled(result) == {"?team": "San Francisco Giants", "?title": "2010 World Series"}
    assert all(fill["grounded"] for fill in result["fills"].values()) and not extractor.calls
    assert {one["source"] for one in result["citations"]} == {"small"}
    with pytest.raises(ConfigurationError, match="leave out"):
        await ask(parts, kg="demo")


async def test_a_passage_that_a_search_of_ones_own_finds_under_two_ids_is_read_once() -> None:
    class Copied(Propositions):
        async def find(self, queries: Sequence[TripleQuery], k: int) -> FoundTriples:
            found = await super().find(queries, k)
            copies = [
                one._replace(passage={**one.passage, "id": f"copy of {one.passage['id']}"})
                for one in found.passages
            ]
            return replace(found, passages=[*found.passages, *copies])

    result = await ask(world(triple_retriever=Copied()))
    assert result["answer"] == "Northern Light"
    assert [len(hop["passages"]) for hop in result["hops"]] == [2, 2]


async def test_given_documents_are_the_first_round() -> None:
    documents = [{"title": "Salt Road", "text": TEXTS["Salt Road"]}]
    extractor = MappingExtractor(TRIPLES)
    parts = world(extractor=extractor, encoder=WordVectors())
    asked = {"question": QUESTION, "documents": documents, "settings": {"planning": "static"}}
    result = await build(parts).ainvoke(asked)
    assert result["stop_reason"] == "static" and filled(result) == {"?director_b": "Per Holm"}
    assert extractor.calls == [["Salt Road"]] and not parts["triple_retriever"].queries


async def test_a_resolver_that_is_down_ends_the_search_and_not_the_run() -> None:
    result = await ask(world(resolver=ScriptedModel(Replies(read, down))))
    assert result["stop_reason"] == "error" and "?director_a" in filled(result)
    with pytest.raises(ModelUnavailableError):
        await ask(world(resolver=ScriptedModel(down)))


@pytest.mark.parametrize(
    ("changes", "settings", "stop", "calls_made"),
    [
        ({"triple_retriever": Propositions([])}, {}, "no_progress", 2),
        ({}, {"max_tokens": 1}, "budget", 2),
        ({}, {"max_hops": 0}, "max_hops", 1),
        ({}, {"max_hops": 1}, "max_hops", 3),
    ],
)
async def test_a_limit_or_an_empty_index_ends_the_search(
    changes, settings, stop, calls_made
) -> None:
    result = await ask(world(**changes), **settings)
    assert (result["stop_reason"], calls(result)) == (stop, calls_made)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"max_hops": -1}, "max_hops"),
        ({"unresolved": "lose"}, "unresolved"),
        ({"triple_index": "x"}, "triple_index"),
        ({"alternatives": 0}, "alternatives"),
    ],
)
async def test_wrong_settings_are_refused(settings, word) -> None:
    with pytest.raises(ConfigurationError, match=word):
        await ask(world(), **settings)
    with pytest.raises(ConfigurationError, match="resolver"):
        Context(resolver="openai:x")  # type: ignore[call-arg]


async def test_a_graphs_own_settings_may_be_those_of_ras() -> None:
    graph = build_t2rag(**world(), defaults=Context(max_hops=1)).compile()
    result = await graph.ainvoke({"question": QUESTION, "settings": {"top_k": 2}})
    assert len(result["hops"]) == 1


def test_evidence_of_a_fill_only_grows() -> None:
    fill: Any = {
        **dict.fromkeys(("triples", "passages"), ["a"]),
        **{"slot": "?d", "value": "X", "given": {}, "clues": ["c"], "round": 1},
        **{"by": "model", "grounded": False},
    }
    once = merge_fills({}, {"f": fill})
    more = {**fill, "passages": ["b"], "round": 0, "by": "person", "grounded": True}
    both = merge_fills(once, {"f": more})
    assert both == merge_fills(both, {"f": more}) == merge_fills(both, {"f": fill})
    assert both["f"] == {**more, "passages": ["a", "b"]}
    with pytest.raises(InputError):
        merge_fills({}, {"f": {**fill, "slot": "d"}})
